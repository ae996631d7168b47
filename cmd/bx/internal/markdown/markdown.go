// Package markdown shows Markdown on a terminal while it is being written: word
// by word, each once, nothing is drawn again. What it cannot know before the end
// of a line (is it a table, does the asterisk close?) waits for that end.
package markdown

import (
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer renders what is written to it. The text must hold no control characters.
type Writer struct {
	Out     io.Writer
	Columns func() int // of the terminal

	line   string // of the source, not rendered yet
	begun  bool   // the beginning of the line is rendered
	fence  string // what ends the code that is open
	table  []string
	style  string // of the text: of a heading, a quotation, emphasis
	before rune   // the character before what is next in the line
	wrap   wrapper
}

// Styles of Select Graphic Rendition.
const (
	bold, dim, italic, underlined, struck = "1", "2", "3", "4", "9"
	heading, code, link, marker           = "1;36", "36", "4;34", "2"
)

// Write renders more of a text.
func (w *Writer) Write(b []byte) (int, error) {
	w.line += string(b)
	for {
		line, rest, whole := strings.Cut(w.line, "\n")
		if !whole {
			break
		}
		w.line = rest
		w.end(line)
	}
	if w.line != "" {
		w.part()
	}
	return len(b), w.flush()
}

// Break ends the line that is under way, as if a newline had come, for something
// else to be printed. A code block stays open.
func (w *Writer) Break() error {
	if w.line != "" || w.begun {
		line := w.line
		w.line = ""
		w.end(line)
	}
	w.tables()
	return w.flush()
}

// Reset is Break before another text.
func (w *Writer) Reset() error {
	err := w.Break()
	w.fence = ""
	return err
}

func (w *Writer) flush() error {
	if w.wrap.out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(w.Out, w.wrap.out.String())
	w.wrap.out.Reset()
	return err
}

// syntax is how lines begin. It is compiled when something is shown.
type syntax struct {
	fence, heading, rule, item, quote, blanks *regexp.Regexp

	undecided *regexp.Regexp // the beginning of a line that may become any of these
}

var lines = sync.OnceValue(func() *syntax {
	return &syntax{
		fence:     regexp.MustCompile("^ {0,12}(`{3,}|~{3,})([^`]*)$"),
		heading:   regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$`),
		rule:      regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`),
		item:      regexp.MustCompile(`^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(\[[ xX]\][ \t])?`),
		quote:     regexp.MustCompile(`^ {0,3}((?:>[ \t]?)+)`),
		blanks:    regexp.MustCompile(`^[ \t]*`),
		undecided: regexp.MustCompile("^[ \\t]*(?:[-+*_=#>|`~ \\t]*|\\d{1,9}[.)]?[ \\t]*|[-*+] +(?:\\[[ xX]?\\]?)?|\\d{1,9}[.)] +(?:\\[[ xX]?\\]?)?)$"),
	}
})

// end renders the end of a line.
func (w *Writer) end(line string) {
	if w.begun {
		w.inline(line, true)
		w.finish()
		return
	}
	switch f := lines().fence.FindStringSubmatch(line); {
	case w.fence != "":
		w.inFence(line)
		return
	case f != nil:
		w.tables()
		w.fence = f[1]
		w.verbatim(dim, strings.TrimRight(line, " \t"))
		return
	case strings.HasPrefix(strings.TrimSpace(line), "|"):
		w.table = append(w.table, line)
		return
	}
	w.tables()
	switch h := lines().heading.FindStringSubmatch(line); {
	case h != nil:
		w.style = heading
		w.open("")
		w.inline(h[2], true)
	case lines().rule.MatchString(line):
		w.wrap.begin(0, "")
		w.wrap.word(dim, strings.Repeat("─", min(max(w.columns()-1, 3), 60)))
	default:
		w.inline(w.begin(line), true)
	}
	w.finish()
}

func (w *Writer) finish() {
	w.wrap.newline()
	w.begun, w.style = false, ""
}

// part renders what is certain of a line that is not over.
func (w *Writer) part() {
	if !w.begun {
		if w.fence != "" || lines().undecided.MatchString(w.line) || strings.HasPrefix(strings.TrimSpace(w.line), "|") ||
			lines().heading.MatchString(w.line) || lines().fence.MatchString(w.line) || lines().rule.MatchString(w.line) {
			return
		}
		w.tables()
		w.line = w.begin(w.line)
		w.begun = true
	}
	w.line = w.inline(w.line, false)
}

// begin renders what stands before the text of a line, and returns the text.
func (w *Writer) begin(line string) string {
	if q := lines().quote.FindString(line); q != "" {
		bars := strings.Repeat("│ ", strings.Count(q, ">"))
		w.open(bars)
		w.wrap.word(marker, bars)
		w.style = dim
		return line[len(q):]
	}
	if m := lines().item.FindStringSubmatch(line); m != nil {
		sign := m[2]
		if strings.Contains("-*+", sign) {
			sign = "•"
		}
		switch strings.TrimSpace(m[3]) {
		case "":
		case "[ ]":
			sign += " ☐"
		default:
			sign += " ☑"
		}
		head := strings.ReplaceAll(m[1], "\t", "    ")
		w.open(head + strings.Repeat(" ", len([]rune(sign))+1))
		w.wrap.word("", head)
		w.wrap.word(marker, sign+" ")
		return line[len(m[0]):]
	}
	lead := lines().blanks.FindString(line)
	head := strings.ReplaceAll(lead, "\t", "    ")
	w.open(head)
	w.wrap.word("", head)
	return line[len(lead):]
}

// open begins a line of text; indent is that of its further rows.
func (w *Writer) open(indent string) {
	w.wrap.begin(w.columns(), indent)
	w.before = ' '
}

// inFence renders a line of code, which is never broken: it can be copied.
func (w *Writer) inFence(line string) {
	t := strings.TrimSpace(line)
	if len(t) >= len(w.fence) && strings.Trim(t, w.fence[:1]) == "" {
		w.fence = ""
		w.verbatim(dim, t)
		return
	}
	w.verbatim(code, line)
}

func (w *Writer) verbatim(style, line string) {
	w.wrap.begin(0, "")
	w.wrap.word(style, line)
	w.wrap.newline()
}

func (w *Writer) columns() int {
	if w.Columns == nil {
		return 80
	}
	return max(w.Columns(), 10)
}

// inline renders the text of a line as far as it is certain, and returns the rest.
// over: the line has ended.
func (w *Writer) inline(s string, over bool) (rest string) {
	for s != "" {
		n := w.span(s, over)
		switch {
		case n > 0:
			w.before, s = 'x', s[n:]
			continue
		case n < 0 && !over && len(s) < maxSpan:
			return s
		}
		text := s[:textEnd(s)]
		if !over && len(text) == len(s) { // the last word may go on
			text = text[:strings.LastIndexFunc(text, unicode.IsSpace)+1]
		}
		if text == "" {
			return s
		}
		w.wrap.text(w.style, text)
		w.before, _ = utf8.DecodeLastRuneInString(text)
		s = s[len(text):]
	}
	return ""
}

// textEnd is where the next character stands that may mean something; the first
// does not.
func textEnd(s string) int {
	if i := strings.IndexAny(s[1:], "`*_~[\\"); i >= 0 {
		return i + 1
	}
	return len(s)
}
