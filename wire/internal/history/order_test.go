package history

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
)

// wellFormed says what is wrong with the order of a history, or "".
func wellFormed(messages []utp.Message) string {
	var due []utp.Call
	for i, m := range messages {
		if m.Role == utp.RoleTool {
			rs := m.Results()
			if len(rs) != 1 || len(m.Parts) != 1 || len(due) == 0 || rs[0].CallID != due[0].ID || rs[0].Name != due[0].Name {
				return fmt.Sprintf("messages[%d] answers %+v, due are %+v", i, rs, due)
			}
			due = due[1:]
			continue
		}
		if len(due) > 0 {
			return fmt.Sprintf("messages[%d] stands between calls and results", i)
		}
		if len(m.Results()) > 0 {
			return fmt.Sprintf("messages[%d] (%s) holds results", i, m.Role)
		}
		due = m.Calls()
		ids := map[string]bool{}
		for _, c := range due {
			if c.ID == "" || ids[c.ID] {
				return fmt.Sprintf("messages[%d]: id %q is empty or used twice", i, c.ID)
			}
			ids[c.ID] = true
		}
	}
	if len(due) > 0 {
		return "results are missing at the end"
	}
	return ""
}

// contract: F-11 I-04 I-05 CON-10
func TestOrderMendsAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"", "a", "b", "c"})
		name := rapid.SampledFrom([]string{"f", "g"})
		var in []utp.Message
		texts := 0
		for i := range rapid.IntRange(0, 8).Draw(t, "messages") {
			m := utp.Message{Role: rapid.SampledFrom([]utp.Role{utp.RoleUser, utp.RoleAssistant, utp.RoleTool}).Draw(t, "role")}
			for range rapid.IntRange(0, 3).Draw(t, "parts") {
				switch m.Role {
				case utp.RoleAssistant:
					m.Parts = append(m.Parts, utp.Call{ID: id.Draw(t, "id"), Name: name.Draw(t, "name")})
				case utp.RoleTool:
					c := utp.Call{ID: id.Draw(t, "id"), Name: name.Draw(t, "name")}
					m.Parts = append(m.Parts, utp.TextResult(c, utp.StatusOK, fmt.Sprint("result", i)))
				default:
					texts++
					m.Parts = append(m.Parts, utp.Text{Text: "u"})
				}
			}
			if len(m.Parts) > 0 {
				in = append(in, m)
			}
		}
		out, losses := order(in)
		if wrong := wellFormed(out); wrong != "" {
			t.Fatalf("%s\nin  %+v\nout %+v", wrong, in, out)
		}
		if again, more := order(out); len(more) > 0 || fmt.Sprint(again) != fmt.Sprint(out) {
			t.Fatalf("a second pass changes it: %v\nfirst  %+v\nsecond %+v", more, out, again)
		}
		if wellFormed(in) == "" && (len(losses) > 0 || fmt.Sprint(in) != fmt.Sprint(out)) {
			t.Fatalf("a good history was changed: %v", losses)
		}
	})
}

func order(in []utp.Message) (out []utp.Message, losses []string) {
	for _, m := range Order(in, nil, func(path, what, _ string) { losses = append(losses, path+" "+what) }) {
		out = append(out, m.Message)
	}
	return out, losses
}

func TestOrderLeavesItsInputAlone(t *testing.T) {
	call := utp.Call{Name: "f"}
	in := []utp.Message{{Role: utp.RoleAssistant, Parts: []utp.Part{call}}}
	Order(in, codec.ShortIDs(40), nil)
	if in[0].Calls()[0].ID != "" {
		t.Error("the call in the input got an id")
	}
}

// contract: A-10
func TestResultText(t *testing.T) {
	for _, c := range []struct {
		status utp.Status
		text   string
		want   string
	}{
		{utp.StatusOK, "fine", "fine"},
		{"", "fine", "fine"},
		{utp.StatusOK, "", "(empty)"},
		{utp.StatusFailed, "no such file", "ERROR: no such file"},
		{utp.StatusDenied, "Tool 'rm' not available", "ERROR: Tool 'rm' not available"},
		{utp.StatusFailed, "ERROR: twice", "ERROR: twice"},
		{utp.StatusFailed, `{"error":"no such file"}`, `{"error":"no such file"}`},
		{utp.StatusFailed, `{"error":null}`, `ERROR: {"error":null}`},
		{utp.StatusFailed, `{"a":1}`, `ERROR: {"a":1}`},
		{utp.StatusFailed, "", "ERROR: "},
	} {
		if got := ResultText(utp.TextResult(utp.Call{}, c.status, c.text)); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.status, c.text, got, c.want)
		}
	}
}

// Results of one message in another order than their calls are told; an empty
// message between calls and results is nothing.
func TestOrderTellsWhatItMoves(t *testing.T) {
	calls := utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Call{ID: "a", Name: "f"}, utp.Call{ID: "b", Name: "f"}}}
	a, b := utp.Result{CallID: "a"}, utp.Result{CallID: "b"}
	tool := func(parts ...utp.Part) utp.Message { return utp.Message{Role: utp.RoleTool, Parts: parts} }
	for _, c := range []struct {
		in   []utp.Message
		told bool
	}{
		{[]utp.Message{calls, tool(a, b)}, false},
		{[]utp.Message{calls, tool(b, a)}, true},
		{[]utp.Message{calls, tool(b), tool(a)}, true},
		{[]utp.Message{calls, utp.NewText(utp.RoleUser, " \n"), tool(a, b)}, false},
		{[]utp.Message{calls, utp.NewText(utp.RoleUser, "x"), tool(a, b)}, true},
	} {
		if out, losses := order(c.in); (len(losses) > 0) != c.told || wellFormed(out) != "" {
			t.Errorf("%+v: %v %s", c.in, losses, wellFormed(out))
		}
	}
}
