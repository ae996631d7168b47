//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/unifiedtoolprotocol/utp/transcript"
)

// talker is an Ollama that says a word at each push.
type talker struct {
	*httptest.Server
	next   chan bool
	done   chan bool
	silent atomic.Bool // it says nothing by itself
}

func newTalker(t *testing.T) *talker {
	s := &talker{next: make(chan bool, 100), done: make(chan bool)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		for i := 0; ; i++ {
			if s.silent.Load() {
				_, _ = io.Copy(io.Discard, r.Body) // only then it is known that the client left
				<-r.Context().Done()
				return
			}
			fmt.Fprintf(w, `{"model":"m","message":{"role":"assistant","content":"word%d "},"done":false}`+"\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-s.next:
			case <-r.Context().Done():
				return
			case <-s.done:
				fmt.Fprintln(w, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`)
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// What was on the screen when bx was killed or stopped is in the session, and the
// next question goes on from there.
//
// contract: C-06
func TestKilledAndStoppedTurnsAreKept(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGKILL, os.Interrupt} {
		for _, pieces := range []int{0, 1, 3} {
			t.Run(fmt.Sprint(signal, " after ", pieces), func(t *testing.T) { breakOff(t, signal, pieces) })
		}
	}
}

func breakOff(t *testing.T, signal os.Signal, pieces int) {
	u, server := newUser(t), newTalker(t)
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(u.bx, args...)
		cmd.Dir, cmd.Env = u.repo, append(environment(u.home), "OLLAMA_HOST="+server.URL)
		return cmd
	}
	cmd := run("--model", "m", "--no-tools", "--output-format", "stream-json", "Where is it?")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen, id := readPieces(t, bufio.NewScanner(out), server, pieces)
	busy, err := run("--model", "m", "-c", "Me too.").CombinedOutput()
	if want := fmt.Sprintf("process %d has been answering a question of it since", cmd.Process.Pid); err == nil || !strings.Contains(string(busy), want) {
		t.Errorf("a second process in the session: %v\n%s", err, busy)
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if signal == os.Interrupt && cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
	}

	show, err := run("sessions", "show", id).Output()
	if err != nil || !strings.Contains(string(show), "> Where is it?") || !strings.Contains(string(show), seen) {
		t.Errorf("seen %q, shown %q (%v)", seen, show, err)
	}
	close(server.done)
	answer, err := run("--model", "m", "--no-tools", "-c", "Go on.").CombinedOutput()
	if err != nil || !strings.Contains(string(answer), "its last turn broke off") || !strings.Contains(string(answer), "word0") {
		t.Errorf("resume: %v\n%s", err, answer)
	}
}

// readPieces lets the server speak until so many pieces of text are printed.
func readPieces(t *testing.T, lines *bufio.Scanner, server *talker, pieces int) (seen, id string) {
	t.Helper()
	for n := 0; lines.Scan(); {
		var e struct {
			Session string
			transcript.Entry
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		id = e.Session
		if e.Kind == transcript.Text {
			seen += e.Text
			n++
		}
		if n >= pieces && e.Kind != transcript.Question {
			return seen, id
		}
		server.next <- true
	}
	t.Fatal("bx ended by itself")
	return "", ""
}
