package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// maxRun is how long a run of tokens at the end may be in bytes. A model that
// writes more has gone astray, and is seen to.
const maxRun = 1 << 10

// tail keeps tokens that end a turn off the end of a reply, before the text is
// read for calls: what stands after a call decides whether it is one. Anywhere
// else they are text, and </s> is, too, where <s> stands before it.
type tail struct {
	hold   string // text that may be the end, or become it
	last   string // up to two bytes of text before
	struck bool   // <s> stood in the text
	loop   bool   // hold is the rest of a run that was too long
}

// idle reports whether nothing before the text to come counts.
func (t *tail) idle() bool { return t.hold == "" && t.last == "" && !t.loop }

// add takes more of the text and gives what is not the end of it.
func (t *tail) add(s string) string {
	marked := strings.IndexByte(s, '<') >= 0
	if t.last != "" || marked {
		t.strike(t.last + s)
	}
	if t.hold == "" && !marked && !t.loop {
		return s // most of a stream: no token can end here
	}
	s = t.hold + s
	at := t.at(s, true)
	t.hold = s[at:]
	if t.loop = t.loop && at == 0; len(t.hold) > maxRun {
		last := strings.LastIndexByte(t.hold, '<')
		at, t.hold, t.loop = at+last, t.hold[last:], true
	}
	return s[:at]
}

// flush gives what is held: something follows that is no text.
func (t *tail) flush() (s string) {
	s, t.hold = t.hold, ""
	return s
}

// end gives the rest of the text, and the tokens after it.
func (t *tail) end() (text, tokens string) {
	s := t.flush()
	if t.loop || t.at(s, false) > 0 {
		return s, ""
	}
	return "", s
}

// feedTail reads more of the text, but for the tokens at its end. One that closes
// the open call in its dialect is text.
func (p *Parser) feedTail(s string) []utp.Event {
	t := &p.through.tail
	p.tries.out = p.tries.out[:0]
	p.run(t.add(s))
	if t.hold != "" && p.cur.open {
		if v := scan.ViewOf(strings.TrimSpace(t.hold), true, &p.work); scan.Fits(p.cur.closers, v) == scan.Yes {
			p.run(t.flush())
		}
	}
	return p.tries.out
}

// strike looks for <s> in the text so far, of which two bytes may begin one.
func (t *tail) strike(seen string) {
	t.struck = t.struck || strings.IndexByte(seen, '>') >= 0 && strings.Contains(seen, "<s>")
	t.last = ""
	for _, head := range []string{"<s", "<"} {
		if strings.HasSuffix(seen, head) {
			t.last = head
		}
	}
}

// at is where the tokens at the end of s begin, the last of them maybe not
// complete yet; the end of s if there are none.
func (t *tail) at(s string, growing bool) int {
	at := len(s)
	if growing {
		at -= unfinished(s)
	}
	for {
		head := s[:at]
		for endsInBlank(head) {
			head = head[:len(head)-1]
		}
		token := t.token(head)
		if token == "" {
			return at
		}
		at = len(head) - len(token)
	}
}

// endsInBlank reports whether s ends in a blank.
func endsInBlank(s string) bool {
	if s == "" {
		return false
	}
	c := s[len(s)-1]
	return c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// unfinished is the length of the end of s that may become a token.
func unfinished(s string) int {
	near := max(len(s)-maxToken, 0)
	i := strings.LastIndexByte(s[near:], '<')
	if i < 0 {
		return 0
	}
	head := s[near+i:]
	for _, t := range chat().ends.list {
		if len(head) < len(t.Text) && t.Text[:len(head)] == head {
			return len(head)
		}
	}
	return 0
}

// maxToken is more than any of them takes.
const maxToken = 64

// token is the one that s ends in, if any.
func (t *tail) token(s string) string {
	if !strings.HasSuffix(s, ">") {
		return ""
	}
	for _, end := range chat().ends.list {
		if strings.HasSuffix(s, end.Text) && !(end.Text == "</s>" && t.struck) {
			return end.Text
		}
	}
	return ""
}
