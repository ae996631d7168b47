package view

import (
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

// Painted is text with differences, which must be clean: what stands around them
// is broken at blanks, and where there is colour the differences have it.
func (p *Printer) Painted(text string) string {
	var b strings.Builder
	for row := range strings.Lines(text) {
		row, end := strings.TrimSuffix(row, "\n"), row[len(strings.TrimSuffix(row, "\n")):]
		if p.Columns != nil && strings.IndexFunc(row, prose) == 0 {
			row = cells.Wrap(row, p.Columns())
		}
		if style := styleOf(row); style != "" && p.Color {
			row = "\x1b[" + style + "m" + row + "\x1b[0m"
		}
		b.WriteString(row + end)
	}
	return b.String()
}

// prose is what a line of a difference does not begin with.
func prose(r rune) bool { return unicode.IsLetter(r) || r == '(' }

// styleOf is the style of a line of a difference, or of a question around one.
func styleOf(row string) string {
	for _, s := range []struct{ begin, style string }{
		{"+++ ", "1"}, {"--- ", "1"}, {"diff ", "1"}, {"path: ", "1"}, {"Look closely: ", "1;33"}, {"@@ ", "36"}, {"+", "32"}, {"-", "31"},
	} {
		if strings.HasPrefix(row, s.begin) {
			return s.style
		}
	}
	return ""
}
