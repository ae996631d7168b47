package journal_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/journal"
)

var long = flag.Bool("long", false, "as many events as the measure of the store says")

// TestMain is also the process that is killed: it writes events named after it
// and says each that it has written.
func TestMain(m *testing.M) {
	if dir := os.Getenv("JOURNAL_WRITER"); dir != "" {
		var from, to int
		name := os.Getenv("JOURNAL_NAME")
		if _, err := fmt.Sscan(os.Getenv("JOURNAL_RANGE"), &from, &to); err != nil {
			panic(err)
		}
		if n := os.Getenv("JOURNAL_LIMIT"); n != "" {
			var limit uint64
			_, _ = fmt.Sscan(n, &limit)
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: 1 << 40}); err != nil {
				panic(err)
			}
		}
		w := journal.New(journal.Options{Dir: dir, Program: "serve", Segment: 200_000, Warn: func(s string) { fmt.Println("warning", s) }})
		for i := from; i < to; i++ {
			id := fmt.Sprint(name, "-", i)
			switch {
			case w.Append(reply(id)):
				fmt.Println("kept", id)
			default:
				fmt.Println("lost", id)
			}
			if os.Getenv("JOURNAL_LIMIT") != "" && i == to-2 { // there is room again
				_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 40, Max: 1 << 40})
				time.Sleep(1100 * time.Millisecond)
			}
		}
		_ = w.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer starts such a process.
func writer(t *testing.T, dir, name string, from, to int, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JOURNAL_WRITER="+dir, "JOURNAL_NAME="+name, fmt.Sprintf("JOURNAL_RANGE=%d %d", from, to))
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// Processes that share a folder are killed at any point, and begin again: each
// event whose Append returned is counted exactly once.
func TestKilledAtAnyPoint(t *testing.T) {
	processes, events := 4, 400
	if *long {
		processes, events = 8, 10_000
	}
	dir := filepath.Join(t.TempDir(), "events")
	var mu sync.Mutex
	kept, kills := map[string]bool{}, 0
	var wg sync.WaitGroup
	for p := range processes {
		name := fmt.Sprint("p", p)
		wg.Go(func() {
			for at := 0; at < events; {
				cmd := writer(t, dir, name, at, events)
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Error(err)
					return
				}
				last := at + 1 + rand.IntN(events/4)
				for s := bufio.NewScanner(out); s.Scan(); {
					id, ok := strings.CutPrefix(s.Text(), "kept ")
					if !ok {
						t.Errorf("said %q", s.Text())
					}
					mu.Lock()
					kept[id] = true
					mu.Unlock()
					if at++; at == last {
						_ = cmd.Process.Kill() // what is in the pipe is still read
					}
				}
				if cmd.Wait() != nil {
					mu.Lock()
					kills++
					mu.Unlock()
					at++ // it may have written one more than it could say
				}
			}
		})
	}
	wg.Wait()
	times, dropped, skipped := counted(t, dir)
	for id := range kept {
		if times[id] != 1 {
			t.Errorf("%s is there %d times", id, times[id])
		}
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
	if kills == 0 || dropped != 0 || len(times) > len(kept)+kills {
		t.Errorf("%d events of %d, %d kills, %d dropped", len(times), len(kept), kills, dropped)
	}
	t.Logf("%d events kept, %d in the store, %d kills, skipped %+v", len(kept), len(times), kills, skipped)
}

// On a disk that is full a line ends in the middle. One warning is given, what is
// lost is counted, and what follows when there is room again is right.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "events")
	out, err := writer(t, dir, "p", 0, 100, "JOURNAL_LIMIT=3000").Output()
	if err != nil {
		t.Fatal(err)
	}
	times, dropped, skipped := counted(t, dir)
	kept, lost, warned := 0, 0, 0
	for line := range strings.Lines(string(out)) {
		switch word, id, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "kept":
			if kept++; times[id] != 1 {
				t.Errorf("%s is there %d times", id, times[id])
			}
		case "lost":
			if lost++; times[id] != 0 {
				t.Errorf("%s is there", id)
			}
		case "warning":
			warned++
		}
	}
	if lost == 0 || kept+lost != 100 || dropped != lost || warned != 1 || times["p-99"] != 1 {
		t.Errorf("%d kept, %d lost, %d counted, %d warnings, skipped %+v", kept, lost, dropped, warned, skipped)
	}
}
