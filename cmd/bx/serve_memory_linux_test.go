package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// The slack takes no memory of the machine's, also where the heap had used and
// freed as much before.
func TestSlackTakesNoMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	dirty(8 << 20)
	runtime.GC() // and what was in use is still resident
	before := resident(t)
	release := (&server{job: &job{app: &app{env: func(string) string { return "" }}}}).slack()
	if more := resident(t) - before; more > slackSize/4 {
		t.Errorf("%d MB more are resident, of a slack of %d", more>>20, slackSize>>20)
	}
	release()
}

// dirty writes memory and leaves it to the collector.
//
//go:noinline
func dirty(size int) {
	b := make([]byte, size)
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
	runtime.KeepAlive(b)
}

// resident is the memory that the process takes, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
