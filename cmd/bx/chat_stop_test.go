//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// talkingTo sits down before bx with a model that says a word at each push.
func talkingTo(t *testing.T, server *talker, u user, args ...string) *sitting {
	t.Helper()
	return sitDown(t, u, 80, []string{"TERM=xterm-256color", "NO_COLOR=1", "OLLAMA_HOST=" + server.URL}, append([]string{"--model", "m", "--no-tools"}, args...)...)
}

// Ctrl-C stops an answer; what came of it stays on the screen and in the session,
// and the next question goes on from there. What was typed meanwhile comes next.
//
// contract: C-06
func TestCtrlCStopsTheAnswer(t *testing.T) {
	t.Parallel()
	u, server := newUser(t), newTalker(t)
	s := talkingTo(t, server, u)
	s.play("wait set by --model\nprompt\ntype Where is it?\\r\nwait word0")
	for range 3 {
		server.next <- true
	}
	s.play("wait word3\ntype \\x03\nwait the answer is cut off here\nwait stopped; what there is so far is kept\nprompt\ntype Go on.\\r\nwait word0 \n")
	s.types("typed early\\r")
	close(server.done)
	s.wait("the question that was typed early", func(text string) bool { return strings.Count(text, "> typed early") == 1 })
	s.play("prompt\ntype \\x04\nleaves 0")
	if text := s.screen.String(); strings.Count(text, "word0 word1 word2 word3") != 1 {
		t.Errorf("the words that came stand there once:\n%s", text)
	}
	show := exec.Command(u.bx, "sessions", "show")
	show.Dir, show.Env = u.repo, environment(u.home)
	log, err := show.CombinedOutput()
	for _, want := range []string{"> Where is it?", "word0 word1 word2 word3", "stopped by the user", "> Go on.", "> typed early"} {
		if err != nil || !strings.Contains(string(log), want) {
			t.Errorf("the session lacks %q (%v):\n%s", want, err, log)
		}
	}
}

// A second Ctrl-C leaves, also where the first has not stopped anything yet, and
// the terminal is as it was.
//
// contract: C-07
func TestCtrlCTwiceLeaves(t *testing.T) {
	t.Parallel()
	u, server := newUser(t), newTalker(t)
	s := talkingTo(t, server, u)
	before := s.terminal()
	s.play("wait set by --model\nprompt\ntype Where is it?\\r\nwait word0\ntype \\x03\nwait stopped\nprompt\ntype \\x03\nwait Ctrl-C again leaves\ntype \\x03\nleaves 130")
	if after := s.terminal(); after != before {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}

// A signal to end leaves the terminal as it was, too.
func TestSignalsLeaveTheTerminalAlone(t *testing.T) {
	t.Parallel()
	u, server := newUser(t), newTalker(t)
	for _, steps := range []string{"", "type Where is it?\\r\nwait word0"} {
		s := talkingTo(t, server, u, "--no-session")
		before := s.terminal()
		s.play("wait set by --model\nprompt\n" + steps)
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		s.play("leaves 130")
		if after := s.terminal(); after != before {
			t.Errorf("after %q the terminal was %+v and is %+v", steps, before, after)
		}
	}
}

// terminal is what the terminal does with what is typed.
func (s *sitting) terminal() unix.Termios {
	state, err := unix.IoctlGetTermios(int(s.keys.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *state
}

// Where nothing comes a line says after a second what goes on, and is gone when
// words come or the prompt does.
func TestProgressInAConversation(t *testing.T) {
	t.Parallel()
	u, server := newUser(t), newTalker(t)
	s := talkingTo(t, server, u)
	s.play("wait set by --model\nprompt\ntype Where is it?\\r\nwait word0")
	server.silent.Store(true)
	s.play("type \\x03\nwait stopped\nprompt\ntype And now?\\r\nwait waiting for m\ntype \\x03\nprompt\ntype half a question\nwait half a question")
	if text := s.screen.String(); strings.Contains(text, "waiting for m") {
		t.Errorf("the line stays:\n%s", text)
	}
}

// A key that was pressed before bx asks allows nothing.
//
// contract: X-08
func TestEarlyKeysAllowNothing(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write(t, "README.md", "A smal demo.\n")
	script := `-- server --
model: m
-- turn --
contains Fix
-- text --
<tool_call>
{"name": "edit_block", "arguments": {"path": "README.md", "old_text": "smal", "new_text": "small"}}
</tool_call>
-- turn --
last tool
-- text --
Not fixed.
`
	parsed, err := fake.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	s := sitDown(t, u, 80, []string{"TERM=xterm-256color", "NO_COLOR=1", "OLLAMA_HOST=" + serve(t, fake.New(parsed))})
	s.play("wait takes tools\nprompt\ntype Fix the typo in README.md\\ry\\r\nwait Run it? [y/n/a/k]\ntype \\r\nwait the user said no\nprompt\ntype \\x04\nleaves 0")
	if b, err := os.ReadFile(u.repo + "/README.md"); err != nil || string(b) != "A smal demo.\n" {
		t.Errorf("%q, %v", b, err)
	}
}
