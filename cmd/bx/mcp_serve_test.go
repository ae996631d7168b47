package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connected is a client of a bx mcp serve, whose user says yes.
func (u user) connected(tb testing.TB, args ...string) *sdk.ClientSession {
	tb.Helper()
	cmd := exec.Command(u.bx, append([]string{"mcp", "serve"}, args...)...)
	cmd.Dir, cmd.Env = u.repo, append(environment(u.home), "PATH="+os.Getenv("PATH"))
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"run": true}}, nil
		},
	}).Connect(context.Background(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

// contract: C-09
func TestCancelEndsTheCommand(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("the shell tool needs a shell:", err)
	}
	u := newUser(t)
	client := u.connected(t, "--tier", "run", "--allow", "shell")
	defer client.Close()
	beat := filepath.Join(u.repo, "beat")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "shell", Arguments: map[string]any{"command": "while :; do date >> beat; sleep 0.02; done"}})
		done <- err
	}()
	size := func() int64 {
		info, err := os.Stat(beat)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	wait(t, "the command runs", func() bool { return size() > 0 })
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled call has a result")
	}
	last := size()
	wait(t, "the command ends", func() bool {
		before := last
		time.Sleep(200 * time.Millisecond)
		last = size()
		return last == before
	})
}

// wait waits ten seconds for what must happen within one.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("%s: not within ten seconds", what)
}

// BenchmarkMCPStart is how long it takes from the start of bx mcp serve until a
// client has the list of tools.
func BenchmarkMCPStart(b *testing.B) {
	u := newUser(b)
	for b.Loop() {
		client := u.connected(b)
		if list, err := client.ListTools(b.Context(), nil); err != nil || len(list.Tools) == 0 {
			b.Fatal(err)
		}
		if err := client.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
