package history

import (
	"strconv"

	"github.com/unifiedtoolprotocol/utp"
)

// Sent is a message on its way out. It may be made of several of the request, or
// of a part of one; Path and At say where in the request it stood, so that a loss
// names a place that its reader finds.
type Sent struct {
	utp.Message
	Path string   // "messages[2]"; "" for one that was added
	At   []string // of each part: "messages[2].parts[0]"
}

func messagePath(i int) string { return "messages[" + strconv.Itoa(i) + "]" }

func partPath(i, k int) string { return partOf(messagePath(i), k) }

func partOf(message string, k int) string { return message + ".parts[" + strconv.Itoa(k) + "]" }

// put adds a part that stood at a place.
func (s *Sent) put(at string, p utp.Part) { s.Parts, s.At = append(s.Parts, p), append(s.At, at) }

// Joined has a text behind a text as a line of its own in it, for providers that
// read the texts of a turn as one.
func (s Sent) Joined() Sent {
	out := Sent{Path: s.Path, Message: utp.Message{Role: s.Role, Extra: s.Extra}}
	for k, p := range s.Parts {
		n := len(out.Parts) - 1
		if now, ok := p.(utp.Text); ok && n >= 0 && len(now.Extra) == 0 {
			if before, ok := out.Parts[n].(utp.Text); ok && len(before.Extra) == 0 {
				out.Parts[n] = utp.Text{Text: before.Text + "\n" + now.Text}
				continue
			}
		}
		out.put(s.At[k], p)
	}
	return out
}

// join adds what another message says. Of the assistant a text behind a text is a
// line of its own in it: the texts of a reply are read as one.
func (s *Sent) join(more Sent) {
	n := len(s.Parts)
	s.Parts = append(s.Parts[:n:n], more.Parts...)
	s.At = append(s.At[:n:n], more.At...)
	a, text := s.Parts[n-1].(utp.Text)
	b, after := s.Parts[n].(utp.Text)
	if s.Role == utp.RoleAssistant && text && after && len(a.Extra)+len(b.Extra) == 0 {
		s.Parts[n-1] = utp.Text{Text: a.Text + "\n" + b.Text}
		s.Parts, s.At = append(s.Parts[:n], s.Parts[n+1:]...), append(s.At[:n], s.At[n+1:]...)
	}
	if s.Extra == nil {
		s.Extra = more.Extra
	}
}
