package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/line"
)

// isTerminal reports whether a person is at the other end of f.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// wrapping breaks lines at blanks.
type wrapping struct {
	io.Writer
	columns int
}

func (w wrapping) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.Writer, cells.Wrap(string(b), w.columns))
	return len(b), err
}

// lines is standard output for lists of whole lines: a terminal gets them no wider
// than it is.
func (a *app) lines() io.Writer {
	if !isTerminal(a.out) {
		return a.out
	}
	return wrapping{a.out, columns(a.out)}
}

// slowInput is how long a pipe may be silent before bx says that it waits.
const slowInput = 3 * time.Second

// question joins the words of the command line and the text that is piped in.
func (a *app) question(words []string) (question, piped string, err error) {
	asked := strings.TrimSpace(strings.Join(words, " "))
	if isTerminal(a.in) {
		return asked, "", nil
	}
	slow := time.AfterFunc(slowInput, func() {
		fmt.Fprintln(a.err, "reading standard input (end it, or start bx with </dev/null)")
	})
	all, err := io.ReadAll(a.in)
	slow.Stop()
	if err != nil {
		return "", "", fmt.Errorf("standard input cannot be read: %w", err)
	}
	piped = strings.TrimSpace(string(all))
	switch {
	case piped == "":
		return asked, "", nil
	case asked == "":
		return piped, piped, nil
	}
	return asked + "\n\n" + piped, piped, nil
}

// yesNo asks on the terminal. ok is false when there is none, or it is closed.
func (a *app) yesNo(ctx context.Context, text string) (yes, ok bool) {
	key, ok := a.choose(ctx, text, "y/n")
	return key == 'y', ok
}

// choose asks on the terminal for one of the letters of choices, as y/n. A line
// without any is n; another word is asked again. ok is false when there is no
// terminal, or it is closed.
func (a *app) choose(ctx context.Context, text, choices string) (key byte, ok bool) {
	in, out, end, ok := a.person()
	if !ok {
		return 0, false
	}
	defer end()
	for {
		fmt.Fprintf(out, "%s [%s] ", text, choices)
		word, ok := readLine(ctx, in)
		if !ok {
			return 0, false
		}
		switch word = strings.ToLower(strings.TrimSpace(word)); {
		case word == "", word == "no":
			return 'n', true
		case word == "yes":
			return 'y', true
		case len(word) == 1 && word != "/" && strings.Contains(choices, word):
			return word[0], true
		}
		text = fmt.Sprintf("%q is no answer.", word)
	}
}

// person finds where a person can be asked: standard input, or the terminal
// that bx was started from, where something is piped in.
func (a *app) person() (in *os.File, out io.Writer, end func(), ok bool) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	asked := func() {}
	if a.asks != nil {
		asked = a.asks()
	}
	end = func() {
		asked()
		if err == nil {
			tty.Close()
		}
	}
	switch {
	case isTerminal(a.in) && err == nil:
		return a.in, tty, end, true
	case isTerminal(a.in):
		return a.in, a.err, end, true
	case err == nil && isTerminal(a.err):
		return tty, tty, end, true
	}
	end()
	return nil, nil, nil, false
}

// readLine reads a line; ok is false when ctx ends or nothing more comes.
func readLine(ctx context.Context, in *os.File) (string, bool) {
	if line.Wait(ctx, in) != nil {
		return "", false
	}
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		s, err := bufio.NewReader(oneByte{in}).ReadString('\n')
		done <- read{s, err}
	}()
	select {
	case <-ctx.Done():
		return "", false
	case r := <-done:
		return r.line, r.err == nil || r.line != ""
	}
}

// oneByte reads no further than it must, so that the next question finds its answer.
type oneByte struct{ io.Reader }

func (r oneByte) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(1, len(b))]) }
