//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// TestTmux plays testdata/tmux/*.txtar: a person in a pane of tmux, 80 columns wide
// and 16 lines high, who asks bx mock. The steps are those of TestChat. The section
// "pane" is what tmux has then, with its scrollback.
//
// contract: C-14
func TestTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		leftOut(t, "tmux", "apt-get install tmux")
	}
	golden.Run(t, "testdata/tmux/*.txtar", func(t *testing.T, c *golden.Case) {
		u := newUser(t)
		for _, name := range c.Names() {
			if file, ok := strings.CutPrefix(name, "file "); ok {
				u.write(t, file, c.Get(name))
			}
		}
		script := filepath.Join(u.home, "model.txtar")
		if err := os.WriteFile(script, unquote([]byte(c.Get("model"))), 0o666); err != nil {
			t.Fatal(err)
		}
		mock, end := u.mock(t, script)
		p := newPane(t, u, 80, 16, "OLLAMA_HOST="+mock)
		p.play(c.Get("person"))
		end()
		c.Want(t, "pane", masked(mock[strings.LastIndex(mock, ":")+1:], p.text()))
	})
}

// mock starts bx mock. Its end fails unless each turn was played.
func (u user) mock(t *testing.T, script string) (url string, end func()) {
	t.Helper()
	cmd := u.command("mock", "--listen", "127.0.0.1:0", script)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, _ := bufio.NewReader(said).ReadString('\n')
	url = regexp.MustCompile(`http://\S+`).FindString(line)
	if url == "" {
		t.Fatalf("bx mock said %q", line)
	}
	return url, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("bx mock: %v: not each turn was played", err)
		}
	}
}

// pane is that of a tmux server of its own, with bx in it.
type pane struct {
	t      *testing.T
	socket string
	env    []string
	high   int
	before string // what was in it when something was typed last
}

func newPane(t *testing.T, u user, columns, high int, env ...string) *pane {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, socket: filepath.Join(dir, "s"), high: high}
	p.env = append(append(environment(u.home), "PATH="+os.Getenv("PATH"), "SHELL=/bin/sh", "TERM=xterm-256color", "LC_ALL=C.UTF-8"), env...)
	t.Cleanup(func() {
		_ = p.command("kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	p.do("-f", "/dev/null", "new-session", "-d", "-c", u.repo, "-x", strconv.Itoa(columns), "-y", strconv.Itoa(high), "'"+u.bx+"'; echo left $?; exec cat")
	return p
}

func (p *pane) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...)
	cmd.Env = p.env
	return cmd
}

func (p *pane) do(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// text is the pane and its scrollback, without the empty lines below the last.
func (p *pane) text() string {
	p.t.Helper()
	return strings.TrimRight(p.do("capture-pane", "-p", "-S", "-"), "\n") + "\n"
}

func (p *pane) play(steps string) {
	p.t.Helper()
	for step := range strings.Lines(steps) {
		what, arg, _ := strings.Cut(strings.TrimRight(step, "\n"), " ")
		switch what {
		case "type":
			keys, err := strconv.Unquote(`"` + arg + `"`)
			if err != nil {
				p.t.Fatalf("type %s: %v", arg, err)
			}
			p.before = p.text()
			p.do("send-keys", "-l", keys)
		case "wait":
			p.wait(step, func(text string) bool { return strings.Contains(strings.ReplaceAll(text, "\n", ""), arg) })
		case "prompt":
			p.wait(step, func(text string) bool { return text != p.before && strings.HasSuffix(text, "\n>\n") })
		case "resize":
			p.resize(arg)
		case "leaves":
			p.wait(step, func(text string) bool { return strings.HasSuffix(text, "\nleft "+arg+"\n") })
		default:
			p.t.Fatalf("unknown step %q", step)
		}
	}
}

// resize waits until the pane's terminal is as wide: tmux takes a moment.
func (p *pane) resize(columns string) {
	p.t.Helper()
	p.do("resize-window", "-x", columns, "-y", strconv.Itoa(p.high))
	terminal, err := os.OpenFile(strings.TrimSpace(p.do("display-message", "-p", "#{pane_tty}")), os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer terminal.Close()
	p.wait("resize "+columns, func(string) bool {
		_, n, err := pty.Getsize(terminal)
		return err == nil && strconv.Itoa(n) == columns
	})
}

func (p *pane) wait(step string, fits func(string) bool) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if fits(p.text()) {
			return
		}
	}
	p.t.Fatalf("waited for %q, see\n%s", step, p.text())
}

// firstPrompt stands where the line was cleared, or below what was told first.
var firstPrompt = regexp.MustCompile(`(\x1b\[J|\n)> `)

// BenchmarkStartChat is the time from the start of bx without a question, on a
// terminal, to its first prompt.
func BenchmarkStartChat(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "bx")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	u := newUser(b)
	env := append(environment(u.home), "PATH="+os.Getenv("PATH"), "SHELL=/bin/sh", "TERM=xterm-256color", "NO_COLOR=1")
	for b.Loop() {
		cmd := exec.Command(bin)
		cmd.Dir, cmd.Env = u.repo, env
		terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
		if err != nil {
			b.Fatal(err)
		}
		var shown []byte
		for buf := make([]byte, 4096); !firstPrompt.Match(shown); {
			n, err := terminal.Read(buf)
			if err != nil {
				b.Fatalf("%v after %q", err, shown)
			}
			shown = append(shown, buf[:n]...)
		}
		b.StopTimer()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		terminal.Close()
		b.StartTimer()
	}
}
