package codec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// play feeds events and prints what comes out, a word an event.
func play(s *Sequence, evs ...utp.Event) string {
	var words []string
	for _, e := range evs {
		for _, e := range s.Add(e) {
			word := fmt.Sprintf("%d:%s", e.Part, e.Kind)
			switch {
			case e.Call != nil:
				word += "(" + e.Call.ID + string(e.Call.Args) + ")"
			case e.Text != "":
				word += "(" + e.Text + ")"
			case e.End != nil:
				word += "(" + string(e.End.Stop) + ")"
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func said(part int, text string) utp.Event {
	return utp.Event{Kind: utp.EventText, Part: part, Text: text}
}
func begun(part int, id string) utp.Event {
	return utp.Event{Kind: utp.EventCallStart, Part: part, Call: &utp.Call{ID: id, Name: "f"}}
}
func more(part int, args string) utp.Event {
	return utp.Event{Kind: utp.EventCallDelta, Part: part, Text: args}
}
func over(part int, id, args string) utp.Event {
	return utp.Event{Kind: utp.EventCallEnd, Part: part, Call: &utp.Call{ID: id, Name: "f", Args: []byte(args)}}
}
func problem(part int, raw string) utp.Event {
	return utp.Event{Kind: utp.EventProblem, Part: part, Raw: raw, Problem: &utp.Problem{Kind: utp.ProblemMalformed, Message: "bad"}}
}
func finished(stop utp.Stop) utp.Event {
	return utp.Event{Kind: utp.EventFinish, Part: 9, End: &utp.End{Stop: stop}}
}

func TestSequence(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []utp.Event
		want string
		err  string
	}{
		{"the first call is live, the second waits", []utp.Event{begun(0, "a"), begun(1, "b"), more(1, `{"x"`), more(0, `{}`), more(1, `:1}`), over(1, "b", `{"x":1}`), over(0, "a", `{}`), finished("")},
			`0:call-start(a) 0:call-delta({}) 0:call(a{}) 1:call-start(b) 1:call-delta({"x") 1:call-delta(:1}) 1:call(b{"x":1}) 2:finish(tool)`, ""},
		{"text behind a complete call does not wait for its end", []utp.Event{begun(0, "a"), more(0, `{}`), said(1, "Then."), over(0, "a", `{}`), finished("end")},
			`0:call-start(a) 0:call-delta({}) 0:call(a{}) 1:text(Then.) 1:part-end 2:finish(tool)`, ""},
		{"an object that is no JSON is not complete", []utp.Event{begun(0, "a"), more(0, `{x}`), said(1, "Then."), problem(0, "")},
			`0:call-start(a) 0:call-delta({x})`, "bad"},
		{"a text that goes on behind another part", []utp.Event{said(0, "One"), said(1, "two"), said(0, "three"), finished("end")},
			`0:text(One) 0:part-end 1:text(two) 1:part-end 2:text(three) 2:part-end 3:finish(end)`, ""},
		{"a problem before the call is text", []utp.Event{problem(0, "<tool_call>"), said(0, " x"), finished("end")}, `0:text(<tool_call>) 0:text( x) 0:part-end 1:finish(end)`, ""},
		{"a problem that is all there is", []utp.Event{problem(-1, ""), finished("end")}, "", "bad"},
		{"a problem beside text", []utp.Event{said(0, "x"), problem(-1, ""), finished("end")}, `0:text(x) 0:part-end 1:finish(end)`, ""},
		{"a problem of a call that waits", []utp.Event{begun(0, "a"), begun(1, "b"), problem(1, "")}, `0:call-start(a)`, "bad"},
		{"a call that never ends", []utp.Event{begun(0, "a"), more(0, `{"x"`), finished("length")}, `0:call-start(a) 0:call-delta({"x")`, "inside a call"},
		{"a stream that broke", []utp.Event{said(0, "x"), finished("error")}, `0:text(x) 0:part-end`, "ended before"},
		{"nothing", []utp.Event{finished("tool")}, `0:finish(end)`, ""},
		{"ids", []utp.Event{over(0, "functions.f:0", ""), over(1, "functions.f:0", ""), over(2, "", ""), over(3, strings.Repeat("x", 60), "")},
			`0:call-start(utp_functions-2Ef-3A0) 0:call-delta({}) 0:call(utp_functions-2Ef-3A0{}) 1:call-start(utp_functions-2Ef-3A0_2) 1:call-delta({}) 1:call(utp_functions-2Ef-3A0_2{}) ` +
				`2:call-start(call_lIBtun4U5PVPU1UAkBELsa) 2:call-delta({}) 2:call(call_lIBtun4U5PVPU1UAkBELsa{}) 3:call-start(call_fShJM5Di60fCRM2Ro0hIII) 3:call-delta({}) 3:call(call_fShJM5Di60fCRM2Ro0hIII{})`, ""},
		{"what is left of the arguments", []utp.Event{begun(0, "a"), more(0, `{"x"`), over(0, "a", `{"x":1}`)}, `0:call-start(a) 0:call-delta({"x") 0:call-delta(:1}) 0:call(a{"x":1})`, ""},
		{"a filtered reply with a call", []utp.Event{over(0, "a", "{}"), finished("filter")}, `0:call-start(a) 0:call-delta({}) 0:call(a{}) 1:finish(filter)`, ""},
		{"a signature that comes late", []utp.Event{{Kind: utp.EventThink, Text: "Hm"}, said(1, "x"), {Kind: utp.EventPartEnd, Value: utp.Think{Signature: "s"}}, finished("end")},
			`0:think(Hm) 0:part-end 1:text(x) 1:part-end 2:whole 3:finish(end)`, ""},
		{"nothing after the end", []utp.Event{finished("end"), said(1, "x"), finished("end")}, `0:finish(end)`, ""},
	} {
		var s Sequence
		got := play(&s, c.in...)
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
		if err := s.Err(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
}
