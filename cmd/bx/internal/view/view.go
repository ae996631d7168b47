// Package view prints what bx has to say: answers, steps of a turn, lists. It
// decides nothing.
//
// An answer goes to Out, all else to Err. Text that a model or a tool made is
// never printed with its control characters to a terminal.
package view

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/markdown"
)

// Printer writes for one run of the program.
type Printer struct {
	Out, Err io.Writer
	Level    Level
	Live     bool             // Out is a terminal: text of the model appears as it comes
	Color    bool             // of Err
	Columns  func() int       // of Err, whose lines are broken at blanks; nil: they are not
	Markdown *markdown.Writer // over Out, for text of the model; nil: it is printed as it is
	Progress *Progress        // nil: nothing is told of what takes long
	Unmarked bool             // no model wrote the calls: where they were found is not said

	streamed strings.Builder // of this round, on Out
	thinking bool
	forced   bool           // what is called from now on does not run
	told     map[string]int // fixes of a call that were told, by its id
	name     string         // of the member whose steps these are; "": the one that answers
	together *sync.Mutex    // of Printers that write to one Err at the same time
}

// Named is a Printer for the steps of a member of a team, who may work while p
// or others print. It prints lines alone, each with the name.
func (p *Printer) Named(name string) *Printer {
	if p.together == nil {
		p.together = new(sync.Mutex)
	}
	return &Printer{Out: io.Discard, Err: p.Err, Level: p.Level, Color: p.Color, name: name, together: p.together}
}

// Level is how much is said beside the answer.
type Level int

const (
	Quiet   Level = iota - 1 // errors only
	Normal                   // which model, which calls, warnings
	Verbose                  // also thinking, results, tokens, why
	Debug                    // also what was recognised where, and raw text
)

// Line prints one line to Err if the level is reached.
func (p *Printer) Line(l Level, format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if p.Level < l || text == "" {
		return
	}
	p.endStream()
	if p.name != "" {
		text = p.name + ": " + text
	}
	if p.together != nil {
		p.together.Lock()
		defer p.together.Unlock()
	}
	text = Clean(text)
	if p.Columns != nil {
		text = cells.Wrap(text, p.Columns())
	}
	fmt.Fprintln(p.Err, p.paint(l, text))
}

// Warn prints a warning.
func (p *Printer) Warn(format string, a ...any) { p.Line(Normal, "warning: "+format, a...) }

func (p *Printer) paint(l Level, s string) string {
	if !p.Color || l < Normal {
		return s
	}
	return "\x1b[2m" + s + "\x1b[0m"
}

// Clean makes visible what would drive a terminal or hide text: what a model
// wrote must not.
func Clean(s string) string { return cells.Clean(s) }

// short cuts s to n characters of one line.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
