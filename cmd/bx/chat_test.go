//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/internal/screen"
)

// looks are the terminals that a case may have a section for.
var looks = []struct {
	name    string
	columns int
	env     []string
}{
	{"120", 120, []string{"TERM=xterm-256color"}},
	{"40", 40, []string{"TERM=xterm-256color"}},
	{"120 without colour", 120, []string{"TERM=xterm-256color", "NO_COLOR=1"}},
	{"40 without colour", 40, []string{"TERM=xterm-256color", "NO_COLOR=1"}},
	{"dumb", 80, []string{"TERM=dumb"}},
}

// TestChat plays testdata/chat/*.txtar: a person before a terminal, and what the
// screen shows at the end. The section "person" has a step a line:
//
//	type TEXT     press keys, as in a Go string
//	wait TEXT     until TEXT is on the screen
//	prompt        until bx waits for the next question
//	resize N      to N columns; resize back
//	leaves N      until bx has ended with this code
//
// "model" is a script of internal/fake, "file NAME" a file of the repository,
// "args" the command line.
//
// contract: C-14
func TestChat(t *testing.T) {
	golden.Run(t, "testdata/chat/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, look := range looks {
			if c.Has(look.name) {
				t.Run(look.name, func(t *testing.T) {
					t.Parallel()
					c.Want(t, look.name, newSitting(t, c, look.columns, look.env).play(c.Get("person")))
				})
			}
		}
	})
}

// sitting is a person at a terminal with bx.
type sitting struct {
	t       *testing.T
	keys    *os.File
	screen  *screen.Screen
	cmd     *exec.Cmd
	port    string
	columns int
	rows    int // of the screen when something was typed last
	ended   chan error
}

func newSitting(t *testing.T, c *golden.Case, columns int, env []string) *sitting {
	t.Helper()
	u, port := newUser(t), ""
	for _, name := range c.Names() {
		if file, ok := strings.CutPrefix(name, "file "); ok {
			u.write(t, file, c.Get(name))
		}
	}
	if c.Has("model") {
		script, err := fake.Parse(c.Path, []byte(regexp.MustCompile(`(?m)^>`).ReplaceAllString(c.Get("model"), "")))
		if err != nil {
			t.Fatal(err)
		}
		model := fake.New(script)
		url := serve(t, model)
		port = url[strings.LastIndex(url, ":")+1:]
		env = append(env, "OLLAMA_HOST="+url)
	}
	s := sitDown(t, u, columns, env, strings.Fields(c.Get("args"))...)
	s.port = port
	return s
}

// serve starts a scripted model, which must be played to its end.
func serve(t *testing.T, model *fake.Server) (url string) {
	t.Helper()
	server := httptest.NewServer(model)
	t.Cleanup(func() {
		server.Close()
		if err := model.Err(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

// sitDown starts bx on a terminal.
func sitDown(t *testing.T, u user, columns int, env []string, args ...string) *sitting {
	t.Helper()
	s := &sitting{t: t, screen: screen.New(columns, 1000), columns: columns, ended: make(chan error, 1), cmd: exec.Command(u.bx, args...)}
	s.cmd.Dir, s.cmd.Env = u.repo, append(append(environment(u.home), "PATH="+os.Getenv("PATH"), "SHELL=/bin/sh"), env...)
	s.start(columns)
	return s
}

func (s *sitting) start(columns int) {
	keys, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 50, Cols: uint16(columns)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.keys = keys
	go func() {
		_, _ = io.Copy(s.screen, keys) // ends with an error when bx does
		s.ended <- s.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		keys.Close()
		if strange := s.screen.Strange(); len(strange) > 0 {
			s.t.Errorf("bx sent %v", strange)
		}
	})
}

// play takes the steps, and gives what the screen shows then.
func (s *sitting) play(steps string) string {
	s.t.Helper()
	for step := range strings.Lines(steps) {
		what, arg, _ := strings.Cut(strings.TrimRight(step, "\n"), " ")
		switch what {
		case "type":
			s.types(arg)
		case "wait":
			s.wait(step, func(text string) bool { return strings.Contains(strings.ReplaceAll(text, "\n", ""), arg) })
		case "prompt":
			s.wait(step, func(text string) bool { return strings.HasSuffix(text, "\n>\n") && strings.Count(text, "\n") > s.rows })
		case "resize":
			n, err := strconv.Atoi(arg)
			if err != nil {
				n = s.columns
			}
			s.screen.Resize(n, 1000)
			if err := pty.Setsize(s.keys, &pty.Winsize{Rows: 50, Cols: uint16(n)}); err != nil {
				s.t.Fatal(err)
			}
		case "leaves":
			s.leaves(arg)
		default:
			s.t.Fatalf("unknown step %q", step)
		}
	}
	return masked(s.port, s.screen.Styled())
}

func (s *sitting) types(text string) {
	keys, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		s.t.Fatalf("type %s: %v", text, err)
	}
	s.rows = strings.Count(s.screen.String(), "\n")
	fmt.Fprint(s.keys, keys)
}

const patience = 30 * time.Second

func (s *sitting) wait(step string, fits func(string) bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if fits(s.screen.String()) {
			return
		}
	}
	s.t.Fatalf("waited for %q, see\n%s", step, s.screen)
}

func (s *sitting) leaves(code string) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("bx does not end:\n%s", s.screen)
	}
	if got := s.cmd.ProcessState.ExitCode(); strconv.Itoa(got) != code {
		s.t.Errorf("exit code %d, want %s:\n%s", got, code, s.screen)
	}
}

// A conversation whose server is not there does not say that it answers by search
// alone: it answers nothing.
func TestNotConnectedIsNotSearchAlone(t *testing.T) {
	t.Parallel()
	s := sitDown(t, newUser(t), 120, []string{"TERM=xterm-256color", "NO_COLOR=1", "OLLAMA_HOST=http://127.0.0.1:1"})
	text := s.play("prompt\ntype Where is it parsed?\\r\nwait · WALK\nprompt\ntype \\x04\nleaves 0")
	if !strings.Contains(text, "not connected · WALK") || strings.Contains(text, "search alone") {
		t.Errorf("the screen:\n%s", text)
	}
}

var (
	idOnScreen   = regexp.MustCompile(`\b[0-9a-f]{8}\b`)
	tookOnScreen = regexp.MustCompile(` \([0-9.]+m?s\)`)
)

// masked is a screen without what differs each time.
func masked(port, text string) string {
	if port != "" {
		text = regexp.MustCompile(strings.Join(strings.Split(port, ""), "\n?")).ReplaceAllStringFunc(text, func(p string) string {
			return regexp.MustCompile(`\d`).ReplaceAllString(p, "0")
		})
	}
	text = idOnScreen.ReplaceAllString(text, "00000000")
	return tookOnScreen.ReplaceAllString(text, "")
}
