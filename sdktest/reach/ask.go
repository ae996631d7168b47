package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// nobody is the user that the programs run as where a machine has a root of its own.
const nobody = 65532

// place is where the programs are installed, and how they are called there.
type place struct {
	root   string // for chroot; "" is this machine's
	home   string // as seen from this machine; below root, if there is one
	bx, te []string
	path   string
	loose  bool // a program of others runs them, and does not tell how they ended
}

// script is the model of the first question.
const script = `-- server --
model: qwen3:8b
-- turn --
contains Which bird
-- text --
I'll look.
<tools>
{"name": "read_file", "arguments": {"path": "notes.txt",}}
</tools>
-- turn --
last tool
contains plover
-- text --
It is the plover: notes.txt:1
`

// command is a command of the place, as its user, in its work folder.
func (w *world) command(p place, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, argv[0], argv[1:]...)
	home := p.home
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.root != "" {
		home = strings.TrimPrefix(p.home, p.root)
		cmd.SysProcAttr.Chroot = p.root
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	cmd.Dir = home + "/work"
	cmd.Env = []string{"HOME=" + home, "PATH=" + p.path, "LC_ALL=C.UTF-8"}
	return cmd
}

// output runs it and returns what it printed.
func output(cmd *exec.Cmd) (string, error) {
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, tail(string(out)), tail(errs.String()))
	}
	return string(out), nil
}

func tail(s string) string { return s[max(0, len(s)-1500):] }

// first is what somebody does who has just installed the programs.
func (w *world) first(p place) error {
	work := filepath.Join(p.home, "work")
	err := errors.Join(os.MkdirAll(filepath.Join(work, ".git"), 0o777), os.WriteFile(filepath.Join(work, "notes.txt"), []byte("The bird is a plover.\n"), 0o666),
		os.WriteFile(filepath.Join(p.home, "model.txtar"), []byte(script), 0o666))
	if err == nil && p.root != "" {
		err = errors.Join(os.Chown(p.home, nobody, nobody), os.Chown(work, nobody, nobody))
	}
	if err != nil {
		return err
	}
	return errors.Join(w.versions(p), w.parses(p), w.greps(p), w.answers(p))
}

func (w *world) versions(p place) error {
	for name, argv := range map[string][]string{"bx": p.bx, "te": p.te} {
		out, err := output(w.command(p, append(argv, "version")...))
		if err != nil {
			return err
		}
		if want := name + " " + w.version + " (commit "; !strings.HasPrefix(out, want) {
			return fmt.Errorf("%s version: %q, want %q", name, out, want)
		}
	}
	return nil
}

func (w *world) parses(p place) error {
	cmd := w.command(p, append(p.bx, "parse")...)
	cmd.Stdin = strings.NewReader(`I will look.<tools>{"name": "search_code", "arguments": {"query": "auth",}}</tools>`)
	out, err := output(cmd)
	if err != nil {
		return err
	}
	var reply struct {
		Calls []struct{ Name, Status string } `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(out), &reply); err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name != "search_code" || reply.Calls[0].Status != "repaired" {
		return fmt.Errorf("bx parse: %w: %s", err, out)
	}
	return nil
}

func (w *world) greps(p place) error {
	out, err := output(w.command(p, append(p.te, "grep", "plover")...))
	if err == nil && !(strings.HasPrefix(out, "# TE_BEGIN_META") && strings.Contains(out, "The bird is a plover.")) {
		return fmt.Errorf("te grep: %q", out)
	}
	return err
}

// answers asks bx, whose model is bx mock of the same place.
func (w *world) answers(p place) error {
	home := strings.TrimPrefix(p.home, p.root)
	mock := w.command(p, append(p.bx, "mock", "--listen", "127.0.0.1:0", home+"/model.txtar")...)
	said, err := mock.StderrPipe()
	if err != nil {
		return err
	}
	if err := mock.Start(); err != nil {
		return fmt.Errorf("bx mock: %w", err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	_, url, ok := strings.Cut(line, " at ")
	url, _, _ = strings.Cut(url, " ")
	ended := func() error {
		slow := time.AfterFunc(20*time.Second, func() { _ = syscall.Kill(-mock.Process.Pid, syscall.SIGKILL) })
		defer slow.Stop()
		_ = mock.Process.Signal(syscall.SIGTERM)
		err := mock.Wait()
		_ = syscall.Kill(-mock.Process.Pid, syscall.SIGKILL)
		return err
	}
	if !ok {
		return fmt.Errorf("bx mock does not listen: %w: %s %w", err, line, ended())
	}
	ask := w.command(p, append(p.bx, "Which bird is it?")...)
	ask.Env = append(ask.Env, "OLLAMA_HOST="+url)
	out, err := output(ask)
	if err == nil && strings.TrimSpace(out) != "It is the plover: notes.txt:1" {
		err = fmt.Errorf("the answer is %q", out)
	}
	if end := ended(); end != nil && !p.loose {
		err = errors.Join(err, fmt.Errorf("bx mock, told to end: %w", end))
	}
	return err
}
