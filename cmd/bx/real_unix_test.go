//go:build unix

package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var enginesDir = flag.String("engines", "", "where make engines built; empty: ~/.cache/bx-engines")

// leftOut skips a test that needs what is not on this machine, and says so where nobody
// overlooks it.
func leftOut(t testing.TB, what, how string) {
	t.Helper()
	text := fmt.Sprintf("%s is not on this machine, and %s is NOT tested: %s", what, t.Name(), how)
	fmt.Fprintln(os.Stderr, "LEFT OUT:", text)
	t.Skip(text)
}

// A real server with a real model, where make engines built them, calls a tool and
// answers from the file that only the tool can read. make real tries more.
//
// contract: Q-06
func TestRealModelAnswersFromAFile(t *testing.T) {
	dir := *enginesDir
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(home, ".cache", "bx-engines")
	}
	program, model := filepath.Join(dir, "llama-server"), filepath.Join(dir, "tiny-hermes.gguf")
	for _, file := range []string{program, model} {
		if _, err := os.Stat(file); err != nil {
			leftOut(t, file, "make engines")
		}
	}
	u := newUser(t)
	u.write(t, "docs/abc.md", "The secret word is plover.\n")
	cmd := u.command("-n", "--model", "tiny-hermes", "What is the secret word in the file docs/abc.md?")
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+llamaServer(t, program, model)+"/v1")
	out, err := cmd.CombinedOutput()
	said := string(out)
	if err != nil || !strings.Contains(said, "read_file: ok") || !strings.Contains(said, "The secret word is plover") && !strings.Contains(said, "It says: docs/abc.md:") {
		t.Errorf("%v: nothing of the file is in the answer:\n%s", err, said)
	}
}

// llamaServer starts one and waits until it has loaded its model.
func llamaServer(t *testing.T, program, model string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr)
	l.Close()
	var said strings.Builder
	server := exec.Command(program, "-m", model, "--alias", "tiny-hermes", "--jinja", "--host", "127.0.0.1", "--port", fmt.Sprint(at.Port),
		"-t", "1", "-tb", "1", "-c", "8192", "--temp", "0")
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	t.Cleanup(stop)
	url = "http://" + at.String()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get(url + "/health"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return url
			}
		}
	}
	stop()
	t.Fatalf("%s does not answer:\n%s", program, &said)
	return ""
}
