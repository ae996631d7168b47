package agent

import (
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// ids gives every call of a conversation an id of its own.
type ids struct {
	turn string
	n    int
	used map[string]bool
}

func newIDs(turn string, ms []utp.Message) *ids {
	s := &ids{turn: turn, used: map[string]bool{}}
	for _, m := range ms {
		for _, c := range m.Calls() {
			s.used[c.ID] = true
		}
	}
	return s
}

// fix keeps a given id, unless another call has it, and else makes
// "call_<turn>_<n>". OrigID remembers an id that had to go.
func (s *ids) fix(c *utp.Call) {
	if c.ID == "" || s.used[c.ID] {
		if c.OrigID == "" {
			c.OrigID = c.ID
		}
		c.ID = s.next()
	}
	s.used[c.ID] = true
}

func (s *ids) next() string {
	for {
		s.n++
		if id := fmt.Sprintf("call_%s_%d", s.turn, s.n); !s.used[id] {
			return id
		}
	}
}

// inOrder puts the calls of a message in the order to run, native ones before
// those found in text, and lists them. Other parts keep their places.
func inOrder(m *utp.Message) []utp.Call {
	calls := m.Calls()
	slices.SortStableFunc(calls, func(a, b utp.Call) int { return rank(a) - rank(b) })
	parts, next := slices.Clone(m.Parts), 0
	for i, p := range parts {
		if _, ok := p.(utp.Call); ok {
			parts[i] = calls[next]
			next++
		}
	}
	m.Parts = parts
	return calls
}

func rank(c utp.Call) int {
	if c.FromText() {
		return 1
	}
	return 0
}

// withoutCalls is the message less its calls.
func withoutCalls(m utp.Message) utp.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p utp.Part) bool {
		_, call := p.(utp.Call)
		return call
	})
	return m
}
