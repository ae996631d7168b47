package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Thinking between calls stays where it stands, each with its own signature:
// its provider refuses it elsewhere.
func TestThinkingBetweenNativeCalls(t *testing.T) {
	a, b := utp.Call{ID: "a", Name: "f", Args: []byte(`{}`), Source: utp.SourceNative}, utp.Call{ID: "b", Name: "g", Args: []byte(`{}`), Source: utp.SourceNative}
	sign := func(s string) utp.Think { return utp.Think{Signature: s, Provider: "anthropic", Model: "m"} }
	started := func(part int, c utp.Call) []utp.Event {
		return []utp.Event{{Kind: utp.EventCallStart, Part: part, Call: &utp.Call{ID: c.ID, Name: c.Name, Source: utp.SourceNative}},
			{Kind: utp.EventCallDelta, Part: part, Text: "{}"}, {Kind: utp.EventCallEnd, Part: part, Call: &c}}
	}
	evs := []utp.Event{{Kind: utp.EventThink, Text: "First "}, {Kind: utp.EventThink, Text: "one."}, {Kind: utp.EventPartEnd, Value: sign("1")}}
	evs = append(evs, started(1, a)...)
	evs = append(evs, utp.Event{Kind: utp.EventThink, Part: 2, Text: "Then two."}, utp.Event{Kind: utp.EventPartEnd, Part: 2, Value: sign("2")})
	evs = append(evs, started(3, b)...)
	evs = append(evs, utp.Event{Kind: utp.EventThink, Part: 4, Text: "No signature."}, utp.Event{Kind: utp.EventWhole, Part: 5, Value: sign("3")},
		utp.Event{Kind: utp.EventThink, Part: 6, Text: "Late."}, utp.Event{Kind: utp.EventText, Part: 7, Text: "Done."}, utp.Event{Kind: utp.EventPartEnd, Part: 6, Value: sign("4")},
		utp.Event{Kind: utp.EventFinish, Part: 8, End: &utp.End{Stop: utp.StopTool}})
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

// A call inside native thinking is one if the reply ends there, and a thought if
// an answer follows.
func TestCallInNativeThinking(t *testing.T) {
	tools := schema.Compile([]utp.Tool{{Name: "now"}})
	const call = `<tool_call>{"name": "now", "arguments": {}}</tool_call>`
	thinking := []utp.Event{{Kind: utp.EventThink, Text: "I will call.\n" + call}, {Kind: utp.EventPartEnd, Value: utp.Think{Signature: "s"}}}
	for _, tt := range []struct {
		name   string
		behind []utp.Event
		want   []utp.Part
	}{
		{"nothing", nil, []utp.Part{utp.Think{Text: "I will call.", Signature: "s"}, utp.Call{Name: "now", Args: []byte("{}"), RawArgs: "{}", Source: "text:hermes"}}},
		{"blanks", []utp.Event{{Kind: utp.EventText, Part: 1, Text: "\n\n"}}, []utp.Part{utp.Think{Text: "I will call.\n", Signature: "s"}, utp.Call{Name: "now", Args: []byte("{}"), RawArgs: "{}", Source: "text:hermes"}}},
		{"an answer", []utp.Event{{Kind: utp.EventText, Part: 1, Text: "It is noon."}}, []utp.Part{utp.Think{Text: "I will call.\n" + call, Signature: "s"}, utp.Text{Text: "It is noon."}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := parse.New(parse.Config{Tools: tools})
			var all []utp.Event
			for _, e := range append(append(thinking[:2:2], tt.behind...), utp.Event{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopEnd}}) {
				all = append(all, p.Through(e)...)
			}
			if diff := cmp.Diff(tt.want, utp.Collect(all).Parts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Words that might have become a call are given out before a native call, not
// after it; a call that is open waits, and what may be the beginning of one.
func TestTextStaysBeforeNativeCalls(t *testing.T) {
	tools := schema.Compile([]utp.Tool{{Name: "apply_patch"}, {Name: "get_weather"}})
	native := utp.Call{ID: "a", Name: "apply_patch", Args: []byte(`{}`), Source: utp.SourceNative}
	for _, tt := range []struct {
		texts  []string
		behind string
		want   string
	}{
		{[]string{"Ag", "ai", "n."}, "", `"Again." call`},
		{[]string{"Look: <tool"}, "s are here.", `"Look: " call "<tools are here."`},
		{[]string{"get_weather"}, " is next.", `"get_weather" call " is next."`},
		{[]string{"Well\n\n```"}, "\nx", `"Well\n\n` + "```" + `" call "\nx"`},
		{[]string{"Wait.\n\n"}, "", `"Wait.\n\n" call`},
		{[]string{`<tool_call>{"name": "get_weather", "arguments": {"x`}, `": 1}}</tool_call>`, "call text"},
		{[]string{"Done."}, "", `"Done." call`},
	} {
		p := parse.New(parse.Config{Tools: tools})
		var all []utp.Event
		for _, text := range append(tt.texts, "") {
			e := utp.Event{Kind: utp.EventText, Text: text}
			if text == "" {
				e = utp.Event{Kind: utp.EventWhole, Part: 1, Value: native}
			}
			all = append(all, p.Through(e)...)
		}
		all = append(all, p.Through(utp.Event{Kind: utp.EventText, Part: 2, Text: tt.behind})...)
		all = append(all, p.Through(utp.Event{Kind: utp.EventFinish, Part: 3, End: &utp.End{Stop: utp.StopTool}})...)
		var got []string
		var raw string
		for _, e := range all {
			raw += e.Raw
		}
		for _, part := range utp.Collect(all).Parts {
			switch part := part.(type) {
			case utp.Text:
				got = append(got, fmt.Sprintf("%q", part.Text))
			case utp.Call:
				got = append(got, map[bool]string{true: "call", false: "text"}[part.Source == utp.SourceNative])
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: %s, want %s", tt.texts, s, tt.want)
		}
		if want := strings.Join(tt.texts, "") + tt.behind; raw != want {
			t.Errorf("raws %q, want %q", raw, want)
		}
	}
}

// Blanks that become text with the problem after them keep what their provider says
// of them.
func TestBlanksKeepTheirExtra(t *testing.T) {
	p := parse.New(parse.Config{})
	var evs []utp.Event
	for _, e := range []utp.Event{
		{Kind: utp.EventText, Text: "\n", Extra: []byte(`{"logprobs":1}`)},
		{Kind: utp.EventText, Text: "<tool_call>no call</tool_call>"},
		{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopEnd}},
	} {
		evs = append(evs, p.Through(e)...)
	}
	if evs[0].Kind != utp.EventText || evs[0].Text != "\n" || string(evs[0].Extra) != `{"logprobs":1}` {
		t.Errorf("%+v", evs)
	}
}
