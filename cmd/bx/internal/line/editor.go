// Package line reads what a person types: at a terminal with history, completion
// and pasted text, elsewhere plain lines.
//
// A text may have several lines: Enter sends it, unless the line ends in a
// backslash or a fence of ``` is open. Pasted text is never sent by what is in it.
package line

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// What reading ends with in place of a text.
var (
	ErrInterrupted = errors.New("interrupted") // Ctrl-C on an empty line
	ErrNoTerminal  = errors.New("not a terminal that can be edited on")
	errClosed      = errors.New("the terminal is gone")
)

// mode is what the terminal does with what is typed.
type mode int

const (
	asFound mode = iota // lines, shown as they are typed
	keysNow             // each key at once, shown by us
	unseen              // kept for later and not shown; Ctrl-C and Ctrl-Z work
)

// Editor reads texts from a terminal.
type Editor struct {
	Terminal *Terminal
	Out      io.Writer
	Prompt   string // before the first line
	More     string // before further ones
	Color    bool
	History  *History
	Complete func(text string) Completion      // of what stands before the cursor; nil: none
	Edit     func(text string) (string, error) // in a program of the user's; nil: none

	keys  decoder
	ahead []key // read and not pressed yet

	mu     sync.Mutex
	notice []string // to be printed above the text
}

// Notice prints a line above the text that is being read, or above the next one.
// It is safe for concurrent use.
func (e *Editor) Notice(text string) {
	e.mu.Lock()
	e.notice = append(e.notice, text)
	e.mu.Unlock()
	e.Terminal.wake()
}

// Pending takes the notices that were not printed yet.
func (e *Editor) Pending() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.notice
	e.notice = nil
	return all
}

// Ask forgets what was typed so far and has the terminal show lines as they are
// typed, until end is called: for a question that no key may answer that was meant
// for something else.
func (e *Editor) Ask() (end func()) {
	e.ahead, e.keys = nil, decoder{}
	return e.Terminal.ask()
}

// escapeTime is how long the rest of a key's sequence is waited for.
const escapeTime = 50 * time.Millisecond

// Read reads a text. The error is io.EOF for Ctrl-D on an empty line,
// ErrInterrupted for Ctrl-C on one, or the context's. What is typed until the
// next Read is unseen, and kept for it.
func (e *Editor) Read(ctx context.Context) (string, error) {
	if err := e.Terminal.set(keysNow); err != nil {
		return "", err
	}
	defer func() { _ = e.Terminal.set(unseen) }()
	io.WriteString(e.Out, bracketsOn)
	defer io.WriteString(e.Out, bracketsOff)
	r := &reading{Editor: e, browsed: e.History.Len()}
	r.refresh(true)
	for {
		for len(e.ahead) > 0 {
			k := e.ahead[0]
			e.ahead = e.ahead[1:]
			if done, err := r.press(k); done {
				return r.text, err
			}
		}
		if err := r.more(ctx); err != nil {
			r.leave("")
			return "", err
		}
	}
}

// more waits for keys, and draws what has changed.
func (r *reading) more(ctx context.Context) error {
	limit := time.Duration(0)
	if r.keys.waits() {
		limit = escapeTime
	}
	b, err := r.Terminal.read(ctx, limit)
	if err != nil {
		return err
	}
	r.ahead = r.keys.feed(b, len(b) == 0 && limit > 0)
	if len(b) == 0 {
		r.refresh(false)
	}
	return nil
}

// reading is one call of Read.
type reading struct {
	*Editor
	buffer
	drawn   layout
	below   []string // rows under the text: completions, a hint
	columns int
	rows    int
	browsed int    // place in the history; its length is the new text
	fresh   string // the new text, while the history is browsed
	find    *search
	prefix  bool // ctrl-x was pressed
}
