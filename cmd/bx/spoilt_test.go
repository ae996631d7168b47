package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Sessions in a file with pages of garbage cost a warning and no answer, as other
// damage does.
//
// contract: C-06
func TestSpoiltSessionsCostNoAnswer(t *testing.T) {
	u := newUser(t)
	run := func(args ...string) (string, error) {
		cmd := exec.Command(u.bx, args...)
		cmd.Dir, cmd.Env = u.repo, environment(u.home)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("--no-model", "Where are tool calls parsed?"); err != nil {
		t.Fatal(err, out)
	}
	file := filepath.Join(u.home, "data", "bx", "sessions.db")
	b, err := os.ReadFile(file)
	if err != nil || len(b) < 3*4096 {
		t.Fatal(err, len(b))
	}
	copy(b[4096:], bytes.Repeat([]byte{0x5a}, len(b)-4096))
	for _, err := range []error{os.WriteFile(file, b, 0o600), os.RemoveAll(file + "-wal"), os.RemoveAll(file + "-shm")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := run("--no-model", "Where are tool calls parsed?")
	if err != nil || !strings.Contains(out, "agent/parse.go:4") || strings.Count(out, "warning: ") != 1 || !strings.Contains(out, "kept in no session") {
		t.Errorf("%v\n%s", err, out)
	}
}
