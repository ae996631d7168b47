package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
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

// yesNo asks on the terminal. ok is false when there is none, or no answer.
func (a *app) yesNo(ctx context.Context, text string) (yes, ok bool) {
	if !isTerminal(a.in) {
		return false, false
	}
	var w io.Writer = a.err
	if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
		defer tty.Close()
		w = tty
	}
	fmt.Fprint(w, text+" [y/n] ")
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(oneByte{a.in}).ReadString('\n')
		line <- s
	}()
	select {
	case <-ctx.Done():
		return false, false
	case s := <-line:
		s = strings.ToLower(strings.TrimSpace(s))
		return s == "y" || s == "yes", s != ""
	}
}

// oneByte reads no further than it must, so that the next question finds its answer.
type oneByte struct{ io.Reader }

func (r oneByte) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(1, len(b))]) }
