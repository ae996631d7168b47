package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// window is the text at hand: what of the model's text is read, and what of that no
// event covers yet.
type window struct {
	all    string          // the text at hand
	src    string          // all, up to where an open call or trial must have ended
	end    bool            // the output ends after src
	pos    int             // src[:pos] is consumed
	done   int             // src[:done] is covered by events
	base   int             // offset of src[0] in the text
	hold   string          // not consumed yet, kept for the next Feed
	prev   byte            // before src[0]
	carry  []byte          // consumed before src[0], not covered yet
	eof    bool            // the text is complete
	cut    bool            // and ended early
	work   int             // bytes looked at
	joined strings.Builder // memory of short texts
}

// add puts more of the text after what was not consumed.
func (w *window) add(s string) {
	if w.hold != "" {
		s = w.join(w.hold, s)
		w.hold = ""
	}
	w.all, w.src, w.pos = s, s, 0
	w.work += len(s)
}

// join is a and b as one string. Short ones share their memory, so that not each of
// many small pieces takes its own.
func (w *window) join(a, b string) string {
	if len(a)+len(b) > maxJoined {
		return a + b
	}
	if w.joined.Cap()-w.joined.Len() < maxJoined {
		w.joined.Reset()
		w.joined.Grow(shares * maxJoined)
	}
	from := w.joined.Len()
	w.joined.WriteString(a)
	w.joined.WriteString(b)
	return w.joined.String()[from:]
}

// maxJoined is how long a text is at most that shares its memory, and shares how many
// such texts one piece of memory has room for.
const (
	maxJoined = 32
	shares    = 8
)

// shift is what was held together with s[:n]; the rest of s is held in its place.
func (w *window) shift(s string, n int) string {
	text := w.join(w.hold, s[:n])
	w.work += len(w.hold)
	w.hold = s[n:]
	return text
}

// advance keeps what was not consumed for the next Feed.
func (w *window) advance() {
	w.carry = append(w.carry, w.all[w.covered():w.pos]...)
	w.hold = w.all[w.pos:]
	if w.pos > 0 {
		w.prev = w.all[w.pos-1]
	}
	w.base += w.pos
	w.all, w.src, w.pos, w.done = "", "", 0, max(w.done-w.pos, 0)
}

// limited makes the text end at an offset, if that is at hand. It reports false
// where all up to there is consumed.
func (w *window) limited(limit int) bool {
	w.src, w.end = w.all, w.eof
	if w.base+len(w.all) <= limit {
		return true
	}
	if w.at() >= limit {
		return false
	}
	w.src, w.end = w.all[:limit-w.base], false
	return true
}

// covered is where the text without an event begins in src. What the prompt
// gave (before offset 0) is no part of the text.
func (w *window) covered() int { return min(max(w.done, -w.base), w.pos) }

// uncovered is the length of what take would give.
func (w *window) uncovered() int { return len(w.carry) + w.pos - w.covered() }

// cover is the text consumed since the last event.
func (w *window) cover() string {
	raw := w.src[w.covered():w.pos]
	w.done = max(w.done, w.pos)
	if len(w.carry) > 0 {
		raw = string(append(w.carry, raw...))
		w.carry = w.carry[:0]
	}
	return raw
}

// consumed is what was consumed from an offset on that no event covers yet.
func (w *window) consumed(from int) string {
	s := w.all[w.covered():w.pos]
	if n := w.at() - from; n <= len(s) {
		return s[len(s)-n:]
	}
	after := w.at() - from - len(s)
	return string(w.carry[len(w.carry)-after:]) + s
}

// skipCold passes over what no closer begins in, in the bytes of earlier chunks.
func (w *window) skipCold(from int, hot *[256]bool) int {
	kept := w.at() - len(w.all[w.covered():w.pos])
	for from < kept && !hot[w.carry[len(w.carry)-(kept-from)]] {
		from++
	}
	return from
}

// uncover goes back to an offset after which no event covers the text any more. raw
// is the text from there on, as far as it was consumed, and prev stands before it.
func (w *window) uncover(start int, raw string, prev byte) {
	w.carry = w.carry[:0]
	if start >= w.base {
		w.pos = start - w.base
		w.done = w.pos
		return
	}
	w.prepend(raw[:w.base-start])
	w.src, w.prev, w.done = w.all, prev, 0
}

// prepend puts text that was consumed before src[0] back there, and goes to its start.
func (w *window) prepend(s string) {
	w.all = s + w.all
	w.src = w.all[:len(s)+len(w.src)]
	w.work += len(w.all)
	w.base, w.pos = w.base-len(s), 0
}

// rest is the text not consumed yet.
func (w *window) rest() string { return w.src[w.pos:] }

// view is what a decision about the text not consumed yet may look at.
func (w *window) view() scan.View { return w.viewAt(w.pos) }

// viewAt is the view from src[i] on.
func (w *window) viewAt(i int) scan.View { return scan.ViewOf(w.src[i:], w.end, &w.work) }

// ended reports that all text was consumed and the output ends here.
func (w *window) ended() bool { return w.end && w.pos == len(w.src) }

// at is the offset of the next byte in the model's text.
func (w *window) at() int { return w.base + w.pos }

// before is the byte in front of the text not consumed yet.
func (w *window) before() byte {
	if w.pos > 0 {
		return w.src[w.pos-1]
	}
	return w.prev
}

// last is the last byte so far: of the text that is kept or, without any, before that.
func (w *window) last() byte {
	if w.hold != "" {
		return w.hold[len(w.hold)-1]
	}
	return w.prev
}

// begins reports whether nothing but one blank stands before.
func (w *window) begins() bool {
	switch w.at() {
	case 0:
		return true
	case 1:
		return w.before() == ' '
	}
	return false
}

// skipBlanks consumes white space; it reports false if more may come.
func (w *window) skipBlanks() bool {
	n, open := scan.Skip(w.rest())
	w.pos += n
	return !open || w.end
}

// wholeRunes is how much of src can be taken without cutting a character in
// two that the next Feed completes.
func (w *window) wholeRunes() int {
	if w.end {
		return len(w.src)
	}
	return max(len(w.src)-halfRune(w.src), w.pos)
}

// halfRune is the length of the unfinished character that s ends in.
func halfRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if b := s[len(s)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
