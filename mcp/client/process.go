package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// program is a server that was started.
type program struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *frames
	err  tail
	kill func() // it and those that it started

	once  sync.Once
	ended chan struct{} // closed when it has ended
	how   error         // it ended; read after ended

	mu     sync.Mutex
	killed bool // it did not end by itself
}

// passed are the variables of the environment that every server gets.
var passed = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// begin starts a server's program, in a folder unless it names one.
func (s Server) begin(start string, env func(string) string) (*program, error) {
	words, err := s.words(env)
	if err != nil {
		return nil, err
	}
	p := &program{cmd: exec.Command(words[0], words[1:]...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.WaitDelay = s.Dir, &p.err, time.Second
	if !filepath.IsAbs(s.Dir) {
		p.cmd.Dir = filepath.Join(start, s.Dir)
	}
	if p.cmd.Env, err = s.environment(env); err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out, p.kill = &frames{r: out}, ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", bare(err))
	}
	return p, nil
}

// bare is an error of the system without the name of the operation.
func bare(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %w", e.Name, e.Err)
	}
	return err
}

// words are the program and its arguments, with the values of variables.
func (s Server) words(env func(string) string) ([]string, error) {
	out := append([]string{s.Command}, s.Args...)
	for i, w := range out {
		var err error
		if out[i], err = expand(w, "its command line", env); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s Server) environment(env func(string) string) (out []string, err error) {
	for _, name := range append(passed, systemPassed...) {
		if v := env(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	for name, value := range s.Env {
		v, err := expand(value, "env "+name, env)
		if err != nil {
			return nil, err
		}
		out = append(out, name+"="+v)
	}
	return out, nil
}

func (p *program) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *program) Write(b []byte) (int, error) { return p.in.Write(b) }

// patience is how long a server has to end after its input was closed.
const patience = 400 * time.Millisecond

// Close ends the program by closing its input, and then what is left.
func (p *program) Close() error {
	p.once.Do(func() {
		p.in.Close()
		go func() { p.how = p.cmd.Wait(); close(p.ended) }()
	})
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.mu.Lock()
		p.killed = true
		p.mu.Unlock()
	}
	p.kill() // what is left of it and of what it started
	<-p.ended
	return nil
}

// death says how the program ended by itself, and what it said last. After Close;
// err is what went wrong before.
func (p *program) death(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out.overflown() {
		return fmt.Errorf("it sent %w", errFrame)
	}
	text := "it ended"
	if p.how != nil {
		text += ": " + p.how.Error()
	}
	if p.killed {
		text = "it does not speak MCP"
		if err != nil {
			text += ": " + line(err.Error())
		}
	}
	if said := p.err.last(); said != "" {
		text += "; it said: " + said
	}
	return errors.New(text)
}

// maxFrame is the longest message that is read of a server, in bytes.
const maxFrame = 16 << 20

var errFrame = fmt.Errorf("a message of more than %d MB", maxFrame>>20)

// frames reads lines and fails at one that is too long.
type frames struct {
	r    io.Reader
	n    int // bytes of the line so far
	mu   sync.Mutex
	over bool
}

func (f *frames) Read(b []byte) (int, error) {
	if f.n > maxFrame {
		f.mu.Lock()
		f.over = true
		f.mu.Unlock()
		return 0, errFrame
	}
	n, err := f.r.Read(b)
	if i := bytes.LastIndexByte(b[:n], '\n'); i >= 0 {
		f.n = n - i - 1
	} else {
		f.n += n
	}
	return n, err
}

func (f *frames) overflown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(len(b)-maxTail, 0):]...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// last is the last line that says something.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.kept)), "\n")
	text, _ := cut(line(lines[len(lines)-1]), 300)
	return text
}
