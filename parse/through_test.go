package parse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// Thinking between calls stays where it stands, each with its own signature:
// its provider refuses it elsewhere.
func TestThinkingBetweenNativeCalls(t *testing.T) {
	a, b := utp.Call{ID: "a", Name: "f", Args: []byte(`{}`), Source: utp.Native}, utp.Call{ID: "b", Name: "g", Args: []byte(`{}`), Source: utp.Native}
	sign := func(s string) utp.Think { return utp.Think{Signature: s, Provider: "anthropic", Model: "m"} }
	started := func(part int, c utp.Call) []utp.Event {
		return []utp.Event{{Kind: utp.CallStart, Part: part, Call: &utp.Call{ID: c.ID, Name: c.Name, Source: utp.Native}},
			{Kind: utp.CallDelta, Part: part, Text: "{}"}, {Kind: utp.CallEnd, Part: part, Call: &c}}
	}
	evs := []utp.Event{{Kind: utp.ThinkDelta, Text: "First "}, {Kind: utp.ThinkDelta, Text: "one."}, {Kind: utp.PartEnd, Value: sign("1")}}
	evs = append(evs, started(1, a)...)
	evs = append(evs, utp.Event{Kind: utp.ThinkDelta, Part: 2, Text: "Then two."}, utp.Event{Kind: utp.PartEnd, Part: 2, Value: sign("2")})
	evs = append(evs, started(3, b)...)
	evs = append(evs, utp.Event{Kind: utp.ThinkDelta, Part: 4, Text: "No signature."}, utp.Event{Kind: utp.Whole, Part: 5, Value: sign("3")},
		utp.Event{Kind: utp.ThinkDelta, Part: 6, Text: "Late."}, utp.Event{Kind: utp.TextDelta, Part: 7, Text: "Done."}, utp.Event{Kind: utp.PartEnd, Part: 6, Value: sign("4")},
		utp.Event{Kind: utp.Finish, Part: 8, End: &utp.End{Stop: utp.StopTool}})
	p := parse.New(parse.Config{})
	var all []utp.Event
	for _, e := range evs {
		all = append(all, p.Through(e)...)
	}
	want := []utp.Part{
		utp.Think{Text: "First one.", Signature: "1", Provider: "anthropic", Model: "m"}, a,
		utp.Think{Text: "Then two.", Signature: "2", Provider: "anthropic", Model: "m"}, b,
		utp.Think{Text: "No signature."}, sign("3"),
		utp.Think{Text: "Late.", Signature: "4", Provider: "anthropic", Model: "m"}, utp.Text{Text: "Done."},
	}
	if diff := cmp.Diff(want, utp.Collect(all).Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
