package main

import (
	"context"
	"net"
	"net/http"
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

// A socket is open to its user alone, so that it needs no key.
//
// contract: C-10
func TestMCPAtASocket(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("no modes of files on this system")
	}
	u := newUser(t)
	dir, err := os.MkdirTemp("", "bx") // short: the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "s")
	cmd := exec.Command(u.bx, "mcp", "serve", "--listen", "unix:"+at)
	cmd.Dir, cmd.Env = u.repo, environment(u.home)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the socket", func() bool { _, err := os.Stat(at); return err == nil })
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	web := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", at)
	}}}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: "http://localhost/mcp", HTTPClient: web}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := client.ListTools(t.Context(), nil); err != nil || len(list.Tools) == 0 {
		t.Errorf("%v, %v", list, err)
	}
	client.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	if _, err := os.Stat(at); err == nil {
		t.Error("the socket is left")
	}
	if _, err := os.Stat(filepath.Join(u.home, "data", "bx", "mcp-key")); err == nil {
		t.Error("a key was made that nobody needs")
	}
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

// What a client says it works in narrows and never widens, and leaves the rules
// about hidden folders as they are.
func TestNarrowed(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, dir := range []string{"a/b", "a/c", "d", ".git/hooks", "a/.github"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		want string
		dirs []string
	}{
		{"", nil}, {"", []string{root}}, {"", []string{filepath.Dir(root)}}, {"", []string{elsewhere}}, {"", []string{filepath.Join(root, "gone")}},
		{"a", []string{filepath.Join(root, "a")}}, {"a/b", []string{filepath.Join(root, "a/b")}}, {"a/b", []string{filepath.Join(root, "a/b"), elsewhere}},
		{"a", []string{filepath.Join(root, "a/b"), filepath.Join(root, "a/c")}}, {"", []string{filepath.Join(root, "a"), filepath.Join(root, "d")}},
		{"", []string{filepath.Join(root, "a"), root}}, {"", []string{filepath.Join(root, ".git/hooks")}}, {"", []string{filepath.Join(root, "a/.github")}},
	} {
		want := ""
		if c.want != "" {
			want = filepath.Join(root, c.want)
		}
		if got := narrowed(root, c.dirs); got != want {
			t.Errorf("%q: %q, want %q", c.dirs, got, want)
		}
	}
}
