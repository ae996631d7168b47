package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

// When something that goes on is told: on a terminal in a line that changes,
// elsewhere in lines that stay.
const (
	tellAfter = time.Second
	tellEvery = 10 * time.Second
	tickEvery = 250 * time.Millisecond
)

// Progress tells of what takes long, below what else is printed. It is safe for
// concurrent use.
type Progress struct {
	Err     io.Writer
	Live    bool       // Err is a terminal: one line that changes
	Columns func() int // of the terminal
	Now     func() time.Time

	mu    sync.Mutex
	what  string
	more  string // how far it is
	since time.Time
	told  time.Time // when a line that stays was printed last
	shown string    // the line that is on the terminal
	dirty bool      // the cursor stands behind words that shall stay
	ticks bool
}

// Busy says what goes on from now.
func (p *Progress) Busy(what string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if what == p.what {
		return
	}
	p.clear()
	p.what, p.more, p.since, p.told = what, "", p.Now(), time.Time{}
	if what != "" && !p.ticks {
		p.ticks = true
		go p.run()
	}
}

// More says how far it is.
func (p *Progress) More(more string) {
	if p != nil {
		p.mu.Lock()
		p.more = more
		p.mu.Unlock()
	}
}

func (p *Progress) run() {
	for range time.Tick(tickEvery) {
		p.Tick()
	}
}

// Tick tells what goes on, if it is time to.
func (p *Progress) Tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	took := now.Sub(p.since)
	if p.what == "" || took < tellAfter {
		return
	}
	text := p.what
	if p.more != "" {
		text += " " + p.more
	}
	text = Clean(fmt.Sprintf("%s, %d s", text, int(took.Seconds())))
	switch {
	case p.Live && !p.dirty:
		if text = cells.Cut(text, p.Columns()-1); text != p.shown {
			fmt.Fprintf(p.Err, "\r\x1b[K\x1b[2m%s\x1b[0m", text)
		}
		p.shown = text
	case !p.Live && took >= tellEvery && now.Sub(p.told) >= tellEvery:
		fmt.Fprintln(p.Err, text)
		p.told = now
	}
}

func (p *Progress) clear() {
	if p.shown != "" {
		io.WriteString(p.Err, "\r\x1b[K")
		p.shown = ""
	}
}

// Over makes a writer that takes the line away before it writes. terminal: what
// is written moves the cursor of the line.
func (p *Progress) Over(w io.Writer, terminal bool) io.Writer { return &over{p, w, terminal} }

type over struct {
	p        *Progress
	w        io.Writer
	terminal bool
}

func (o *over) Write(b []byte) (int, error) {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	o.p.clear()
	if o.terminal && len(b) > 0 {
		o.p.dirty = b[len(b)-1] != '\n'
	}
	return o.w.Write(b)
}

// thousands is a number with commas: 12,000.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Filled says how much of a window is used; "" where that is not known.
func Filled(tokens, window int) string {
	switch {
	case tokens > 0 && window > 0:
		return fmt.Sprintf("(%s of %s tokens)", thousands(tokens), thousands(window))
	case tokens > 0:
		return fmt.Sprintf("(%s tokens)", thousands(tokens))
	}
	return ""
}

// Far says how much of something is done: "12,000 of 100,000".
func Far(done, of int) string {
	return strings.Join([]string{thousands(done), "of", thousands(of)}, " ")
}
