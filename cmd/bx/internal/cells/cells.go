// Package cells measures text as a terminal shows it: in columns, by what a
// reader sees as one character, with what would drive the terminal made visible.
package cells

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Next splits the first character off a text, as a reader sees one, and gives
// the columns that it takes.
func Next(s string) (char, rest string, columns int) {
	char, rest, columns, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	return char, rest, columns
}

// Width is the columns of one line of text.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}

// Cut shortens one line of text to a number of columns; the last is then "…".
func Cut(s string, columns int) string {
	if columns <= 0 || Width(s) <= columns {
		return s
	}
	head, _ := Split(s, columns-1)
	return head + "…"
}

// Split cuts a text where a number of columns is full. A character that is wider
// than all of them is kept whole.
func Split(s string, columns int) (head, tail string) {
	at := 0
	for rest := s; rest != ""; {
		char, more, w := Next(rest)
		if columns -= w; columns < 0 && at > 0 {
			break
		}
		at, rest = at+len(char), more
		if columns < 0 {
			break
		}
	}
	return s[:at], s[at:]
}

// Wrap breaks the lines of a text at blanks, so that none is wider than a number
// of columns where its words are not; 0 breaks none. Rows that go on with a line
// are indented as it is.
func Wrap(s string, columns int) string {
	if columns <= 0 {
		return s
	}
	var out []string
	for _, line := range strings.Split(s, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for Width(line) > columns {
			head, tail := Split(line, columns)
			at := strings.LastIndexByte(head, ' ')
			if strings.HasPrefix(tail, " ") {
				at = len(head)
			}
			if at < len(indent)+columns/3 {
				break // a long word: the terminal breaks it
			}
			out = append(out, strings.TrimRight(line[:at], " "))
			line = indent + strings.TrimLeft(line[at:], " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// Clean makes visible what would move the cursor, give the terminal an order or
// hide text: control characters but newline and tab, changes of direction,
// characters without a form, and bytes that are no UTF-8.
func Clean(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] >= utf8.RuneSelf && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r > 0xffff && hidden(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// formless are characters that show nothing and that no script or emoji needs.
var formless = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x180e, Hi: 0x180e, Stride: 1},
		{Lo: 0x200b, Hi: 0x200b, Stride: 1}, {Lo: 0x2028, Hi: 0x2029, Stride: 1}, {Lo: 0x2060, Hi: 0x2064, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, {Lo: 0xfff9, Hi: 0xfffb, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}},
}

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, formless))
}
