package line

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

// maxText bounds what is edited.
const maxText = 1 << 20

// buffer is the text that is edited. The cursor stands between two characters,
// as a reader sees them.
type buffer struct {
	text string
	at   int    // the cursor, in bytes
	cut  string // what was deleted last, for ctrl-y
	past []saved
}

type saved struct {
	text string
	at   int
}

// maxPast is how many changes ctrl-_ takes back.
const maxPast = 200

func (b *buffer) undo() {
	if n := len(b.past); n > 0 {
		b.text, b.at = b.past[n-1].text, b.past[n-1].at
		b.past = b.past[:n-1]
	}
}

func (b *buffer) set(text string) { b.text, b.at = text, len(text) }

// insert puts text at the cursor and reports whether there was room.
func (b *buffer) insert(s string) bool {
	if len(b.text)+len(s) > maxText {
		return false
	}
	b.text = b.text[:b.at] + s + b.text[b.at:]
	b.at += len(s)
	return true
}

// remove deletes from one place to another and leaves the cursor there.
func (b *buffer) remove(from, to int) {
	from, to = min(from, to), max(from, to)
	b.text, b.at = b.text[:from]+b.text[to:], from
}

// kill is remove that keeps what was deleted.
func (b *buffer) kill(to int) {
	from, to := min(b.at, to), max(b.at, to)
	if from < to {
		b.cut = b.text[from:to]
		b.remove(from, to)
	}
}

// left is the place one character before the cursor.
func (b *buffer) left() int {
	begin := b.home()
	if begin == b.at {
		return max(b.at-1, 0)
	}
	at := begin
	for rest := b.text[begin:b.at]; ; {
		char, more, _ := cells.Next(rest)
		if more == "" {
			return at
		}
		at, rest = at+len(char), more
	}
}

// right is the place one character behind the cursor.
func (b *buffer) right() int {
	if b.at == len(b.text) {
		return b.at
	}
	char, _, _ := cells.Next(b.text[b.at:])
	return b.at + len(char)
}

// home and end are those of the cursor's line.
func (b *buffer) home() int { return strings.LastIndexByte(b.text[:b.at], '\n') + 1 }

func (b *buffer) end() int {
	if i := strings.IndexByte(b.text[b.at:], '\n'); i >= 0 {
		return b.at + i
	}
	return len(b.text)
}

func (b *buffer) wordLeft() int {
	at := b.at
	back := func(word bool) {
		for at > 0 {
			r, n := utf8.DecodeLastRuneInString(b.text[:at])
			if inWord(r) != word {
				return
			}
			at -= n
		}
	}
	back(false)
	back(true)
	return at
}

func (b *buffer) wordRight() int {
	at := b.at
	on := func(word bool) {
		for at < len(b.text) {
			r, n := utf8.DecodeRuneInString(b.text[at:])
			if inWord(r) != word {
				return
			}
			at += n
		}
	}
	on(false)
	on(true)
	return at
}

// blankLeft is where the word before the cursor begins, words being what stands
// between blanks.
func (b *buffer) blankLeft() int {
	head := strings.TrimRightFunc(b.text[:b.at], unicode.IsSpace)
	return strings.LastIndexFunc(head, unicode.IsSpace) + 1
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// vertical is the place in the line above (by -1) or below (by 1), and whether
// there is one.
func (b *buffer) vertical(by int) (int, bool) {
	begin, end := b.home(), b.end()
	column := cells.Width(b.text[begin:b.at])
	switch {
	case by < 0 && begin == 0, by > 0 && end == len(b.text):
		return b.at, false
	case by < 0:
		end = begin - 1
		begin = strings.LastIndexByte(b.text[:end], '\n') + 1
	default:
		begin = end + 1
		end = len(b.text)
		if i := strings.IndexByte(b.text[begin:], '\n'); i >= 0 {
			end = begin + i
		}
	}
	if column == 0 {
		return begin, true
	}
	head, _ := cells.Split(b.text[begin:end], column)
	return begin + len(head), true
}

// fenceOpen reports whether a fence of ``` has no end yet.
func fenceOpen(text string) (open bool) {
	for l := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(l, " "), "```") {
			open = !open
		}
	}
	return open
}
