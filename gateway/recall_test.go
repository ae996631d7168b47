package gateway_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
)

// What a provider wants to see again of its reasoning and calls it sees again
// where it stood, whatever API the client speaks.
//
// contract: F-09
func TestReasoningComesBackWhereItStood(t *testing.T) {
	var evs []utp.Event
	for i, signature := range []string{"c2lnMQ==", "c2lnMg=="} {
		c := &utp.Call{ID: fmt.Sprintf("toolu_%d", i), Name: "list_cities", Args: []byte(`{}`)}
		evs = append(evs,
			utp.Event{Kind: utp.EventWhole, Part: 2 * i, Value: utp.Think{Text: "Hm.", Signature: signature, Provider: "anthropic", Model: "m"}},
			utp.Event{Kind: utp.EventCallStart, Part: 2*i + 1, Call: &utp.Call{ID: c.ID, Name: c.Name}},
			utp.Event{Kind: utp.EventCallDelta, Part: 2*i + 1, Text: "{}"}, utp.Event{Kind: utp.EventCallEnd, Part: 2*i + 1, Call: c})
	}
	evs = append(evs, utp.Event{Kind: utp.EventFinish, Part: 4, End: &utp.End{Stop: utp.StopTool}})
	for _, client := range []string{"openai", "responses", "anthropic", "ollama", "gemini"} {
		for _, stream := range []bool{false, true} {
			a := apiNamed(client)
			m := newModel(apiNamed("anthropic"), func(turn int, _ *utp.Request) []utp.Event {
				if turn > 1 {
					return says("Done.")
				}
				return evs
			})
			url := start(t, m, backend.Config{Provider: "anthropic"})
			q := &utp.Request{Model: "m", Stream: stream, Messages: []utp.Message{utp.NewText(utp.RoleUser, "All.")}, Tools: tools}
			reply, err := a.ask(t, url, q)
			if err != nil {
				t.Fatal(client, err)
			}
			if client != "anthropic" && client != "gemini" { // a client that keeps no reasoning
				reply.Parts = slices.DeleteFunc(reply.Parts, func(p utp.Part) bool { _, ok := p.(utp.Think); return ok })
			}
			q.Messages = append(q.Messages, reply.Message)
			for _, c := range reply.Calls() {
				q.Messages = append(q.Messages, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "x")}})
			}
			if _, err := a.ask(t, url, q); err != nil {
				t.Fatal(client, err)
			}
			if diff := cmp.Diff([]string{"c2lnMQ==", "list_cities", "c2lnMg==", "list_cities"}, sealsAndCalls(m.Asked()[1])); diff != "" {
				t.Errorf("%s, stream %t (-want +got):\n%s", client, stream, diff)
			}
		}
	}
}

func sealsAndCalls(q *utp.Request) (out []string) {
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case utp.Think:
				out = append(out, p.Signature)
			case utp.Call:
				out = append(out, p.Name)
			}
		}
	}
	return out
}

// Two conversations of one client whose calls have the same ids keep what is theirs.
func TestConversationsKeepTheirOwnSeals(t *testing.T) {
	m := newModel(apiNamed("gemini"), func(_ int, q *utp.Request) []utp.Event {
		if len(q.Messages) > 1 {
			return says("Done.")
		}
		evs := []utp.Event{{Kind: utp.EventWhole, Value: utp.Think{Signature: map[string]string{"One.": "c2VhbDE=", "Two.": "c2VhbDI="}[q.Messages[0].Text()], Provider: "gemini", Model: "m"}}}
		for _, e := range says("", utp.Call{Name: "list_cities", Args: []byte(`{}`)}) {
			e.Part++
			evs = append(evs, e)
		}
		return evs
	})
	for _, stream := range []bool{false, true} {
		url := start(t, m, backend.Config{Provider: "gemini"})
		var talks []*utp.Request
		for _, text := range []string{"One.", "Two."} {
			q := &utp.Request{Model: "m", Stream: stream, Messages: []utp.Message{utp.NewText(utp.RoleUser, text)}, Tools: tools}
			again := *q
			for _, q := range []*utp.Request{q, &again} { // the same question has the same id
				reply, err := apis[0].ask(t, url, q)
				if err != nil || len(reply.Calls()) != 1 {
					t.Fatalf("%+v, %v", reply, err)
				}
				c := reply.Calls()[0]
				c.Extra = nil
				q.Messages = append(slices.Clip(q.Messages), utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}}, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "x")}})
			}
			if a, b := q.Messages[1].Calls()[0].ID, again.Messages[1].Calls()[0].ID; a != b {
				t.Errorf("the ids %s and %s for the same conversation", a, b)
			}
			talks = append(talks, q)
		}
		for i, q := range talks {
			m.Begin(m.Say)
			if _, err := apis[0].ask(t, url, q); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{[]string{"c2VhbDE=", "c2VhbDI="}[i], "list_cities"}, sealsAndCalls(m.Asked()[0])); diff != "" {
				t.Errorf("conversation %d, stream %t (-want +got):\n%s", i+1, stream, diff)
			}
		}
	}
}
