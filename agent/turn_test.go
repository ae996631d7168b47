package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// Each file of testdata/turn is a model's script, the events of the turn and
// the requests that went out.
func TestTurn(t *testing.T) {
	golden.Run(t, "testdata/turn/*.txtar", func(t *testing.T, c *golden.Case) {
		m := readScript(c.Get("script"))
		var log strings.Builder
		for e, err := range agent.Turn(t.Context(), config(c.Get("config"), m, &bench{}), ask("Where is it?")) {
			if err != nil {
				fmt.Fprintf(&log, "error %v\n", err)
				continue
			}
			if e.Kind != agent.Stream {
				log.WriteString(showEvent(e))
			}
		}
		c.Want(t, "events", log.String())
		c.Want(t, "requests", showRequests(m.requests))
	})
}

// showEvent is an event on a line; what the requests show is left out.
func showEvent(e agent.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", e.Round, e.Kind)
	if e.Call != nil {
		fmt.Fprintf(&b, " %s", showCall(*e.Call))
	}
	if e.Result != nil {
		fmt.Fprintf(&b, " → %s %q", e.Result.Status, e.Result.Text())
	}
	if e.Refusal != "" {
		fmt.Fprintf(&b, " refusal=%s", e.Refusal)
	}
	if e.Cached {
		b.WriteString(" cached")
	}
	if e.Duration > 0 {
		fmt.Fprintf(&b, " %s", e.Duration)
	}
	if e.Problem != nil {
		fmt.Fprintf(&b, " %s", e.Problem)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, " %q", e.Text)
	}
	if a := e.Answer; a != nil {
		fmt.Fprintf(&b, " %q rounds=%d requests=%d calls=%d tokens=%d+%d", a.Text, a.Rounds, a.Requests, len(a.Calls),
			a.Usage.Prompt(), a.Usage.Completion())
		if a.Forced != "" {
			fmt.Fprintf(&b, " forced=%q", a.Forced)
		}
	}
	return b.String() + "\n"
}

func showCall(c utp.Call) string {
	s := fmt.Sprintf("%s %s%s %s", c.ID, c.Name, c.Args, c.Source)
	if c.OrigID != "" {
		s += " was=" + c.OrigID
	}
	for _, f := range c.Fixes {
		s += fmt.Sprintf(" fix=%s:%s", f.Path, f.Why)
	}
	return s
}

// showRequests prints of each request what the one before did not have.
func showRequests(rs []*utp.Request) string {
	var b strings.Builder
	var before []utp.Message
	for i, r := range rs {
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		fmt.Fprintf(&b, "request %d, tools %v\n", i+1, names)
		for j, m := range r.Messages {
			if j >= len(before) || toJSON(m) != toJSON(before[j]) {
				b.WriteString("  " + showMessage(m) + "\n")
			}
		}
		before = r.Messages
	}
	return b.String()
}

func showMessage(m utp.Message) string {
	words := []string{string(m.Role)}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case utp.Text:
			words = append(words, fmt.Sprintf("%q", p.Text))
		case utp.Think:
			words = append(words, fmt.Sprintf("think %q", p.Text))
		case utp.Call:
			words = append(words, "call "+showCall(p))
		case utp.Result:
			words = append(words, fmt.Sprintf("result %s %s %s %q", p.CallID, p.Name, p.Status, p.Text()))
		}
	}
	return strings.Join(words, " | ")
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	return fmt.Sprint(string(b), err)
}
