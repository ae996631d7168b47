package transcript

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// What stands in a conversation where a turn broke off.
const (
	interrupted = "interrupted; it may have run: look before you repeat it"
	notRun      = "not run: the turn was interrupted before it"
	cutOff      = "[cut off here: the turn was interrupted]"
	noAnswer    = "[no answer: the turn was interrupted]"
)

// Messages is the conversation of a log, as a model can be sent it: every call
// has one result, in call order. Of a turn without its end, what was finished
// stays; a call that had started and one that waited get results that say so;
// words that were cut stay and are marked; unfinished reasoning goes.
func Messages(log []Entry) []utp.Message {
	var c conversation
	for i := range log {
		c.take(&log[i])
	}
	c.breakOff()
	return c.out
}

// conversation is a log read so far.
type conversation struct {
	out     []utp.Message
	open    bool            // a turn has begun and not ended
	pieces  strings.Builder // of the reply that is under way
	calls   []utp.Call      // of the last reply; their results are not in out yet
	begun   map[string]bool // calls that started
	results map[string]utp.Result
}

func (c *conversation) take(e *Entry) {
	switch e.Kind {
	case Question:
		c.breakOff()
		c.add(e.Message)
		c.open = true
	case Request:
		c.settle()
		c.pieces.Reset()
	case Text:
		c.pieces.WriteString(e.Text)
	case Reply:
		c.reply(e.Message)
	case Call:
		if e.Call != nil && e.Decision == Allowed && c.begun != nil {
			c.begun[e.Call.ID] = true
		}
	case Result:
		if e.Result != nil && c.results != nil {
			c.results[e.Result.CallID] = *e.Result
		}
	case Note:
		c.note(e.Text)
	case Message:
		c.settle()
		c.add(e.Message)
		c.open = false
	case End:
		c.end(e.Reason)
	}
}

func (c *conversation) add(m *utp.Message) {
	if m != nil && len(m.Parts) > 0 {
		c.out = append(c.out, *m)
	}
}

func (c *conversation) reply(m *utp.Message) {
	c.settle()
	c.pieces.Reset()
	c.add(m)
	if m != nil {
		c.calls, c.begun, c.results = m.Calls(), map[string]bool{}, map[string]utp.Result{}
	}
}

// note adds words to the result of the last call.
func (c *conversation) note(text string) {
	if len(c.calls) == 0 {
		return
	}
	id := c.calls[len(c.calls)-1].ID
	r, ok := c.results[id]
	if !ok {
		return
	}
	r.Parts = append(append([]utp.Part{}, r.Parts...), utp.Text{Text: text})
	c.results[id] = r
}

// settle adds the results of the last reply's calls.
func (c *conversation) settle() {
	if len(c.calls) == 0 {
		return
	}
	m := utp.Message{Role: utp.RoleTool}
	for _, call := range c.calls {
		r, ok := c.results[call.ID]
		switch {
		case ok:
		case c.begun[call.ID]:
			r = utp.TextResult(call, utp.StatusFailed, interrupted)
		default:
			r = utp.TextResult(call, utp.StatusDenied, notRun)
		}
		m.Parts = append(m.Parts, r)
	}
	c.out, c.calls = append(c.out, m), nil
}

func (c *conversation) end(why Reason) {
	if why != Answered {
		c.breakOff()
		return
	}
	c.settle()
	c.pieces.Reset()
	c.open = false
}

// breakOff closes a turn that did not end with an answer.
func (c *conversation) breakOff() {
	if !c.open {
		return
	}
	c.settle()
	text := strings.TrimSpace(c.pieces.String())
	switch n := len(c.out); {
	case text != "":
		m := utp.NewText(utp.RoleAssistant, text+"\n"+cutOff)
		c.add(&m)
	case n > 0 && c.out[n-1].Role != utp.RoleAssistant:
		m := utp.NewText(utp.RoleAssistant, noAnswer)
		c.add(&m)
	}
	c.pieces.Reset()
	c.open = false
}
