package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/schema"
)

func gate(tier utp.Tier) (*agent.Gate, *bench) {
	b := &bench{}
	return &agent.Gate{Tools: schema.Compile(tools), Tier: tier, Runner: b}, b
}

func callOf(name, args, source string) utp.Call {
	return utp.Call{ID: "c1", Name: name, Args: []byte(args), Source: source}
}

// contract: X-01 X-03
func TestTiersAreCumulative(t *testing.T) {
	for tier, want := range map[utp.Tier][]string{
		utp.TierCrawl: {"search_code"},
		utp.TierWalk:  {"search_code", "read_file", "list_dir"},
		utp.TierRun:   {"search_code", "read_file", "list_dir", "write_file"},
	} {
		g, _ := gate(tier)
		var got []string
		for _, t := range g.Offered() {
			got = append(got, t.Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", tier, d)
		}
	}
}

// contract: X-04 X-05 X-14 X-15
func TestTierHoldsWhateverTheSource(t *testing.T) {
	const args = `{"path":"a","content":"b"}`
	for _, source := range []string{utp.SourceNative, "text:hermes", "text:tools", "text:react", "text:json", "text:autobyteus", ""} {
		g, b := gate(utp.TierWalk)
		g.Allow = []string{"run", "write_file"}
		g.Confirm = func(context.Context, utp.Call, utp.Tool) (bool, string) { return true, "" }
		r := g.Run(t.Context(), callOf("write_file", args, source))
		if r.Status != utp.StatusDenied || r.Text() != "Tool 'write_file' not available at current tier (WALK)" || len(b.ran) > 0 {
			t.Errorf("%q: %s %q, ran %v", source, r.Status, r.Text(), b.ran)
		}
		if r.CallID != "c1" || r.Name != "write_file" {
			t.Errorf("the result is not the call's: %+v", r)
		}
	}
}

// No spelling of a name passes the gate but the exact one.
//
// contract: X-14 R-03
func TestOnlyExactNamesPass(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(
			rapid.SampledFrom([]string{"write_file ", " write_file", "Write_File", "write-file", "functions.write_file", "write_file()", "wrіte_file", "write_file\x00", "write\tfile", "default_api.write_file:0"}),
			rapid.StringMatching(`(?i)[ .:_-]?write[ ._-]?file[ .:()_-]?`)).Draw(rt, "name")
		g, b := gate(utp.TierRun)
		g.Allow = []string{"run"}
		r := g.Run(context.Background(), callOf(name, `{"path":"a","content":"b"}`, utp.SourceNative))
		if name != "write_file" && (r.Status != utp.StatusFailed || len(b.ran) > 0) {
			rt.Errorf("%q ran: %+v", name, r)
		}
	})
}

// contract: A-08
func TestUnknownToolIsTold(t *testing.T) {
	g, _ := gate(utp.TierWalk)
	r := g.Run(t.Context(), callOf("serch_code", `{}`, utp.SourceNative))
	want := "Tool 'serch_code' does not exist. Available: search_code, read_file, list_dir\nDid you mean 'search_code'?"
	if r.Status != utp.StatusFailed || r.Text() != want {
		t.Errorf("%s %q, want %q", r.Status, r.Text(), want)
	}
	if r := g.Run(t.Context(), callOf("write_fil", `{}`, utp.SourceNative)); strings.Contains(r.Text(), "write_file") {
		t.Errorf("a tool above the tier is suggested: %q", r.Text())
	}
}

// contract: X-08
func TestConfirmation(t *testing.T) {
	yes := func(context.Context, utp.Call, utp.Tool) (bool, string) { return true, "" }
	no := func(context.Context, utp.Call, utp.Tool) (bool, string) { return false, "" }
	careful := utp.Tool{Name: "careful", Tier: utp.TierWalk, Confirm: true}
	bold := utp.Tool{Name: "bold", Tier: utp.TierRun} // asks too: every RUN tool does
	for _, c := range []struct {
		tool    utp.Tool
		confirm agent.Confirm
		allow   []string
		ok      bool
	}{
		{careful, nil, nil, false},
		{careful, no, nil, false},
		{careful, yes, nil, true},
		{careful, no, []string{"careful"}, true},
		{careful, no, []string{"run"}, false},
		{careful, no, []string{"walk"}, true},
		{bold, nil, nil, false},
		{bold, no, nil, false},
		{bold, yes, nil, true},
		{bold, no, []string{"Run"}, true},
		{bold, no, []string{"bold"}, true},
		{bold, no, []string{"bol", "*", ""}, false},
	} {
		b := &bench{}
		g := agent.Gate{Tools: schema.Compile([]utp.Tool{c.tool}), Tier: utp.TierRun, Runner: b, Confirm: c.confirm, Allow: c.allow}
		r := g.Run(t.Context(), callOf(c.tool.Name, `{}`, utp.SourceNative))
		if (r.Status == utp.StatusOK) != c.ok || (len(b.ran) == 1) != c.ok || !c.ok && r.Status != utp.StatusDenied {
			t.Errorf("%s allow %v: %s %q, ran %v", c.tool.Name, c.allow, r.Status, r.Text(), b.ran)
		}
	}
}

// The order is: exists, tier, arguments, confirmation.
//
// contract: X-04 X-08 X-11
func TestNobodyIsAskedAboutACallThatCannotRun(t *testing.T) {
	asked := 0
	g, b := gate(utp.TierRun)
	g.Confirm = func(context.Context, utp.Call, utp.Tool) (bool, string) { asked++; return true, "" }
	g.Run(t.Context(), callOf("write_file", `{"path":"a"}`, utp.SourceNative))
	g.Run(t.Context(), callOf("rm", `{}`, utp.SourceNative))
	g.Tier = utp.TierWalk
	g.Run(t.Context(), callOf("write_file", `{"path":"a","content":""}`, utp.SourceNative))
	if asked > 0 || len(b.ran) > 0 {
		t.Errorf("asked %d times, ran %v", asked, b.ran)
	}
}

// contract: X-08
func TestTheQuestionMarksCallsFoundInText(t *testing.T) {
	args := `{"path":"a.go","content":"x"}`
	native, text := agent.Question(callOf("write_file", args, utp.SourceNative), tools[3]), agent.Question(callOf("write_file", args, "text:hermes"), tools[3])
	if !strings.Contains(native, "Run write_file (RUN)?") || !strings.Contains(native, `"path": "a.go"`) || strings.Contains(native, "recovered") {
		t.Errorf("native: %q", native)
	}
	if !strings.Contains(text, "recovered from the model's text (hermes)") {
		t.Errorf("text: %q", text)
	}
	if q := agent.Question(utp.Call{Kind: utp.CustomCall, RawArgs: "rm -rf x"}, tools[3]); !strings.Contains(q, "rm -rf x") {
		t.Errorf("custom: %q", q)
	}
}

// A rule is added by a Runner that wraps the Runner.
//
// contract: X-10
func TestARunnerMayRefuse(t *testing.T) {
	g, b := gate(utp.TierWalk)
	g.Runner = agent.RunnerFunc(func(ctx context.Context, c utp.Call) utp.Result {
		if strings.Contains(string(c.Args), "secret") {
			return utp.TextResult(c, utp.StatusDenied, "secrets are not read")
		}
		return b.Run(ctx, c)
	})
	if r := g.Run(t.Context(), callOf("read_file", `{"path":"secret.txt"}`, utp.SourceNative)); r.Status != utp.StatusDenied || len(b.ran) > 0 {
		t.Errorf("%+v, ran %v", r, b.ran)
	}
	if r := g.Run(t.Context(), callOf("read_file", `{"path":"a.txt"}`, utp.SourceNative)); r.Status != utp.StatusOK {
		t.Errorf("%+v", r)
	}
}

// contract: X-09 X-11
func TestArgumentsAreFittedOrRefused(t *testing.T) {
	g, b := gate(utp.TierWalk)
	if r := g.Run(t.Context(), callOf("search_code", `{"query":"x","limit":"5"}`, utp.SourceNative)); r.Status != utp.StatusOK {
		t.Errorf("%+v", r)
	}
	for _, c := range []utp.Call{
		{Name: "search_code"},
		{Name: "search_code", RawArgs: "not json"},
		{Name: "search_code", Args: []byte(`"x"`)},
		{Name: "search_code", Args: []byte(`{"query":{}}`)},
	} {
		r := g.Run(t.Context(), c)
		if r.Status != utp.StatusFailed || !strings.Contains(r.Text(), "Expected: search_code(query: string, limit?: integer)") {
			t.Errorf("%+v: %s %q", c, r.Status, r.Text())
		}
	}
	if len(b.ran) != 1 {
		t.Errorf("ran %v", b.ran)
	}
}

func TestGateWithoutARunner(t *testing.T) {
	g := agent.Gate{Tools: schema.Compile(tools), Tier: utp.TierWalk}
	if r := g.Run(t.Context(), callOf("read_file", `{"path":"a"}`, utp.SourceNative)); r.Status != utp.StatusFailed {
		t.Errorf("%+v", r)
	}
}

// contract: A-16 C-03 R-12
func TestPreflight(t *testing.T) {
	g, b := gate(utp.TierRun)
	reply := utp.Reply{
		Message: utp.Message{Parts: []utp.Part{
			callOf("serch_code", `{}`, utp.SourceNative),
			callOf("search_code", `{"limit":"many"}`, utp.SourceNative),
			callOf("search_code", `{"query":"x","limit":"5"}`, utp.SourceNative),
			callOf("write_file", `{"path":"a","content":"b"}`, "text:hermes"),
			callOf("read_file", `{"path":"a"}`, "text:hermes"),
		}},
		Problems: []utp.Problem{{Kind: utp.ProblemTruncated, Name: "read_file"}},
	}
	var got []string
	for _, i := range agent.Preflight(g, reply) {
		got = append(got, string(i.Severity)+" "+i.Tool+" "+i.Reason)
	}
	want := []string{"error serch_code unknown_tool", "error search_code arguments", "warning search_code fixed",
		"warning write_file confirmation", "warning write_file text", "error read_file truncated"}
	if d := cmp.Diff(want, got); d != "" || len(b.ran) > 0 {
		t.Errorf("%s\nran %v", d, b.ran)
	}
	g.Tier = utp.TierWalk
	if is := agent.Preflight(g, reply); !strings.Contains(is[3].Message, "current tier (WALK)") {
		t.Errorf("%+v", is)
	}
}

// contract: A-16 C-03
func TestPreviewRunsNothing(t *testing.T) {
	b := &bench{}
	m := readScript("text Look:\ntextcall read_file {\"path\":\"a\"}\ncall w write_file {}\n")
	reply, issues, err := agent.Preview(t.Context(), config("", m, b), ask("?"))
	if err != nil || len(b.ran) > 0 || len(m.requests) != 1 {
		t.Fatalf("%v, ran %v, %d requests", err, b.ran, len(m.requests))
	}
	if cs := reply.Calls(); len(cs) != 2 || cs[0].ID != "w" || cs[1].ID != "call_1_1" || reply.Text() != "Look:" {
		t.Errorf("%+v", reply)
	}
	if len(issues) != 1 || issues[0].CallID != "w" {
		t.Errorf("%+v", issues)
	}
	if _, _, err := agent.Preview(t.Context(), config("", readScript("fail boom"), b), ask("?")); err == nil {
		t.Error("an error was lost")
	}
}

// A streamed call has one id from its start over the question to the user to its
// result, also where the provider gave none, or one that is taken.
//
// contract: I-09 I-10
func TestAStreamedCallKeepsItsID(t *testing.T) {
	stream := func(part int, id string) []utp.Event {
		call := utp.Call{ID: id, Name: "write_file", Args: json.RawMessage(`{"path":"a","content":"x"}`), Source: utp.SourceNative}
		start := call
		start.Args = nil
		return []utp.Event{{Kind: utp.EventCallStart, Part: part, Call: &start}, {Kind: utp.EventCallDelta, Part: part, Text: string(call.Args)}, {Kind: utp.EventCallEnd, Part: part, Call: &call}}
	}
	finish := utp.Event{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopTool}}
	m := readScript("text .\n---\ntext Done.\n")
	m.replies[0] = slices.Concat(stream(0, "own"), stream(1, ""), stream(2, "own"), []utp.Event{finish})
	c := config("tier run\nconfirm yes", m, &bench{})
	c.Gate.Confirm = func(_ context.Context, call utp.Call, _ utp.Tool) (bool, string) { return call.ID != "own", "no" }
	seen := map[string][]string{} // by id
	for e, err := range agent.Turn(t.Context(), c, ask("?")) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Kind == agent.Stream && e.Model.Kind == utp.EventCallStart:
			seen[e.Model.Call.ID] = append(seen[e.Model.Call.ID], "start")
		case e.Call != nil:
			seen[e.Call.ID] = append(seen[e.Call.ID], e.Kind.String())
		}
	}
	ran := []string{"start", "parsed", "pending", "approved", "started", "succeeded", "result"}
	want := map[string][]string{"own": {"start", "parsed", "pending", "denied", "result"}, "call_1_1": ran, "call_1_2": ran}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

// A rule that forbids goes over everything, one that asks over what is allowed, and
// one that allows spares the question; none lifts the tier.
func TestRulesDecide(t *testing.T) {
	for _, tt := range []struct {
		tier    utp.Tier
		call    string
		decides rule.Decision
		allow   string
		asked   bool
		refused agent.Refusal
		by      string
	}{
		{utp.TierRun, "write_file", rule.Allow, "", false, agent.NotRefused, "rule"},
		{utp.TierRun, "write_file", rule.Ask, "run", true, agent.NotRefused, "user"},
		{utp.TierRun, "write_file", rule.Deny, "run", false, agent.Forbidden, ""},
		{utp.TierRun, "write_file", rule.None, "run", false, agent.NotRefused, "allow"},
		{utp.TierRun, "read_file", rule.Ask, "", true, agent.NotRefused, "user"},
		{utp.TierRun, "read_file", rule.Deny, "", false, agent.Forbidden, ""},
		{utp.TierWalk, "write_file", rule.Allow, "", false, agent.AboveTier, ""},
	} {
		asked, by := false, ""
		g := &agent.Gate{Tools: schema.Compile(tools), Tier: tt.tier, Runner: &bench{}, Allow: []string{tt.allow},
			Rule:    func(utp.Call) rule.Verdict { return rule.Verdict{Decision: tt.decides, Why: "so it is"} },
			Confirm: func(context.Context, utp.Call, utp.Tool) (bool, string) { asked = true; return true, "" }}
		args := `{"path":"x","content":"y"}`
		if tt.call == "read_file" {
			args = `{"path":"x"}`
		}
		conf := agent.Config{Model: readScript("call a " + tt.call + " " + args + "\n---\ntext Done.\n"), Gate: g}
		var done agent.Done
		for e, err := range agent.Turn(t.Context(), conf, ask("?")) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == agent.Started {
				by = e.By
			}
			if e.Kind == agent.Final {
				done = e.Answer.Calls[0]
			}
		}
		if asked != tt.asked || done.Refusal != tt.refused || by != tt.by {
			t.Errorf("%s, %s: asked %v, refused %q, by %q", tt.call, tt.decides, asked, done.Refusal, by)
		}
		if tt.refused == agent.Forbidden && !strings.Contains(done.Result.Text(), "a rule forbids this call (so it is)") {
			t.Errorf("the model reads %q", done.Result.Text())
		}
	}
}
