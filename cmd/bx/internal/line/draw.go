package line

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

const (
	bracketsOn  = "\x1b[?2004h" // the terminal marks what is pasted
	bracketsOff = "\x1b[?2004l"
	clearBelow  = "\x1b[J"
)

// refresh draws the text if it, the size of the terminal, or what stands above
// has changed.
func (r *reading) refresh(changed bool) {
	columns, rows := r.Terminal.Size()
	notices := r.Pending()
	if !changed && columns == r.columns && rows == r.rows && len(notices) == 0 {
		return
	}
	r.columns, r.rows = columns, rows
	var b strings.Builder
	r.erase(&b)
	for _, n := range notices {
		b.WriteString(r.dim(strings.ReplaceAll(cells.Wrap(cells.Clean(n), columns), "\n", "\r\n")) + "\r\n")
	}
	prompt, text, at := r.Prompt, r.text, r.at
	if r.find != nil {
		prompt, text = r.find.prompt(), r.found()
		at = len(text)
	}
	r.drawn = lay(prompt, r.More, text, at, columns)
	below := r.below[:min(len(r.below), max(rows/2, 0))]
	r.drawn.window(rows - 1 - len(below))
	r.write(&b, prompt)
	for _, row := range below {
		b.WriteString("\r\n" + r.dim(cells.Cut(row, columns-1)))
	}
	if up := len(r.drawn.rows) + len(below) - 1 - r.drawn.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if r.drawn.column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", r.drawn.column)
	}
	io.WriteString(r.Out, b.String())
}

// erase goes back to the first row of what is drawn and clears all of it.
func (r *reading) erase(b *strings.Builder) {
	if len(r.drawn.rows) > 0 {
		if up := r.drawn.above(r.columns); up > 0 {
			fmt.Fprintf(b, "\x1b[%dA", up)
		}
	}
	b.WriteString("\r" + clearBelow)
}

// write adds the rows, with the prompts in colour.
func (r *reading) write(b *strings.Builder, prompt string) {
	for i, row := range r.drawn.rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		head := ""
		for _, p := range []string{prompt, r.More} {
			if strings.HasPrefix(row, p) && strings.TrimSpace(p) != "" {
				head = p
				break
			}
		}
		if head != "" && r.Color {
			b.WriteString("\x1b[1;36m" + head + "\x1b[0m")
			row = row[len(head):]
		}
		b.WriteString(row)
	}
}

func (r *reading) dim(s string) string {
	if !r.Color {
		return s
	}
	return "\x1b[2m" + s + "\x1b[0m"
}

// leave prints the text as it stays on the screen, all of its rows, and goes to
// the line below.
func (r *reading) leave(text string) {
	var b strings.Builder
	r.columns, r.rows = r.Terminal.Size()
	r.erase(&b)
	r.drawn = lay(r.Prompt, r.More, text, len(text), r.columns)
	if n := len(r.drawn.rows); n > 1 && r.drawn.widths[n-1] == cells.Width(r.Prompt) && strings.TrimSpace(r.drawn.rows[n-1]) == "" {
		r.drawn.rows = slices.Delete(r.drawn.rows, n-1, n)
	}
	r.write(&b, r.Prompt)
	b.WriteString("\r\n")
	io.WriteString(r.Out, b.String())
	r.drawn, r.below = layout{}, nil
}
