package line

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

// Completion is what may stand in place of the end of a text.
type Completion struct {
	From    int      // where that begins
	Options []string // what may stand there
	Shown   []string // how they are listed; nil: as they are
}

// complete puts in what all completions begin with, and lists them if there are
// several.
func (r *reading) complete() {
	if r.Complete == nil {
		return
	}
	c := r.Complete(r.text[:r.at])
	if len(c.Options) == 0 {
		return
	}
	if head := common(c.Options); len(c.Options) == 1 || len(head) > r.at-c.From {
		r.remove(c.From, r.at)
		r.put(head)
	}
	if len(c.Options) > 1 {
		r.below = listed(c, r.columns)
	}
}

// common is what all of the words begin with.
func common(words []string) string {
	head := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, head) {
			_, n := lastRune(head)
			head = head[:n]
		}
	}
	return head
}

// lastRune is the last character of s and where it begins.
func lastRune(s string) (rune, int) {
	at, last := 0, rune(0)
	for i, r := range s {
		at, last = i, r
	}
	return last, at
}

// maxListed is how many completions are listed.
const maxListed = 60

// listed puts words into columns.
func listed(c Completion, columns int) (rows []string) {
	words := c.Shown
	if words == nil {
		words = c.Options
	}
	more := len(words) - maxListed
	words = words[:min(len(words), maxListed)]
	wide := 0
	for _, w := range words {
		wide = max(wide, cells.Width(cells.Clean(strings.TrimSpace(w)))+2)
	}
	each := max((columns-1)/max(wide, 1), 1)
	for i := 0; i < len(words); i += each {
		var b strings.Builder
		for _, w := range words[i:min(i+each, len(words))] {
			w = cells.Clean(strings.TrimSpace(w))
			b.WriteString(w + strings.Repeat(" ", max(wide-cells.Width(w), 0)))
		}
		rows = append(rows, strings.TrimRight(b.String(), " "))
	}
	if more > 0 {
		rows = append(rows, "… and more: type a further letter")
	}
	return rows
}

// search looks through the history for a text.
type search struct {
	words string
	at    int // of what was found; the history's length: nothing yet
}

func (f *search) prompt() string { return "(search) " + f.words + ": " }

func (r *reading) found() string {
	if r.find.at >= r.History.Len() {
		return ""
	}
	return r.History.At(r.find.at)
}

// search acts on a key while the history is searched. Keys that are not used end
// the search and act on what was found.
func (r *reading) search(k key) (used, done bool) {
	f := r.find
	switch {
	case k.name == "":
		f.words += printable(k.text)
		r.older(f.at)
	case k.name == "ctrl-r":
		r.older(f.at - 1)
	case k.name == "backspace", k.name == "ctrl-h":
		if _, n := lastRune(f.words); f.words != "" {
			f.words = f.words[:n]
		}
		r.older(r.History.Len() - 1)
	case k.name == "ctrl-c", k.name == "ctrl-g":
		r.find = nil
	default:
		if text := r.found(); text != "" {
			r.set(text)
		}
		r.find = nil
		return k.name == escape, false
	}
	return true, false
}

// older finds the words at a place of the history or before it.
func (r *reading) older(from int) {
	for at := min(from, r.History.Len()-1); at >= 0; at-- {
		if r.find.words != "" && strings.Contains(strings.ToLower(r.History.At(at)), strings.ToLower(r.find.words)) {
			r.find.at = at
			return
		}
	}
}
