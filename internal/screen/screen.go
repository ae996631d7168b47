// Package screen is a terminal for tests: it takes what a program prints and says
// what a person sees. It knows the sequences that bx uses, and keeps every other
// one, so that a test can say that there was none.
package screen

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Screen is a terminal of a size, with all that was scrolled off it. It breaks
// lines that are too long, also anew when its size changes. It is safe for
// concurrent use.
type Screen struct {
	mu            sync.Mutex
	columns, rows int
	lines         []line
	row, column   int // the cursor; a column at the right edge is one beyond it
	style         string
	held          string
	strange       []string
}

type line struct {
	cells   []cell
	wrapped bool // the next line goes on with it
}

type cell struct {
	char  string // "" is the second half of a wide one
	style string
}

// New makes an empty screen.
func New(columns, rows int) *Screen {
	return &Screen{columns: columns, rows: rows, lines: []line{{}}}
}

// Write prints.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += string(b)
	for s.held != "" {
		n := s.next(s.held)
		if n == 0 {
			break
		}
		s.held = s.held[n:]
	}
	return len(b), nil
}

// next takes one character or sequence; 0 where it is not whole.
func (s *Screen) next(text string) int {
	switch c := text[0]; {
	case c == 0x1b:
		return s.sequence(text)
	case c == '\r':
		s.column = 0
	case c == '\n':
		s.down()
	case c == '\b':
		s.column = max(s.column-1, 0)
	case c == '\t':
		s.column = min(s.column/8*8+8, s.columns-1)
	case c < ' ', c == 0x7f:
		s.strange = append(s.strange, fmt.Sprintf("%q", text[:1]))
	default:
		if !utf8.FullRuneInString(text) {
			return 0
		}
		char, rest, width, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		if i := strings.IndexFunc(char, func(r rune) bool { return r < ' ' }); i > 0 {
			char = char[:i]
		} else if rest == "" && len(text) < 64 && text[0] >= utf8.RuneSelf && s.joins(char) {
			return len(char)
		}
		s.print(char, width)
		return len(char)
	}
	return 1
}

// joins adds what belongs to the character before the cursor, and came later.
func (s *Screen) joins(char string) bool {
	l := &s.lines[s.row]
	at := min(s.column, len(l.cells)) - 1
	for at > 0 && l.cells[at].char == "" {
		at--
	}
	if at < 0 || uniseg.GraphemeClusterCount(l.cells[at].char+char) > 1 {
		return false
	}
	l.cells[at].char += char
	return true
}

func (s *Screen) print(char string, width int) {
	if s.column+width > s.columns {
		s.lines[s.row].wrapped = true
		s.down()
		s.column = 0
	}
	l := &s.lines[s.row]
	for len(l.cells) < s.column+width {
		l.cells = append(l.cells, cell{char: " "})
	}
	for i := range width {
		l.cells[s.column+i] = cell{style: s.style}
	}
	if width > 0 {
		l.cells[s.column].char = char
	}
	s.column += width
}

func (s *Screen) down() {
	s.row++
	if s.row == len(s.lines) {
		s.lines = append(s.lines, line{})
	}
}

// top is the first line on the screen.
func (s *Screen) top() int { return max(len(s.lines)-s.rows, 0) }

func (s *Screen) sequence(text string) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != '[' {
		return s.other(text)
	}
	n := 2
	for n < len(text) && (text[n] < '@' || text[n] > '~') {
		n++
	}
	if n == len(text) {
		return 0
	}
	s.control(text[2:n], text[n])
	return n + 1
}

// other keeps a sequence that bx has no business with.
func (s *Screen) other(text string) int {
	n := 2
	if text[1] == ']' || text[1] == 'P' {
		end := strings.IndexAny(text[2:], "\a\x1b")
		if end < 0 {
			return 0
		}
		n = end + 3
	}
	s.strange = append(s.strange, fmt.Sprintf("%q", text[:n]))
	return n
}

func (s *Screen) control(args string, final byte) {
	n, err := strconv.Atoi(args)
	if err != nil {
		n = 0
	}
	s.column = min(s.column, s.columns)
	l := &s.lines[s.row]
	switch {
	case final == 'm':
		s.style = strings.TrimLeft(args, "0;")
	case final == 'A':
		s.row = max(s.row-max(n, 1), s.top())
	case final == 'B':
		s.row = min(s.row+max(n, 1), len(s.lines)-1)
	case final == 'C':
		s.column = min(s.column+max(n, 1), s.columns-1)
	case final == 'D':
		s.column = max(s.column-max(n, 1), 0)
	case final == 'K' && n == 0:
		l.cells, l.wrapped = l.cells[:min(s.column, len(l.cells))], false
	case final == 'J' && n == 0:
		l.cells, l.wrapped = l.cells[:min(s.column, len(l.cells))], false
		s.lines = s.lines[:s.row+1]
	case final == 'J' && n == 2:
		for range s.rows {
			s.lines = append(s.lines, line{})
		}
		s.row, s.column = s.top(), 0
	case final == 'H' && args == "":
		s.row, s.column = s.top(), 0
	case (final == 'h' || final == 'l') && args == "?2004":
	default:
		s.strange = append(s.strange, fmt.Sprintf("%q", "\x1b["+args+string(final)))
	}
}

// Resize changes the size and breaks all lines anew, as most terminals do.
func (s *Screen) Resize(columns, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, row, column := s.lines, s.row, s.column
	s.columns, s.rows, s.lines = columns, rows, nil
	var whole []cell
	at := -1 // the cursor in whole
	for i, l := range old {
		if i == row {
			at = len(whole) + column
		}
		whole = append(whole, l.cells...)
		if l.wrapped && i+1 < len(old) {
			continue
		}
		s.wrap(whole, at)
		whole, at = nil, -1
	}
}

// wrap adds a whole line, broken into those of the screen.
func (s *Screen) wrap(whole []cell, at int) {
	for from := 0; ; {
		to := min(from+s.columns, len(whole))
		if to < len(whole) && whole[to].char == "" {
			to--
		}
		s.lines = append(s.lines, line{cells: append([]cell{}, whole[from:to]...), wrapped: to < len(whole)})
		if at >= from && (at < to || to == len(whole)) {
			s.row, s.column = len(s.lines)-1, min(at-from, s.columns)
		}
		if from = to; from >= len(whole) {
			return
		}
	}
}

// String is all that was printed, line by line.
func (s *Screen) String() string { return s.text(false) }

// Styled is String with the styles: ‹1;36›text‹›.
func (s *Screen) Styled() string { return s.text(true) }

func (s *Screen) text(styled bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(strings.TrimRight(l.text(styled), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (l line) text(styled bool) string {
	var b strings.Builder
	style := ""
	for _, c := range l.cells {
		if styled && c.style != style {
			if style != "" {
				b.WriteString("‹›")
			}
			if c.style != "" {
				b.WriteString("‹" + c.style + "›")
			}
			style = c.style
		}
		b.WriteString(c.char)
	}
	if style != "" {
		b.WriteString("‹›")
	}
	return b.String()
}

// Cursor is the line of String and the column that the cursor is at, from 0.
func (s *Screen) Cursor() (row, column int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row, s.column
}

// Strange lists the sequences and control characters that are none of bx's.
func (s *Screen) Strange() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.strange...)
}
