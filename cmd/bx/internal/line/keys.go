package line

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// key is what was pressed: text, a control character as "ctrl-a", or a name.
type key struct {
	name string // "" for text
	text string // what was typed or pasted
}

// The names of keys that are no control characters.
const (
	pasted = "paste"
	escape = "escape"
)

// sequences are what terminals send for keys, behind ESC. Sources: xterm's
// ctlseqs, the Linux console, rxvt, and the keyboard protocol of kitty.
var sequences = map[string]string{
	"[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[F": "end",
	"OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home", "OF": "end",
	"[1~": "home", "[7~": "home", "[4~": "end", "[8~": "end", "[3~": "delete", "[Z": "shift-tab",
	"[1;5C": "word-right", "[1;5D": "word-left", "[1;3C": "word-right", "[1;3D": "word-left", "Oc": "word-right", "Od": "word-left",
	"[1;5H": "top", "[1;5F": "bottom", "[1;5A": "up", "[1;5B": "down",
	"f": "word-right", "b": "word-left", "d": "delete-word", "\x7f": "ctrl-w", "\b": "ctrl-w", "<": "top", ">": "bottom",
	"\r": "newline", "\n": "newline", "[13;2u": "newline", "[13;3u": "newline", "[13;5u": "newline", "[27;2;13~": "newline", "[27;5;13~": "newline",
	"OM": "ctrl-m", "[27u": escape, "[13u": "ctrl-m",
}

const pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"

// maxPaste bounds what is held of a paste whose end does not come.
const maxPaste = 4 << 20

// decoder finds the keys in what a terminal sends.
type decoder struct{ held []byte }

// waits reports that the beginning of something is held: an escape that may be a
// key by itself.
func (d *decoder) waits() bool { return len(d.held) > 0 }

// feed takes bytes and gives the keys that are whole. over: what is held will not
// go on.
func (d *decoder) feed(b []byte, over bool) (keys []key) {
	d.held = append(d.held, b...)
	for len(d.held) > 0 {
		k, n := next(d.held, over)
		if n == 0 {
			return keys
		}
		d.held = d.held[n:]
		if k != (key{}) {
			keys = append(keys, k)
		}
	}
	return keys
}

// next reads a key off b. n is 0 where more has to come; a key without name and
// text means nothing.
func next(b []byte, over bool) (k key, n int) {
	switch c := b[0]; {
	case bytes.HasPrefix(b, []byte(pasteBegins)):
		return paste(b, over)
	case c == 0x1b:
		return sequence(b, over)
	case c == 0x7f:
		return key{name: "backspace"}, 1
	case c == '\t':
		return key{name: "tab"}, 1
	case c == '\n':
		return key{name: "newline"}, 1
	case c < ' ':
		return key{name: "ctrl-" + strings.ToLower(string(c+'@'))}, 1
	case !utf8.FullRune(b) && !over:
		return key{}, 0
	}
	for n < len(b) && b[n] >= ' ' && b[n] != 0x7f && (utf8.FullRune(b[n:]) || over) {
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return key{text: string(b[:n])}, n
}

func paste(b []byte, over bool) (key, int) {
	text, _, ends := bytes.Cut(b[len(pasteBegins):], []byte(pasteEnds))
	switch {
	case ends:
		return key{pasted, string(text)}, len(pasteBegins) + len(text) + len(pasteEnds)
	case over && len(b) > maxPaste:
		return key{pasted, string(text)}, len(b)
	}
	return key{}, 0
}

// sequence reads what begins with ESC. An unknown one of the usual form is
// skipped whole, so that none of it becomes text.
func sequence(b []byte, over bool) (key, int) {
	if len(b) == 1 {
		if over {
			return key{name: escape}, 1
		}
		return key{}, 0
	}
	n := 2
	switch b[1] {
	case '[':
		for n < len(b) && (b[n] < '@' || b[n] > '~') {
			n++
		}
		n++
	case 'O':
		n = 3
	case 0x1b:
		return key{name: escape}, 1
	default:
		if !utf8.FullRune(b[1:]) && !over {
			return key{}, 0
		}
		_, size := utf8.DecodeRune(b[1:])
		n = 1 + size
	}
	if n > len(b) {
		if over {
			return key{}, len(b)
		}
		return key{}, 0
	}
	return key{name: sequences[string(b[1:n])]}, n
}
