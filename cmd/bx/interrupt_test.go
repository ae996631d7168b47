//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// Ctrl-C while the repository is indexed, for the places that go along or in a
// call: bx ends with 130, shows nothing of Go's, and keeps the question.
func TestInterruptedIndexKeepsTheQuestion(t *testing.T) {
	for _, presearch := range []string{"true", "false"} {
		t.Run("presearch = "+presearch, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			for i := range 1500 {
				u.write(t, fmt.Sprintf("src/d%d/f%d.go", i%50, i), strings.Repeat(fmt.Sprintf("package d\n\n// F%d counts a walrus.\nfunc F%d() {}\n", i, i), 5))
			}
			u.write(t, "mine.toml", "[agent]\npresearch = "+presearch+"\n")
			gone := make(chan bool)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				switch {
				case r.URL.Path != "/api/chat":
					http.NotFound(w, r)
				case !strings.Contains(string(body), `"role":"tool"`) && presearch == "false":
					fmt.Fprintln(w, `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"search_code","arguments":{"query":"walrus"}}}]},"done":true,"done_reason":"stop"}`)
				default:
					<-gone
				}
			}))
			defer server.Close()
			defer close(gone)
			cmd := u.command("--config", "mine.toml", "--model", "m", "Where is the walrus counted in this code?")
			cmd.Env = append(cmd.Env, "OLLAMA_HOST="+server.URL)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if index, err := filepath.Glob(filepath.Join(u.home, "cache", "bx", "*.db")); err != nil || len(index) > 0 {
					break
				}
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(errs.String(), "bx: interrupted") || strings.Contains(errs.String()+out.String(), "context canceled") {
				t.Errorf("exit code %d, out %q, err %q", code, &out, &errs)
			}
			kept, err := u.command("sessions", "show").CombinedOutput()
			if err != nil || !strings.Contains(string(kept), "> Where is the walrus counted") || !strings.Contains(string(kept), "stopped by the user") || strings.Contains(string(kept), "context canceled") {
				t.Errorf("the session: %v %s", err, kept)
			}
		})
	}
}
