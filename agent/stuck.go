package agent

import "bytes"

// A reply that says the same words again and again for so many bytes, a phrase of
// so many at most, goes on for ever: models that are stuck do not end.
const (
	stuckBytes  = 16 << 10
	stuckPhrase = 1 << 10
)

// stuck watches a text for a phrase that comes again and again.
type stuck struct {
	tail  []byte
	fresh int // bytes since it looked
}

// add reports whether the text repeats itself.
func (s *stuck) add(text string) bool {
	if len(s.tail) > 2*stuckBytes {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-stuckBytes:]...)
	}
	s.tail = append(s.tail, text...)
	if s.fresh += len(text); len(s.tail) < stuckBytes || s.fresh < stuckBytes/4 {
		return false
	}
	s.fresh = 0
	return repeats(s.tail[len(s.tail)-stuckBytes:])
}

// repeats reports whether a text is one short phrase again and again.
func repeats(b []byte) bool { return phrase(b) > 0 }

// phrase is the length of what a text says again and again up to its end, over its
// last stuckBytes at least; 0 is nothing.
func phrase(b []byte) int {
	const end = 64
	if len(b) < stuckBytes {
		return 0
	}
	b = b[len(b)-stuckBytes:]
	n := len(b)
	before := bytes.LastIndex(b[n-end-stuckPhrase:n-1], b[n-end:])
	if before < 0 {
		return 0
	}
	period := stuckPhrase - before
	if !bytes.Equal(b[period:], b[:n-period]) {
		return 0
	}
	return period
}

// unstuck is a text that says its last phrase three times at most.
func unstuck(text string) string {
	period := phrase([]byte(text))
	if period == 0 {
		return text
	}
	from := len(text) - period
	for from > 0 && text[from-1] == text[from-1+period] {
		from--
	}
	return text[:min(from+3*period, len(text))] + "\n[… and so on, again and again]"
}
