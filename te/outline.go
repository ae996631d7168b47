package te

import (
	"fmt"
	"strconv"
	"strings"
)

// Outline writes the envelope of a file that is longer than budget bytes: its
// first lines, and "LINE: text" for each line after them that defines
// something. What does not fit is counted.
func Outline(m Meta, first []string, defined []Line, budget int) string {
	m.Truncated = true
	room := budget - len(m.String()) - 150
	var b strings.Builder
	b.WriteString(m.String())
	shownLines := 0
	for _, l := range first { // half of the room at most: the rest is for the outline
		if b.Len()+cost(l) > budget/2 && shownLines > 0 {
			break
		}
		b.WriteString(shown(l) + "\n")
		room -= cost(l)
		shownLines++
	}
	var rest []Line
	for _, d := range defined {
		if d.N > shownLines {
			rest = append(rest, d)
		}
	}
	fmt.Fprintf(&b, "\n%s%s left out, with %d definitions:\n", crumb, span(shownLines+1, m.Lines), len(rest))
	for i, d := range rest {
		line := strconv.Itoa(d.N) + ": " + clean(d.Text) + "\n"
		if room -= len(line); room < 0 && i > 0 {
			fmt.Fprintf(&b, "%s%d more definitions\n", crumb, len(rest)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
