//go:build unix

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Ctrl-C while the model thinks ends bx with 130, says so, and leaves no answer.
//
// contract: C-07 A-07
func TestInterrupt(t *testing.T) {
	u := newUser(t)
	asked := make(chan bool, 1)
	gone := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		asked <- true
		<-gone
	}))
	defer server.Close()
	defer close(gone)
	cmd := exec.Command(u.bx, "--model", "m", "Where is it?")
	cmd.Dir, cmd.Env = u.repo, append(environment(u.home), "OLLAMA_HOST="+server.URL)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || out.Len() > 0 || !strings.Contains(errs.String(), "bx: interrupted") {
		t.Errorf("exit code %d, out %q, err %q", code, &out, &errs)
	}
}
