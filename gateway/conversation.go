package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// resume prepends the conversation that a request continues. The front has already
// checked that the body is an object with the right fields.
func (x *exchange) resume(body []byte) error {
	if x.door != responsesDoor {
		return nil
	}
	var previous string
	var background bool
	store, own := true, fieldsOf(body)
	for name, to := range map[string]any{"previous_response_id": &previous, "background": &background, "store": &store} {
		_ = json.Unmarshal(own[name], to) // a missing or null field changes nothing
	}
	x.keep = store
	want := "the conversation in input or by previous_response_id"
	switch given := own["conversation"]; {
	case len(given) > 0 && string(given) != "null":
		return &wire.InputError{Path: "conversation", Offset: -1, Want: want}
	case background:
		return &wire.InputError{Path: "background", Offset: -1, Want: "false: replies are not made in the background here"}
	case previous == "":
		return nil
	}
	found, err := x.fetch(place{"response", previous})
	if err != nil && !x.Away.Forget {
		return denial503("state_away", "what is kept of conversations cannot be reached now: ask again in a moment, or send the whole conversation in input")
	}
	e := found[0]
	if e == nil {
		return &wire.Error{Status: http.StatusNotFound, Code: "previous_response_not_found",
			Message: "previous_response_id: this response is not kept here (any more): send the whole conversation in input"}
	}
	x.request.Messages = continued(e.messages, x.request.Messages)
	x.report.Conversation = record.ConversationOf(x.request)
	x.request.Extra = without(x.request.Extra, "previous_response_id")
	return nil
}

// continued returns a conversation with more messages. Only the new instructions
// apply, and they come first.
func continued(old, more []utp.Message) []utp.Message {
	first := 0
	for first < len(more) && more[first].Role == utp.RoleSystem {
		first++
	}
	return slices.Concat(more[:first], old, more[first:])
}

// without returns an Extra without a field of Responses.
func without(extra json.RawMessage, field string) json.RawMessage {
	var all, own map[string]json.RawMessage
	if json.Unmarshal(extra, &all) != nil || json.Unmarshal(all[responsesAPI], &own) != nil {
		return extra
	}
	delete(own, field)
	var err error
	if all[responsesAPI], err = marshal(own); err != nil {
		return nil
	}
	out, err := marshal(all)
	if err != nil {
		return nil
	}
	return out
}

// remember keeps what later turns need: what the provider sent with the calls of the
// reply, their form, and the conversation including the reply.
func (x *exchange) remember(reply utp.Reply) {
	all := append(x.callsToKeep(reply), x.formsToKeep(x.calls)...)
	if x.keep && len(reply.Parts) > 0 {
		all = append(all, x.turnToKeep(reply))
	}
	x.store(all...)
}

func (x *exchange) turnToKeep(reply utp.Reply) *kept {
	var ms []utp.Message
	for _, m := range append(slices.Clone(x.request.Messages), asSent(reply.Message)) {
		if m.Role != utp.RoleSystem {
			ms = append(ms, m)
		}
	}
	return &kept{place: place{"response", x.stamp().ID}, size: measure(ms), messages: ms}
}

// asSent returns the model's message as a client sends it back, so that a conversation
// goes on the same way whoever kept it.
func asSent(m utp.Message) utp.Message {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if c, ok := p.(utp.Call); ok {
			c.Source = utp.SourceNative
			m.Parts[i] = c
		}
	}
	return m
}

// callsToKeep returns what the provider expects back with its calls, for clients whose
// API has no field for it. Each is kept under the conversation and the id, as ids may
// repeat, and under the id alone, as clients shorten conversations.
func (x *exchange) callsToKeep(reply utp.Reply) (out []*kept) {
	if !x.door.forgets {
		return nil
	}
	var thoughts []utp.Part
	for _, p := range reply.Parts {
		switch p := p.(type) {
		case utp.Think:
			if p.Signature != "" || p.Redacted || p.ItemID != "" || len(p.Extra) > 0 {
				thoughts = append(thoughts, p)
			}
		case utp.Call:
			if len(thoughts) > 0 || len(p.Extra) > 0 {
				size := measure([]utp.Message{{Parts: append([]utp.Part{p}, thoughts...)}})
				for _, before := range []string{digest("", x.request.Messages...), ""} {
					out = append(out, &kept{place: place{"call", before + p.ID}, thoughts: thoughts, call: p, size: size / 2})
				}
			}
			thoughts = nil
		}
	}
	return out
}

// recall restores what was kept for the calls of the history.
func (x *exchange) recall() {
	if !x.door.forgets || x.State == nil && x.gate.kept.empty() {
		return
	}
	var places []place // two for each call: under the conversation, and under the id alone
	before := ""
	for _, m := range x.request.Messages {
		if m.Role == utp.RoleAssistant {
			for _, c := range m.Calls() {
				places = append(places, place{"call", before + c.ID}, place{"call", c.ID})
			}
		}
		before = digest(before, m)
	}
	if len(places) == 0 {
		return
	}
	found, _ := x.fetch(places...) // on an error the conversation goes on as it came
	for i := range x.request.Messages {
		if m := &x.request.Messages[i]; m.Role == utp.RoleAssistant {
			n := 2 * len(m.Calls())
			m.Parts = recalled(m.Parts, found[:n])
			found = found[n:]
		}
	}
}

// digest returns the hash of a conversation from the hash of its beginning and the
// messages since. It ignores instructions and what clients may leave out.
func digest(before string, more ...utp.Message) string {
	for _, m := range more {
		if m.Role == utp.RoleSystem {
			continue
		}
		sum := sha256.New()
		fmt.Fprintf(sum, "%s %s %d\n", before, m.Role, len(m.Results()))
		for _, p := range m.Parts {
			switch p := p.(type) {
			case utp.Text:
				fmt.Fprintf(sum, "text %s\n", p.Text)
			case utp.Call:
				fmt.Fprintf(sum, "call %s %s %s\n", p.ID, p.Name, p.Args)
			case utp.Result:
				fmt.Fprintf(sum, "result %s %s\n", p.CallID, p.Text())
			}
		}
		before = string(sum.Sum(nil))
	}
	return before
}

// recalled returns parts with what was kept for each call, in place of the reasoning
// that the client sent with it. found has two entries for each call.
func recalled(parts []utp.Part, found []*kept) (out []utp.Part) {
	since := 0 // where the parts of the next call begin
	for _, p := range parts {
		c, ok := p.(utp.Call)
		if !ok {
			out = append(out, p)
			continue
		}
		e := cmp.Or(found[0], found[1])
		found = found[2:]
		if e != nil && e.call.Name == c.Name {
			if len(e.thoughts) > 0 {
				said := slices.DeleteFunc(slices.Clone(out[since:]), isThought)
				out = slices.Concat(out[:since], e.thoughts, said)
			}
			c.Extra = both(c.Extra, e.call.Extra)
		}
		out = append(out, c)
		since = len(out)
	}
	return out
}

// both returns a call's Extra merged with the kept one.
func both(own, kept json.RawMessage) json.RawMessage {
	if len(own) == 0 || len(kept) == 0 {
		return slices.Concat(own, kept)
	}
	all := map[string]json.RawMessage{}
	if json.Unmarshal(kept, &all) != nil || json.Unmarshal(own, &all) != nil { // own takes precedence
		return own
	}
	out, err := marshal(all)
	if err != nil {
		return own
	}
	return out
}

func isThought(p utp.Part) bool { _, ok := p.(utp.Think); return ok }
