package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// The slack takes no memory of the machine's, not for a moment either, also where the
// heap had used and freed as much before.
func TestSlackTakesNoMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	dirty(8 << 20)
	runtime.GC()                                                                  // and what was in use is still resident
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak is what it is now
		t.Skip(err)
	}
	before := memory(t, "VmHWM:")
	release := (&server{job: &job{app: &app{env: func(string) string { return "" }}}}).slack()
	if more := memory(t, "VmHWM:") - before; more > slackSize/4 {
		t.Errorf("%d MB more were resident, of a slack of %d", more>>20, slackSize>>20)
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

// memory is a field of the process's status, in bytes.
func memory(t *testing.T, field string) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), field)
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
