package reading_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

const (
	deskHints = `{"tools":[{"name":"now","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}]}`
	deskText  = `I look. <tool_call>{"name": "now", "arguments": {"n": "2"}}</tool_call>`
)

// A desk says of a text what Read says, whole and in pieces, and many texts may be
// open at once.
func TestDeskReadsAsReadDoes(t *testing.T) {
	tools, err := reading.ParseTools([]byte(`[{"name":"now","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := reading.Read(reading.Options{Tools: tools}, []byte(deskText))
	if err != nil {
		t.Fatal(err)
	}
	h, err := reading.NewDesk(reading.Options{}).Hints([]byte(deskHints))
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.Read(deskText)
	if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	var open []*reading.Pieces
	for range 3 {
		p, err := h.Open()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, p)
	}
	events := 0
	for _, c := range deskText {
		for _, p := range open {
			events += len(p.Feed(string(c)))
		}
	}
	for _, p := range open {
		got, err := p.Close(false)
		if err != nil || events == 0 {
			t.Fatal(events, err)
		}
		got.Events = nil
		if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
			t.Error(diff)
		}
	}
}

// A text of a desk is never a provider's reply, and one that is cut off says so.
func TestDeskReadsTextsAlone(t *testing.T) {
	d := reading.NewDesk(reading.Options{Input: reading.Reply})
	h, err := d.Hints([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := h.Read(`{"choices":[{"message":{"content":"hi"}}]}`); err != nil || !strings.Contains(r.Content, "choices") {
		t.Error(r, err)
	}
	p, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	p.Feed(`<tool_call>{"name": "now", "argum`)
	if r, err := p.Close(true); err != nil || len(r.ToolCalls) != 0 || len(r.Problems) != 1 {
		t.Error(asJSON(t, r), err)
	}
	for _, bad := range []string{`5`, `{"tools":5}`, `{"policy":"repair=maybe"}`, `{"grammar":"nowhere"}`, `{`} {
		if _, err := d.Hints([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
