package line

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

// layout is a text in the rows of a terminal. No row is wider than the terminal,
// so that the terminal itself never breaks one.
type layout struct {
	rows   []string
	widths []int
	row    int // of the cursor
	column int
}

// lay puts a text into rows. prompt stands before its first line, more before
// the others; rows that go on with a line are indented as far.
func lay(prompt, more, text string, at, columns int) layout {
	l := layout{row: -1}
	from := 0
	for i, line := range strings.Split(text, "\n") {
		head := more
		if i == 0 {
			head = prompt
		}
		cursor := -1
		if at >= from && at <= from+len(line) {
			cursor = at - from
		}
		l.line(head, line, cursor, columns)
		from += len(line) + 1
	}
	return l
}

// line adds the rows of a line; cursor is a place in it, or -1.
func (l *layout) line(head, line string, cursor, columns int) {
	var row strings.Builder
	row.WriteString(head)
	indent := cells.Width(head)
	if indent*2 > columns {
		indent = 0
	}
	width := cells.Width(head)
	next := func() {
		l.add(row.String(), width)
		row.Reset()
		row.WriteString(strings.Repeat(" ", indent))
		width = indent
	}
	at := 0
	for rest := line; rest != ""; {
		char, more, w := cells.Next(rest)
		shown := visible(char)
		if shown != char {
			w = cells.Width(shown)
		}
		if width+w > columns && width > indent {
			next()
		}
		if at == cursor {
			l.row, l.column = len(l.rows), width
		}
		row.WriteString(shown)
		width += w
		at, rest = at+len(char), more
	}
	if width >= columns && at == cursor {
		next()
	}
	if at == cursor {
		l.row, l.column = len(l.rows), width
	}
	l.add(row.String(), width)
}

func (l *layout) add(row string, width int) {
	l.rows, l.widths = append(l.rows, row), append(l.widths, width)
}

// visible is a character as it is shown.
func visible(char string) string {
	if char == "\t" {
		return "    "
	}
	return cells.Clean(char)
}

// window keeps n rows, with that of the cursor among them.
func (l *layout) window(n int) {
	if n = max(n, 1); len(l.rows) <= n {
		return
	}
	from := min(max(l.row-n+1, 0), len(l.rows)-n)
	l.rows, l.widths, l.row = l.rows[from:from+n], l.widths[from:from+n], l.row-from
}

// above is how many rows the terminal now shows above the cursor, if it broke the
// rows that were printed at another width.
func (l *layout) above(columns int) (n int) {
	if columns <= 0 {
		return l.row
	}
	for _, w := range l.widths[:l.row] {
		n += max((w+columns-1)/columns, 1)
	}
	return n + max(l.column-1, 0)/columns
}
