package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineSoFar is what was read of the line at hand, and of the reply before it, as
// far as it tells whether a call is made there or shown.
type lineSoFar struct {
	start  int               // offset of the line
	head   [maxLineHead]byte // how its words begin
	heads  int               // bytes of that
	last   rune              // the last character of its words; 0: it has none
	touch  bool              // nothing stands after that
	json   bool              // it begins as JSON does, so that its quotes count
	quotes int               // double quotes in its words
	escape bool              // a backslash stands at its end
	first  byte              // its first byte; 0: it has none
	diff   bool              // it stands in a diff
	words  int               // how often words were said in the reply
	mused  int               // as often before thinking closed that nothing had opened
}

// maxLineHead is how much of a line's beginning counts.
const maxLineHead = 32

// pass notes markup and calls, whose text is raw; end is the offset after it.
func (l *lineSoFar) pass(raw string, end int) {
	if at := strings.LastIndexByte(raw, '\n'); at >= 0 {
		l.newLine(end - len(raw) + at + 1)
	}
	if raw != "" {
		l.touch = false
	}
}

// say notes words; end is the offset after them.
func (l *lineSoFar) say(raw string, end int) {
	at := end - len(raw)
	for raw != "" {
		n := strings.IndexByte(raw, '\n')
		if n < 0 {
			l.add(raw)
			return
		}
		l.add(raw[:n])
		if !l.diff && !l.opensDiff() {
			n += l.skip(raw[n:])
		}
		at += n + 1
		l.newLine(at)
		raw = raw[n+1:]
	}
}

// skip passes over whole lines after the one at hand, as far as no diff begins in
// them, and returns the length of raw up to the end of the last. Of them counts
// only whether they hold words.
func (l *lineSoFar) skip(raw string) int {
	n := strings.LastIndexByte(raw, '\n')
	if at := strings.Index(raw[:n], "@@"); at >= 0 {
		n = strings.LastIndexByte(raw[:at], '\n')
	}
	if n <= 0 {
		return 0
	}
	if strings.TrimLeft(raw[:n], " \t\r\n") != "" {
		l.words++
	}
	l.heads, l.first = 0, 0
	return n
}

func (l *lineSoFar) newLine(start int) {
	l.diff = l.diff && l.first != 0 || l.opensDiff()
	*l = lineSoFar{start: start, diff: l.diff, words: l.words, mused: l.mused}
}

// opensDiff reports whether the line begins as the changes of a diff do: "@@".
func (l *lineSoFar) opensDiff() bool { return l.heads > 1 && l.head[0] == '@' && l.head[1] == '@' }

// add notes words within the line.
func (l *lineSoFar) add(s string) {
	if s == "" {
		return
	}
	if l.heads < maxLineHead {
		l.open(s)
	}
	end := len(s)
	for end > 0 && isInLine(s[end-1]) {
		end--
	}
	l.touch = end == len(s)
	if end == 0 {
		return
	}
	if l.last = rune(s[end-1]); l.last >= utf8.RuneSelf {
		l.last, _ = utf8.DecodeLastRuneInString(s[:end])
	}
	l.words++
	if !l.json {
		return
	}
	for i := range len(s) {
		if s[i] == '"' && !l.escape {
			l.quotes++
		}
		l.escape = s[i] == '\\' && !l.escape
	}
}

// open keeps the beginning of the line's words.
func (l *lineSoFar) open(s string) {
	if l.first == 0 {
		l.first = s[0]
		l.diff = l.diff && strings.IndexByte(" +-@\\", s[0]) >= 0
	}
	if l.heads == 0 {
		for s != "" && isInLine(s[0]) {
			s = s[1:]
		}
		l.json = s != "" && (s[0] == '{' || s[0] == '[' || s[0] == '"')
	}
	l.heads += copy(l.head[l.heads:], s)
}

// isInLine reports whether c is a blank within a line.
func isInLine(c byte) bool { return c <= ' ' && (c == ' ' || c == '\t' || c == '\r') }

// begins is how the line's words begin.
func (l *lineSoFar) begins() string { return string(l.head[:l.heads]) }

// spoken reports whether words stand on the line; the sign of a list is none.
func (l *lineSoFar) spoken() bool {
	return l.last != 0 && (l.heads == maxLineHead || !isListSign(strings.TrimRight(l.begins(), " \t\r")))
}

// isListSign reports whether s is "-", "*", "+", "•", "1." or "1)".
func isListSign(s string) bool {
	if s == "-" || s == "*" || s == "+" || s == "•" || s == "–" {
		return true
	}
	digits := strings.TrimLeft(s, "0123456789")
	return len(digits) < len(s) && (digits == "." || digits == ")")
}

// muse notes that all words so far were thinking; at is the offset after them.
func (l *lineSoFar) muse(at int) {
	l.newLine(at)
	l.mused = l.words
}

// touches reports whether a letter stands right before what comes next: no sentence
// has markup without a blank before it. Scripts that write no blanks do not tell.
func (l *lineSoFar) touches() bool { return l.touch && isCased(l.last) }

func isCased(r rune) bool { return unicode.IsLower(r) || unicode.IsUpper(r) }

// leadsIn reports whether words stand on the line that are no whole sentence.
func (l *lineSoFar) leadsIn() bool {
	return l.spoken() && !strings.ContainsRune(".!?:…。！？：．", l.last)
}

// shows reports whether what stands next on the line is shown there: right after
// a quotation mark, in a string of JSON, in a comment, a quotation, a table, a
// log or a diff.
func (l *lineSoFar) shows() bool {
	if l.diff {
		return true
	}
	if l.last == 0 {
		return false
	}
	head := l.begins()
	return l.touch && strings.ContainsRune("\"'“‘„«‹「『", l.last) ||
		l.json && l.quotes%2 == 1 ||
		isAside(head) || isLog(head)
}

// isAside reports whether a line begins as a quotation, a comment, a heading, a
// row of a table or a text in triple quotes.
func isAside(head string) bool {
	for _, sign := range []string{">", "//", "#", "--", "/*", "<!--", "|", `"""`} {
		if strings.HasPrefix(head, sign) {
			return true
		}
	}
	return false
}

// isLog reports whether a line begins with a date, a time or the level of a log.
func isLog(head string) bool {
	head = strings.TrimLeft(head, "[(")
	for _, level := range []string{"TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"} {
		if rest, ok := strings.CutPrefix(head, level); ok && (rest == "" || strings.IndexByte(" \t:]|", rest[0]) >= 0) {
			return true
		}
	}
	for _, form := range []string{"0000-00-00", "0000/00/00", "00:00:00"} {
		if len(head) >= len(form) && hasForm(head, form) {
			return true
		}
	}
	return false
}

// hasForm reports whether s begins with a form in which 0 stands for any digit.
func hasForm(s, form string) bool {
	for i := range len(form) {
		if digit := '0' <= s[i] && s[i] <= '9'; form[i] == '0' != digit || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	return true
}
