package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

// runTimeout is how long te run waits if --timeout does not say.
const runTimeout = 10 * time.Minute

// output is what a program said, on both streams in the order in which it came.
type output struct {
	mu    sync.Mutex
	text  []byte
	parts []part
	lost  bool
}

// part is a piece of the text, up to an end.
type part struct {
	errors bool
	end    int
}

// stream is one of the two.
type stream struct {
	*output
	errors bool
}

func (s stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := b[:min(len(b), handle.MaxSize-len(s.text))]
	s.lost = s.lost || len(kept) < len(b)
	s.text = append(s.text, kept...)
	if n := len(s.parts); n > 0 && s.parts[n-1].errors == s.errors {
		s.parts[n-1].end = len(s.text)
		return len(b), nil
	}
	s.parts = append(s.parts, part{s.errors, len(s.text)})
	return len(b), nil
}

// of is what came on one stream.
func (o *output) of(errors bool) string {
	var b strings.Builder
	from := 0
	for _, p := range o.parts {
		if p.errors == errors {
			b.Write(o.text[from:p.end])
		}
		from = p.end
	}
	return b.String()
}

// program is te run COMMAND….
func (a *app) program(ctx context.Context) (int, error) {
	seconds := int(runTimeout / time.Second)
	words, err := options{a.sharedOptions(), {number("--timeout", &seconds, 1)}}.leading(a.args)
	if err != nil {
		return 0, err
	}
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return 0, usage("te run wants a command: te run [--timeout SECONDS] COMMAND…")
	}
	a.args = words
	var out output
	code, err := a.execute(ctx, time.Duration(seconds)*time.Second, words, stream{&out, false}, stream{&out, true})
	return a.said(&out, code, err)
}

// said shows what a program said.
func (a *app) said(out *output, code int, err error) (int, error) {
	if err != nil && len(out.text) == 0 {
		return code, err
	}
	text := string(out.text)
	r := result{meta: te.Meta{Cmd: "run"}, code: code, text: text, lost: out.lost}
	if !a.json && a.fits(text, a.limit(0)) {
		from := 0
		for _, p := range out.parts {
			if p.errors {
				a.out.Flush()
				a.err.Write(out.text[from:p.end])
			} else {
				a.out.Write(out.text[from:p.end])
			}
			from = p.end
		}
	} else {
		r.interest = errorLines(text)
		if _, err := a.show(r); err != nil {
			return code, err
		}
	}
	if err != nil {
		a.out.Flush()
		fmt.Fprintf(a.err, "te: %v\n", err)
	}
	return code, nil
}

// trouble is a line that says what went wrong.
var trouble = regexp.MustCompile(`(?:^|[^\w-])(?:[Ee]rror|ERROR|FAIL(?:ED|URE)?|--- FAIL|[Ff]atal|FATAL|panic:|PANIC|Traceback|[A-Z]\w*(?:Error|Exception)|undefined:|undefined reference|[Aa]ssertion|not ok|✗|✖)(?:\W|$)`)

func errorLines(text string) (out []int) {
	n := 0
	for line := range strings.Lines(text) {
		if trouble.MatchString(line[:min(len(line), 500)]) {
			out = append(out, n)
		}
		n++
	}
	return out
}

// pass runs a command that te has no form for: its streams are ours.
func (a *app) pass(ctx context.Context) (int, error) {
	if err := a.out.Flush(); err != nil {
		return 0, err
	}
	words := append([]string{a.command}, a.args...)
	limit := time.Duration(a.table.Timeout * float64(time.Second))
	if !a.json {
		return a.execute(ctx, limit, words, os.Stdout, os.Stderr)
	}
	var out output
	code, err := a.execute(ctx, limit, words, stream{&out, false}, stream{&out, true})
	said := struct {
		Out   string `json:"stdout"`
		Err   string `json:"stderr"`
		Code  int    `json:"exit_code"`
		Error string `json:"error,omitempty"`
	}{out.of(false), out.of(true), code, ""}
	if err != nil {
		said.Error = err.Error()
	}
	a.value(said)
	return code, nil
}

// writer is where a program's output goes.
type writer interface{ Write([]byte) (int, error) }

// execute runs a command without a shell and returns its exit code, or what a
// shell would say: 124 for a time-out, 126, 127, 128 and the number of a signal.
func (a *app) execute(ctx context.Context, limit time.Duration, words []string, out, errs writer) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, out, errs
	cmd.WaitDelay = 2 * time.Second
	together(cmd, a.in)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return exitTimeout, fail("timeout", exitTimeout, "%s: no end after %s s", words[0], strconv.FormatFloat(limit.Seconds(), 'f', -1, 64))
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return exitOK, nil
	case errors.As(err, &exit):
		return codeOf(exit), nil
	case errors.Is(err, exec.ErrDot), errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return exitNoProgram, fail("not_found", exitNoProgram, "%s: command not found", words[0])
	}
	return exitNotRunable, fail("not_found", exitNotRunable, "%s: cannot be run: %v", words[0], bare(err))
}

func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
