package markdown

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

// wrapper breaks words into rows. A word is printed when it is whole.
type wrapper struct {
	out     strings.Builder
	columns int    // 0: no row is broken
	indent  string // of further rows
	at      int    // the column
	held    []piece
	width   int // of what is held
	gap     string
	gapped  string // style of the gap
	printed bool   // a word stands in this row
}

type piece struct{ style, text string }

// begin prepares a line.
func (w *wrapper) begin(columns int, indent string) {
	w.columns, w.indent, w.at, w.printed, w.gap = columns, indent, 0, false, ""
	if cells.Width(indent)*2 > columns {
		w.indent = ""
	}
}

// word prints text that is not broken.
func (w *wrapper) word(style, text string) {
	w.out.WriteString(styled(style, text))
	w.at += cells.Width(text)
}

// text prints words, broken at blanks and between wide characters.
func (w *wrapper) text(style, text string) {
	for text != "" {
		char, rest, width := cells.Next(text)
		text = rest
		switch {
		case char == " ", char == "\t":
			w.put()
			w.gap, w.gapped = w.gap+char, style
		case width > 1:
			w.put()
			w.hold(style, char, width)
			w.put()
		default:
			w.hold(style, char, width)
		}
	}
}

func (w *wrapper) hold(style, char string, width int) {
	if n := len(w.held); n > 0 && w.held[n-1].style == style {
		w.held[n-1].text += char
	} else {
		w.held = append(w.held, piece{style, char})
	}
	w.width += width
}

// put prints the word that is held, in the next row if this one is full.
func (w *wrapper) put() {
	if len(w.held) == 0 {
		return
	}
	gap := cells.Width(strings.ReplaceAll(w.gap, "\t", "    "))
	if w.columns > 0 && w.printed && w.at+gap+w.width > w.columns {
		bars := marker
		if strings.TrimSpace(w.indent) == "" {
			bars = ""
		}
		w.out.WriteString("\n" + styled(bars, w.indent))
		w.at, w.gap = cells.Width(w.indent), ""
	}
	if w.gap != "" {
		w.out.WriteString(styled(w.gapped, strings.ReplaceAll(w.gap, "\t", "    ")))
		w.at += gap
		w.gap = ""
	}
	for _, p := range w.held {
		w.out.WriteString(styled(p.style, p.text))
	}
	w.at += w.width
	w.held, w.width, w.printed = nil, 0, true
}

func (w *wrapper) newline() {
	w.put()
	w.out.WriteByte('\n')
	w.at, w.gap, w.printed = 0, "", false
}

func styled(style, text string) string {
	if style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
