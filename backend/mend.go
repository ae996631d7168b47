package backend

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/lenient"
)

// mender repairs the arguments of native calls that are no JSON object. What
// it has passed on of a call's arguments stays a beginning of the final ones:
// from the first place that needs a repair on, it holds them until the end.
type mender struct {
	on   bool
	open map[int]*mending
	out  []utp.Event
}

// mending is a call on its way.
type mending struct {
	start  utp.Call
	reader lenient.Reader
	raw    strings.Builder // all of the arguments so far
	sent   int             // bytes of raw that were passed on
	safe   int             // bytes of raw that no repair will change
	broken bool            // a repair was needed, or the text is not readable
}

func newMender(on bool) *mender { return &mender{on: on, open: map[int]*mending{}} }

// event gives the events to pass on for e, valid until the next call.
func (m *mender) event(e utp.Event) []utp.Event {
	m.out = m.out[:0]
	switch {
	case e.Kind == utp.EventCallStart && e.Call.Source == utp.SourceNative:
		m.open[e.Part] = &mending{start: *e.Call}
	case m.open[e.Part] == nil:
	case e.Kind == utp.EventCallDelta:
		m.delta(m.open[e.Part], e)
		return m.out
	case e.Kind == utp.EventCallEnd:
		m.rest(m.open[e.Part], e.Part, string(e.Call.Args))
		delete(m.open, e.Part)
	case e.Kind == utp.EventProblem:
		c := m.open[e.Part]
		delete(m.open, e.Part)
		if call, ok := m.repair(c, e.Problem); ok {
			m.rest(c, e.Part, string(call.Args))
			e = utp.Event{Kind: utp.EventCallEnd, Part: e.Part, Call: &call}
		}
	}
	m.out = append(m.out, e)
	return m.out
}

// delta passes on what is sure to stay.
func (m *mender) delta(c *mending, e utp.Event) {
	base := c.raw.Len()
	c.raw.WriteString(e.Text)
	for s := e.Text; !c.broken; {
		t, n := c.reader.Next(s)
		s = s[n:]
		c.broken = t.Kind == lenient.Fail || len(c.reader.Fixes()) > 0
		if t.Kind == lenient.More || t.Kind == lenient.Done || c.broken {
			break
		}
		c.safe = max(c.safe, t.End())
	}
	c.safe = min(c.safe, base+len(e.Text))
	m.rest(c, e.Part, c.raw.String()[:c.safe])
}

// rest passes on what args has beyond what was passed on.
func (m *mender) rest(c *mending, part int, args string) {
	if len(args) > c.sent {
		m.out = append(m.out, utp.Event{Kind: utp.EventCallDelta, Part: part, Text: args[c.sent:]})
		c.sent = len(args)
	}
}

// repair makes a call of a problem if its arguments can be read without
// inventing any. What was cut off or is not about arguments stays a problem.
func (m *mender) repair(c *mending, p *utp.Problem) (utp.Call, bool) {
	call := c.start
	if !m.on || p.Kind != utp.ProblemMalformed {
		return call, false
	}
	args, fixes, ok := lenient.Object(p.Raw, lenient.Options{})
	if !ok {
		return call, false
	}
	full, ok := extend(c.raw.String()[:c.sent], string(args))
	if !ok {
		return call, false
	}
	call.Args, call.RawArgs, call.Fixes = json.RawMessage(full), p.Raw, utp.Fixes(fixes)
	return call, true
}

// extend gives JSON that equals args and begins with sent, where the two
// differ in white space only.
func extend(sent, args string) (string, bool) {
	i, inText := 0, false
	for k := 0; k < len(sent); k++ {
		if !inText && blank(sent[k]) {
			continue
		}
		for !inText && i < len(args) && blank(args[i]) {
			i++
		}
		if i >= len(args) || args[i] != sent[k] {
			return "", false
		}
		if sent[k] == '\\' && inText && k+1 < len(sent) {
			k, i = k+1, i+1
			if i >= len(args) || args[i] != sent[k] {
				return "", false
			}
		} else if sent[k] == '"' {
			inText = !inText
		}
		i++
	}
	return sent + args[i:], true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
