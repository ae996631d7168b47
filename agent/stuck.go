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
func repeats(b []byte) bool {
	n := len(b)
	const end = 64
	before := bytes.LastIndex(b[n-end-stuckPhrase:n-1], b[n-end:])
	if before < 0 {
		return false
	}
	period := stuckPhrase - before
	return period > 0 && bytes.Equal(b[period:], b[:n-period])
}
