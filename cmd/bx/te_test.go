package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// te rag query is te and bx as they are shipped, one beside the other: the
// places that bx finds, of the workspace and of nothing else.
//
// contract: TE-18
func TestTeAsksTheBxBesideIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows gives a test no links to bx")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	te, repo := filepath.Join(dir, "te"), filepath.Join(dir, "repo")
	if out, err := exec.Command("go", "build", "-o", te, "../te").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	err = errors.Join(os.Symlink(self, filepath.Join(dir, "bx")), os.MkdirAll(filepath.Join(repo, ".git"), 0o777),
		os.WriteFile(filepath.Join(repo, "pool.go"), []byte("package pool\n\n// Open opens the pool.\nfunc Open() {}\n"), 0o666),
		os.WriteFile(filepath.Join(dir, "secret.go"), []byte("package secret\n\n// Open opens the secret pool.\nfunc OpenSecret() {}\n"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) (out string, code int) {
		cmd := exec.Command(filepath.Join(dir, name), args...)
		cmd.Dir, cmd.Env = repo, []string{"HOME=" + dir, "PATH=/none", "GORACE=" + noWait}
		b, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(b), cmd.ProcessState.ExitCode()
	}
	want, code := run("bx", "rag", "query", "--limit", "1", "Where is the pool opened?")
	if code != 0 || !strings.Contains(want, "\npool.go:4: func Open() {}\n") {
		t.Fatalf("bx: exit code %d:\n%s", code, want)
	}
	got, code := run("te", "rag", "query", "--q", "Where is the pool opened?", "--k", "1")
	if d := cmp.Diff(want, got); d != "" || code != 0 {
		t.Errorf("te: exit code %d; -want +got\n%s", code, d)
	}
	if got, code := run("te", "--json", "rag", "query", "--q", "pool"); code != 0 || !strings.HasPrefix(got, `{"meta":{"v":1,"cmd":"search","matches":`) || strings.Contains(got, "secret") {
		t.Errorf("te --json: exit code %d, %s", code, got)
	}
	if got, code := run("te", "rag", "query", "--root", "..", "--q", "pool"); code != 0 || strings.Contains(got, "bx:") {
		t.Errorf("another workspace that the user names: exit code %d, %s", code, got)
	}
	if err := os.WriteFile(filepath.Join(dir, "none"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, code := run("te", "--json", "rag", "query", "--root", "nowhere", "--q", "pool"); code != 1 || !strings.Contains(got, `"error":"not_found"`) {
		t.Errorf("no such workspace: exit code %d, %s", code, got)
	}
	if got, code := run("te", "--budget", "50", "rag", "query", "--q", "pool"); code != 2 || !strings.Contains(got, "[TE] te rag query has no --budget: --k N says how many places") {
		t.Errorf("--budget: exit code %d, %s", code, got)
	}
}
