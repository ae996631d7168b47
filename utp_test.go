package utp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "\n", "a", "<tool_call>", "é\n "}))
}

func anyCall() *rapid.Generator[utp.Call] {
	return rapid.Custom(func(t *rapid.T) utp.Call {
		return utp.Call{ID: anyText().Draw(t, "id"), Name: anyText().Draw(t, "name"), Args: json.RawMessage(`{"a":1}`),
			Source: rapid.SampledFrom([]string{utp.SourceNative, "text:hermes", ""}).Draw(t, "source")}
	})
}

func anyPart() *rapid.Generator[utp.Part] {
	return rapid.Custom(func(t *rapid.T) utp.Part {
		text := anyText().Draw(t, "text")
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return utp.Text{Text: text}
		case 1:
			return utp.Text{Text: text, Extra: json.RawMessage(`{"citations":[]}`)}
		case 2:
			return utp.Think{Text: text}
		case 3:
			return utp.Think{Text: text, Signature: "s", Provider: "anthropic", Redacted: rapid.Bool().Draw(t, "redacted")}
		case 4:
			return anyCall().Draw(t, "call")
		case 5:
			return utp.Blob{MIME: "image/png", Data: []byte(text + "x")}
		default:
			return utp.Unknown{Provider: "p", Raw: json.RawMessage(`{"x":[1]}`)}
		}
	})
}

func anyReply() *rapid.Generator[utp.Reply] {
	return rapid.Custom(func(t *rapid.T) utp.Reply {
		r := utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: rapid.SliceOfN(anyPart(), 0, 6).Draw(t, "parts")}}
		r.End = utp.End{Stop: utp.StopTool, Usage: utp.Usage{Input: 3, Output: 4}, Model: "m", ID: anyText().Draw(t, "end id")}
		if rapid.Bool().Draw(t, "extra") {
			r.Message.Extra = json.RawMessage(`{"refusal":null}`)
		}
		for range rapid.IntRange(0, 2).Draw(t, "problems") {
			r.Problems = append(r.Problems, utp.Problem{Kind: utp.ProblemMalformed, Offset: 3, Raw: "x"})
		}
		return r
	})
}

// Collect(Replay(r)) is r, also through JSON, once its native calls stand first.
//
// contract: T-01 T-03
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := utp.Collect(utp.Replay(anyReply().Draw(t, "reply")))
		for i, c := range want.Calls() {
			if c.Source == utp.SourceNative && i > 0 && want.Calls()[i-1].FromText() {
				t.Fatalf("a native call stands after one in text: %+v", want.Calls())
			}
		}
		got := utp.Collect(utp.Replay(want))
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var back utp.Reply
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(b) {
			t.Fatalf("JSON changes on the way: %v\n%s\n%s", err, b, again)
		}
	})
}

// A result names its call and its tool and survives JSON, whatever its outcome.
//
// contract: T-02
func TestAResultSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCall().Draw(t, "call")
		want := utp.TextResult(c, rapid.SampledFrom([]utp.Status{utp.StatusOK, utp.StatusFailed, utp.StatusDenied}).Draw(t, "status"), anyText().Draw(t, "text"))
		want.Parts = append(want.Parts, rapid.SliceOfN(anyPart(), 0, 3).Draw(t, "parts")...)
		if want.CallID != c.ID || want.Name != c.Name {
			t.Fatalf("%+v does not name the call %+v", want, c)
		}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got utp.Result
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(got)
		if err != nil || string(again) != string(b) || got.Status != want.Status || got.CallID != want.CallID || len(got.Parts) != len(want.Parts) {
			t.Fatalf("JSON changes on the way: %v\n%s\n%s", err, b, again)
		}
	})
}

// Text stays as it stands, beside markup too; white space alone is none.
func TestTextIsHandedOnByteForByte(t *testing.T) {
	call := &utp.Call{Name: "f", Args: json.RawMessage(`{}`), Source: "text:hermes"}
	got := utp.Collect([]utp.Event{
		{Kind: utp.EventText, Part: 0, Text: "  Before \n", Raw: "  Before \n"},
		{Kind: utp.EventCallStart, Part: 1, Call: call, Raw: "<tool_call>"},
		{Kind: utp.EventCallEnd, Part: 1, Call: call, Raw: "</tool_call>"},
		{Kind: utp.EventText, Part: 2, Text: "\n\n", Raw: "\n\n"},
	})
	want := []utp.Part{utp.Text{Text: "  Before \n"}, *call}
	if d := cmp.Diff(want, got.Parts); d != "" {
		t.Fatal(d)
	}
	native := utp.Collect([]utp.Event{
		{Kind: utp.EventText, Part: 0, Text: "Before \n"},
		{Kind: utp.EventWhole, Part: 1, Value: utp.Call{Name: "f"}},
	})
	if native.Text() != "Before \n" {
		t.Fatalf("native text was trimmed: %q", native.Text())
	}
}

// A call that starts and never ends is no call, and its markup no text: it stands
// in the Problem.
//
// contract: Z-09 T-04
func TestCollectBrokenCall(t *testing.T) {
	start := utp.Event{Kind: utp.EventCallStart, Part: 1, Call: &utp.Call{Name: "rm"}, Raw: `<tool_call>{"name":"rm",`}
	text := utp.Event{Kind: utp.EventText, Part: 0, Text: "I will ", Raw: "I will "}
	problem := utp.Event{Kind: utp.EventProblem, Part: 1, Raw: `"arg`, Problem: &utp.Problem{Kind: utp.ProblemTruncated}}
	for name, evs := range map[string][]utp.Event{"problem": {text, start, problem}, "silence": {text, start}} {
		r := utp.Collect(evs)
		if len(r.Calls()) != 0 || len(r.Problems) != 1 || r.Problems[0].Kind != utp.ProblemTruncated {
			t.Errorf("%s: calls %v, problems %v", name, r.Calls(), r.Problems)
		}
		if got := r.Text(); got != "I will " {
			t.Errorf("%s: text %q", name, got)
		}
	}
}

// A native call has no text: one that breaks leaves a Problem and no empty part.
func TestCollectBrokenNative(t *testing.T) {
	r := utp.Collect([]utp.Event{
		{Kind: utp.EventCallStart, Part: 0, Call: &utp.Call{Name: "rm", Source: utp.SourceNative}},
		{Kind: utp.EventProblem, Part: 0, Problem: &utp.Problem{Kind: utp.ProblemMalformed}},
	})
	if len(r.Parts) != 0 || len(r.Problems) != 1 {
		t.Fatalf("parts %v, problems %v", r.Parts, r.Problems)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"role":"user","parts":[{"type":"song"}]}`: `utp: message: parts[0]: unknown type "song"`,
		`{"role":"user","parts":[3]}`:               "utp: message: parts[0]: json: cannot unmarshal number into Go value of type struct { Type string }",
	} {
		var m utp.Message
		if err := json.Unmarshal([]byte(in), &m); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", in, err, want)
		}
	}
}

func TestTiers(t *testing.T) {
	for i, name := range []string{"CRAWL", "WALK", "RUN"} {
		tier, err := utp.ParseTier(name)
		if err != nil || int(tier) != i || tier.String() != name {
			t.Errorf("%s: %v %v", name, tier, err)
		}
	}
	if _, err := utp.ParseTier("fly"); err == nil || err.Error() != `tier "fly": want crawl, walk or run` {
		t.Errorf("error: %v", err)
	}
}
