package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs bx and gives what it printed on standard error, and its exit code.
func (u user) run(t *testing.T, server string, args ...string) (errs string, code int) {
	t.Helper()
	cmd := exec.Command(u.bx, args...)
	cmd.Dir, cmd.Env = u.repo, append(environment(u.home), "OLLAMA_HOST="+server)
	var b strings.Builder
	cmd.Stderr = &b
	out, err := cmd.Output()
	if err == nil || len(out) > 0 {
		t.Errorf("bx %v: err %v, out %q: want a failure and no answer", args, err, out)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// contract: C-07
func TestSilentServer(t *testing.T) {
	gone := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		<-gone
	}))
	defer server.Close()
	defer close(gone)
	u := newUser(t)
	file := filepath.Join(u.home, "short.toml")
	if err := os.WriteFile(file, []byte("[ollama]\ntimeout = 0.1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	errs, code := u.run(t, server.URL, "--config", file, "--model", "m", "Q")
	if code != exitBackend || !strings.Contains(errs, "did not answer: no answer within 100ms") || !strings.Contains(errs, "raise the timeout") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// contract: C-07 C-08
func TestServerWithoutModels(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"nomic-embed-text","details":{"family":"nomic-bert"}}]}`)
	}))
	defer server.Close()
	errs, code := newUser(t).run(t, server.URL, "Q")
	if code != exitBackend || !strings.Contains(errs, "has no model that can answer: install one, or name it with --model") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
