package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// Of an equal pair of calls the native one stays, with its id, and what is between
// the two decides only where nobody said what would come.
//
// contract: N-03 CON-02
func TestNativeCallOfAnEqualPairStays(t *testing.T) {
	args := func(n int) string { return fmt.Sprintf(`{"q":"%s"}`, strings.Repeat("x", n)) }
	text := func(args string) utp.Event {
		return utp.Event{Kind: utp.EventText, Text: `<tool_call>{"name": "f", "arguments": ` + args + `}</tool_call>`}
	}
	words := func(s string) utp.Event { return utp.Event{Kind: utp.EventText, Text: s} }
	native := func(id, args string) []utp.Event {
		c := utp.Call{ID: id, Name: "f", Args: []byte(args), Extra: []byte(`{"gemini":{"thoughtSignature":"s"}}`)}
		return []utp.Event{{Kind: utp.EventCallStart, Part: 1, Call: &c}, {Kind: utp.EventCallDelta, Part: 1, Text: args}, {Kind: utp.EventCallEnd, Part: 1, Call: &c}}
	}
	for _, tt := range []struct {
		name                string
		evs                 []utp.Event
		stream, whole, said string
	}{
		{"text first", append([]utp.Event{text(args(1))}, native("a", args(1))...), "a", "a", ""},
		{"blanks between", append([]utp.Event{text(args(1)), words("\n\n")}, native("a", args(1))...), "a", "a", ""},
		{"native first", append(native("a", args(1)), text(args(1))), "a", "a", ""},
		{"another between", append([]utp.Event{text(args(1)), text(args(2))}, native("a", args(1))...), "a text", "a text", ""},
		{"other arguments", append([]utp.Event{text(args(2))}, native("a", args(1))...), "a text", "a text", ""},
		{"words between", append([]utp.Event{text(args(1)), words("So be it.")}, native("a", args(1))...), "text", "a", "So be it."},
		{"long", append([]utp.Event{text(args(600))}, native("a", args(600))...), "text", "a", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, whole := range []bool{false, true} {
				p := parse.New(parse.Config{})
				if whole {
					p.Expect(tt.evs)
				}
				var all []utp.Event
				raw, fed := "", ""
				for _, e := range append(tt.evs, utp.Event{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopEnd}}) {
					if e.Kind == utp.EventText {
						fed += e.Text
					}
					all = append(all, p.Through(e)...)
				}
				for _, e := range all {
					raw += e.Raw
				}
				reply := utp.Collect(all)
				var got []string
				for _, c := range reply.Calls() {
					got = append(got, map[bool]string{true: c.ID, false: "text"}[c.Source == utp.SourceNative])
					if c.Source == utp.SourceNative && len(c.Extra) == 0 {
						t.Error("what the provider ties to the call is gone")
					}
				}
				if want := map[bool]string{false: tt.stream, true: tt.whole}[whole]; strings.Join(got, " ") != want {
					t.Errorf("expected %v: %q, want %q", whole, got, want)
				}
				if reply.Text() != tt.said || raw != fed {
					t.Errorf("expected %v: text %q, raws %q of %q", whole, reply.Text(), raw, fed)
				}
			}
		})
	}
}
