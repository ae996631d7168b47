//go:build unix

package line_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/line"
	"github.com/unifiedtoolprotocol/utp/internal/screen"
)

// person types at a terminal and sees its screen.
type person struct {
	t      *testing.T
	keys   *os.File
	tty    *os.File
	screen *screen.Screen
	editor *line.Editor
	texts  chan string
	errs   chan error
	stop   context.CancelFunc
}

func sitDown(t *testing.T, columns, rows int) *person {
	t.Helper()
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, keys: keys, tty: tty, screen: screen.New(columns, rows), texts: make(chan string, 100), errs: make(chan error, 1)}
	p.size(columns, rows)
	terminal, err := line.Open(tty)
	if err != nil {
		t.Fatal(err)
	}
	history, _ := line.OpenHistory("")
	p.editor = &line.Editor{Terminal: terminal, Out: tty, Prompt: "> ", More: ". ", History: history}
	go func() { _, _ = io.Copy(p.screen, keys) }()
	p.stop = func() {}
	t.Cleanup(func() {
		p.stop()
		_ = terminal.Close()
		keys.Close()
		tty.Close()
		if strange := p.screen.Strange(); len(strange) > 0 {
			t.Errorf("strange sequences: %v", strange)
		}
	})
	return p
}

// reads begins to read texts, until one has an error.
func (p *person) reads() *person {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	p.stop = func() { stop(); <-ended }
	go func() {
		defer close(ended)
		for {
			text, err := p.editor.Read(ctx)
			if err != nil {
				p.errs <- err
				return
			}
			_ = p.editor.History.Add(text)
			p.texts <- text
		}
	}()
	p.sees(p.editor.Prompt)
	return p
}

func (p *person) size(columns, rows int) {
	if err := pty.Setsize(p.keys, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) types(keys string) { fmt.Fprint(p.keys, keys) }

// gets is the next text that was sent.
func (p *person) gets() string {
	p.t.Helper()
	select {
	case text := <-p.texts:
		return text
	case err := <-p.errs:
		p.t.Fatalf("the end: %v\n%s", err, p.screen)
	case <-time.After(20 * time.Second):
		p.t.Fatalf("nothing was sent:\n%s", p.screen)
	}
	return ""
}

// sees waits until the screen ends with a text.
func (p *person) sees(end string) {
	p.t.Helper()
	for wait := time.Now().Add(20 * time.Second); time.Now().Before(wait); time.Sleep(2 * time.Millisecond) {
		if strings.HasSuffix(strings.TrimRight(p.screen.String(), " \n"), strings.TrimRight(end, " \n")) {
			return
		}
	}
	p.t.Fatalf("want an end of %q, see\n%s", end, p.screen)
}

const (
	up, down, left, home  = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[H"
	altEnter              = "\x1b\r"
	ctrlA, ctrlC, ctrlD   = "\x01", "\x03", "\x04"
	ctrlK, ctrlR          = "\x0b", "\x12"
	ctrlU, ctrlW, ctrlY   = "\x15", "\x17", "\x19"
	ctrlUndo, tab, delete = "\x1f", "\t", "\x1b[3~"
)

func paste(s string) string { return "\x1b[200~" + s + "\x1b[201~" }

// What is typed comes out as it stands on the screen.
func TestKeys(t *testing.T) {
	p := sitDown(t, 40, 10).reads()
	sent := ""
	for _, c := range []struct{ name, keys, want string }{
		{"a line", "hello\r", "hello"},
		{"the middle", "hllo" + left + left + left + "e\r", "hello"},
		{"wide characters", "日本" + left + "の\r", "日の本"},
		{"a family is one character", "👩‍👩‍👧x" + left + "\x7f\r", "x"},
		{"combined ones too", "cafe\u0301\x7f\r", "caf"},
		{"home, end, delete", "xab" + home + delete + "\x05c\r", "abc"},
		{"words", "one two three" + ctrlW + ctrlW + "2\r", "one 2"},
		{"words by their letters", "a.b/c\x1bb\x1bbX\r", "a.Xb/c"},
		{"cut and put", "world" + ctrlU + "hello " + ctrlY + "\r", "hello world"},
		{"to the end", "abc" + ctrlA + ctrlK + "d\r", "d"},
		{"taken back", "ab" + ctrlU + "c" + ctrlUndo + ctrlUndo + "\r", "ab"},
		{"a backslash goes on", "one\\\rtwo\r", "one\ntwo"},
		{"two are text", `C:\\` + "\r", `C:\\`},
		{"Alt-Enter", "one" + altEnter + "two\r", "one\ntwo"},
		{"Shift-Enter", "one\x1b[13;2utwo\r", "one\ntwo"},
		{"a fence", "```go\rx := 1\r```\r", "```go\nx := 1\n```"},
		{"a paste is not sent", paste("one\r\ntwo\n") + "three\r", "one\ntwo\nthree"},
		{"nor does it drive anything", paste("a\x1b[2Jb\x07") + "\r", "a[2Jb"},
		{"a backslash in a paste stays", paste("a \\\nb") + "\r", "a \\\nb"},
		{"between lines", "ab" + altEnter + "cd" + up + "X" + down + "Y\r", "abX\ncdY"},
		{"unknown keys", "a\x1b[99;99~\x1b[?1;2cb\r", "ab"},
		{"given up", "nonsense" + ctrlC + "sense\r", "sense"},
		{"history", up + up + "\r", "ab"},
		{"searched", ctrlR + "cafe" + ctrlR + "\x7f\r", "caf"},
		{"and the new text is still there", "new" + up + down + "\r", "new"},
	} {
		if strings.Contains(c.keys, ctrlC) { // between two texts it is a signal, which drops what was typed
			p.sees(sent + "\n" + p.editor.Prompt)
		}
		p.types(c.keys)
		if sent = p.gets(); c.name != "history" && sent != c.want {
			t.Errorf("%s: got %q, want %q", c.name, sent, c.want)
		}
	}
	p.sees(sent + "\n" + p.editor.Prompt)
	p.types("x" + ctrlC + ctrlC)
	if err := <-p.errs; !errors.Is(err, line.ErrInterrupted) {
		t.Errorf("Ctrl-C on an empty line: %v", err)
	}
}

func TestCtrlDEnds(t *testing.T) {
	p := sitDown(t, 40, 10).reads()
	p.types("ab" + home + ctrlD + "\r") // in a text it deletes
	if got := p.gets(); got != "b" {
		t.Errorf("got %q", got)
	}
	p.types(ctrlD)
	if err := <-p.errs; !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

// A line is broken at the edge, also a wide character that does not fit, and the
// text stands there once whatever is typed.
func TestLongLinesAreShownOnce(t *testing.T) {
	p := sitDown(t, 12, 10).reads()
	p.types("日本語日本語 words" + home + "0")
	p.sees("> 0日本語日\n  本語 words")
	p.types("\r")
	p.gets()
	p.sees("> 0日本語日\n  本語 words\n>")
	p.types("0123456789")
	p.sees("> 0123456789")
	p.types("\r")
	p.gets()
	p.sees("> 0日本語日\n  本語 words\n> 0123456789\n>")
}

// When the window changes its size the text is drawn anew, once, and what stands
// above it stays.
func TestTheWindowChangesItsSize(t *testing.T) {
	p := sitDown(t, 40, 10)
	fmt.Fprint(p.editor.Out, "an answer above\n")
	p.reads().types("a question of more than thirty letters")
	p.sees("letters")
	for i, columns := range []int{20, 13, 60, 40} {
		p.screen.Resize(columns, 10)
		p.size(columns, 10)
		p.types("!")
		shown := func() string { return strings.Join(strings.Fields(p.screen.String()), "") }
		for wait := time.Now().Add(20 * time.Second); !strings.HasSuffix(shown(), "s"+strings.Repeat("!", i+1)) && time.Now().Before(wait); {
			time.Sleep(2 * time.Millisecond)
		}
		if got := p.screen.String(); strings.Count(got, "a question") != 1 || !strings.HasPrefix(strings.ReplaceAll(got, "\n", ""), "an answer above> a question") {
			t.Errorf("at %d columns:\n%s", columns, got)
		}
	}
	p.types("\r")
	if got := p.gets(); got != "a question of more than thirty letters!!!!" {
		t.Errorf("%q", got)
	}
}

// A text that is higher than the screen is shown in part, and whole when it is sent.
func TestTextHigherThanTheScreen(t *testing.T) {
	p := sitDown(t, 20, 5).reads()
	p.types(paste("1\n2\n3\n4\n5\n6\n7\n8"))
	p.sees(". 5\n. 6\n. 7\n. 8")
	if strings.Contains(p.screen.String(), "> 1") {
		t.Errorf("see\n%s", p.screen)
	}
	p.types("\r")
	p.gets()
	p.sees("> 1\n. 2\n. 3\n. 4\n. 5\n. 6\n. 7\n. 8\n>")
}

func TestCompletion(t *testing.T) {
	p := sitDown(t, 40, 10)
	p.editor.Complete = func(text string) line.Completion {
		c := line.Completion{From: strings.LastIndex(text, " ") + 1}
		for _, o := range []string{"/model ", "/more ", "/exit "} {
			if strings.HasPrefix(o, text[c.From:]) {
				c.Options = append(c.Options, o)
			}
		}
		return c
	}
	p.reads().types("say /m" + tab)
	p.sees("> say /mo\n/model  /more")
	p.types("d" + tab)
	p.sees("> say /model")
	p.types("x\r")
	if got := p.gets(); got != "say /model x" {
		t.Errorf("%q", got)
	}
}

// What others have to say meanwhile stands above the line, without its control
// characters, and the line is kept.
func TestNotices(t *testing.T) {
	p := sitDown(t, 40, 10).reads()
	p.types("half a ques")
	p.sees("> half a ques")
	p.editor.Notice("model m \x1b]52;c;eA==\a is there")
	p.sees("model m \\u001b]52;c;eA==\\u0007 is there\n> half a ques")
	p.types("tion\r")
	if got := p.gets(); got != "half a question" {
		t.Errorf("%q", got)
	}
}

// What is typed while nobody reads is unseen and read next; a question forgets it.
func TestTypedAhead(t *testing.T) {
	p := sitDown(t, 40, 10)
	read := func() string {
		text, err := p.editor.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	go func() {
		p.sees("> ")
		p.types("first\r")
	}()
	read()
	p.types("early\r")
	time.Sleep(20 * time.Millisecond) // it would be echoed by now
	if got := p.screen.String(); strings.Contains(got, "early") {
		t.Errorf("echoed:\n%s", got)
	}
	if got := read(); got != "early" {
		t.Errorf("%q", got)
	}
	p.types("y\r")
	time.Sleep(20 * time.Millisecond)
	end := p.editor.Ask()
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if err := line.Wait(ctx, p.tty); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a key from before the question answers it: %v", err)
	}
	end()
	p.types("late\r")
	if got := read(); got != "late" {
		t.Errorf("%q", got)
	}
}

func TestEditorEndsWithItsContext(t *testing.T) {
	p := sitDown(t, 40, 10).reads()
	p.types("half")
	p.sees("> half")
	p.stop()
	if err := <-p.errs; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
