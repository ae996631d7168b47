package parse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var adds = schema.Compile([]utp.Tool{{Name: "add", Schema: json.RawMessage(
	`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`)}})

// Where the caller wants arguments checked, those that do not fit the tool are a
// Problem that says what is wanted, however the call is written and cut.
func TestCheckedArgumentsFit(t *testing.T) {
	for text, want := range map[string]string{
		"Action: add\nfoo": "invalid",
		"<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</tool_call>":               "invalid",
		"<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}</tool_call>":     `{"a":1,"b":2}`,
		"<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": \"1\", \"b\": 2}}</tool_call>": `{"a":1,"b":2}`,
		"{\"name\": \"add\", \"arguments\": {\"a\": 1}}":                                      "invalid",
		"<function=add><parameter=a>\n1\n</parameter></function>":                             "invalid",
		"<tool_call>{\"name\": \"other\", \"arguments\": {\"a\": 1}}</tool_call>":             `{"a":1}`,
	} {
		c := parse.Config{Tools: adds, Check: true}
		whole := feed(c, text, false)
		for _, evs := range [][]utp.Event{whole, feed(c, text, false, every(len(text), 1)...)} {
			r := utp.Collect(evs)
			if got := outcome(r); got != want {
				t.Errorf("%q: %s, want %s\n%+v", text, got, want, r)
			}
			if merged(evs) != merged(whole) {
				t.Errorf("%q: other events byte by byte:\n%s\n%s", text, merged(evs), merged(whole))
			}
			tile(t, text, evs)
			started(t, evs)
		}
	}
	p := parse.Text(parse.Config{Tools: adds, Check: true}, "Hm. <tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</tool_call>").Problems
	if len(p) != 1 || p[0].Name != "add" || p[0].Offset != 4 || !strings.Contains(p[0].Message, `missing required argument "b"`) || p[0].Want != "add(a: integer, b: integer)" {
		t.Errorf("%+v", p)
	}
}

// outcome is a reply's only call, or its only problem.
func outcome(r utp.Reply) string {
	calls := r.Calls()
	switch {
	case len(calls) == 1 && len(r.Problems) == 0:
		return string(calls[0].Args)
	case len(calls) == 0 && len(r.Problems) == 1:
		return string(r.Problems[0].Kind)
	}
	return "neither one call nor one problem"
}

// Native calls are held to the same.
func TestCheckedNativeArgumentsFit(t *testing.T) {
	for args, want := range map[string]string{`{"a":1}`: "invalid", `{"a":1,"b":2}`: `{"a":1,"b":2}`, `{"a":"1","b":2}`: `{"a":1,"b":2}`, `[]`: "invalid"} {
		call := utp.Call{ID: "x", Name: "add", Args: json.RawMessage(args)}
		for name, evs := range map[string][]utp.Event{
			"streamed": {{Kind: utp.EventCallStart, Call: &utp.Call{ID: "x", Name: "add"}}, {Kind: utp.EventCallDelta, Text: args[:1]}, {Kind: utp.EventCallDelta, Text: args[1:]}, {Kind: utp.EventCallEnd, Call: &call}},
			"whole":    {{Kind: utp.EventWhole, Value: call}},
		} {
			p := parse.New(parse.Config{Tools: adds, Check: true})
			var out []utp.Event
			for _, e := range append(evs, utp.Event{Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopTool}}) {
				out = append(out, p.Through(e)...)
			}
			if got := outcome(utp.Collect(out)); got != want {
				t.Errorf("%s %s: %s, want %s", name, args, got, want)
			}
			started(t, out)
		}
	}
}

// Every call of every case that passes the check fits its tool, and nothing else
// about the reading changes but calls that do not.
func TestCheckOnEveryCase(t *testing.T) {
	golden.Run(t, cases, func(t *testing.T, c *golden.Case) {
		cfg := config(t, c)
		if cfg.Tools.Len() == 0 {
			return
		}
		in, cut := c.Get("in"), c.Has("cut")
		free := utp.Collect(feed(cfg, in, cut)).Calls()
		cfg.Check = true
		evs := feed(cfg, in, cut)
		tile(t, in, evs)
		started(t, evs)
		for _, call := range utp.Collect(evs).Calls() {
			if fit, issues := cfg.Tools.Fit(call); len(issues) > 0 || string(fit.Args) != string(call.Args) {
				t.Errorf("%s %s: %v", call.Name, call.Args, issues)
			}
		}
		var want, got int
		for _, call := range free {
			if _, issues := cfg.Tools.Fit(call); len(issues) == 0 {
				want++
			}
		}
		if got = len(utp.Collect(evs).Calls()); got != want {
			t.Errorf("%d calls, want %d of %d", got, want, len(free))
		}
	})
}
