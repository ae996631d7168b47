package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/tool"
)

func printer(live bool) (p *view.Printer, out, errs *strings.Builder) {
	out, errs = new(strings.Builder), new(strings.Builder)
	return &view.Printer{Out: out, Err: errs, Live: live}, out, errs
}

// A model must not be able to move the cursor or hide what it does.
//
// contract: W-16
func TestCleanShowsControlCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext ü":    "plain\n\ttext ü",
		"a\x1b[2Jb":          `a\u001b[2Jb`,
		"a\rb\x00":           `a\u000db\u0000`,
		"abc\u202edef\u2066": `abc\u202edef\u2066`,
	} {
		if got := view.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// contract: Z-05
func TestLiveTextIsNotPrintedTwice(t *testing.T) {
	p, out, _ := printer(true)
	p.Event(agent.Event{Kind: agent.Round, Round: 1})
	p.Event(agent.Event{Kind: agent.Text, Text: "Hel"})
	if out.String() != "Hel" {
		t.Errorf("%q after the first piece, want it at once", out)
	}
	p.Event(agent.Event{Kind: agent.Text, Text: "lo\x1b."})
	p.Answer("Hello\x1b.")
	if want := "Hello\\u001b.\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestLiveAnswerThatDiffersIsPrinted(t *testing.T) {
	p, out, errs := printer(true)
	p.Event(agent.Event{Kind: agent.Round, Round: 1})
	p.Event(agent.Event{Kind: agent.Text, Text: "Let me see."})
	p.Line(view.Normal, "a line")
	p.Event(agent.Event{Kind: agent.Round, Round: 2})
	p.Answer("It is 4.")
	if out.String() != "Let me see.\nIt is 4.\n" || errs.String() != "a line\n" {
		t.Errorf("out %q, err %q", out, errs)
	}
}

func TestNothingButTheAnswerIsOnOut(t *testing.T) {
	p, out, errs := printer(false)
	p.Level = view.Debug
	c := utp.Call{Name: "x", Args: json.RawMessage(`{"a":1}`), Source: utp.SourceNative, Fixes: []utp.Fix{{Path: "/a", Was: `"1"`, Now: "1", Why: "a number is wanted"}}}
	r := utp.TextResult(c, utp.StatusDenied, "no")
	for _, e := range []agent.Event{
		{Kind: agent.Round, Round: 1, Request: &utp.Request{}}, {Kind: agent.Text, Text: "prose"}, {Kind: agent.Think, Text: "hm"},
		{Kind: agent.Parsed, Call: &c, Raw: "raw"}, {Kind: agent.Problem, Problem: &utp.Problem{Kind: utp.ProblemMalformed, Raw: strings.Repeat("y", 200)}},
		{Kind: agent.Denied, Call: &c, Result: &r, Refusal: agent.AboveTier}, {Kind: agent.Result, Call: &c, Result: &r, Cached: true},
		{Kind: agent.Warning, Text: "careful"}, {Kind: agent.Forced, Text: "enough"},
	} {
		p.Event(e)
	}
	p.Answer("The answer.")
	if out.String() != "The answer.\n" {
		t.Errorf("out %q", out)
	}
	for _, want := range []string{"thinking: hm\n", `x {"a":1}`, `repaired /a: a number is wanted ("1" → 1)`, "x denied: no", "debug: refused: tier",
		"warning: careful", "without tools: enough", "used again", strings.Repeat("y", 100) + "…"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, errs)
		}
	}
}

func TestQuestion(t *testing.T) {
	c := utp.Call{Name: "edit_block", Args: json.RawMessage(`{"path":"a.txt\u001b[2J"}`), Source: "text:react"}
	edit := utp.Tool{Name: "edit_block", Tier: utp.TierRun}
	change := tool.Change{Path: "a.txt\u001b[2J", Before: "one\ntwo\n", After: "one\n2\n"}
	q := view.Question(c, edit, []tool.Change{change}, "", nil)
	for _, want := range []string{"edit_block (tier RUN)", "recovered from its text (react)", `path: a.txt\u001b[2J`, "-two\n", "+2\n", "Run it?"} {
		if !strings.Contains(q, want) {
			t.Errorf("%q is missing in:\n%s", want, q)
		}
	}
	if q := view.Question(c, edit, nil, "", nil); !strings.Contains(q, `"path"`) {
		t.Errorf("without a difference the arguments are shown:\n%s", q)
	}
	long := strings.Repeat("line\n", 1000)
	if q := view.Question(c, edit, []tool.Change{{Path: "a.txt", After: long, Created: true}}, "", nil); strings.Count(q, "\n") > 220 || !strings.Contains(q, "more lines") {
		t.Errorf("a long difference is not cut: %d lines", strings.Count(q, "\n"))
	}
	several := []tool.Change{{Path: "gone.txt", Before: "x\n", Removed: true}, {Path: "logo.png", Binary: true, Created: true}}
	q = view.Question(c, edit, several, "it configures bx", nil)
	for _, want := range []string{"path: gone.txt (removed)", "path: logo.png (new, not text)", "Look closely: it configures bx"} {
		if !strings.Contains(q, want) {
			t.Errorf("%q is missing in:\n%s", want, q)
		}
	}
}

func TestAYesForGoodSaysWhatItStandsFor(t *testing.T) {
	always := rule.Set{{Tool: "shell", Command: "go test"}, {Tool: "shell", Command: "rm -rf x $"}}
	q := view.Question(utp.Call{Name: "shell"}, utp.Tool{Name: "shell", Tier: utp.TierRun}, nil, "", always)
	if !strings.Contains(q, "(a: yes, and to `go test …` and exactly `rm -rf x` from now on; k: and keep that)") || view.Choices(always) != "y/n/a/k" || view.Choices(nil) != "y/n" {
		t.Error(q)
	}
}

// contract: A-12 A-14
func TestReply(t *testing.T) {
	c := utp.Call{ID: "1", Name: "search_code", Args: json.RawMessage(`{"query":"x"}`), Source: utp.SourceNative}
	plain := utp.TextResult(c, utp.StatusOK, `{"results":[{"path":"b.go"},{"path":"a.go"},{"path":"b.go"}]}`)
	te := utp.TextResult(c, utp.StatusOK, "# TE_BEGIN_META\n{\"v\":1,\"cmd\":\"search\",\"matches\":1,\"truncated\":false}\n# TE_END_META\n\nc.go:1: x\n")
	a := agent.Answer{Text: "Hi", Calls: []agent.Done{{Call: c, Result: plain}, {Call: c, Result: te}}, Usage: utp.Usage{Input: 3, CacheRead: 4, Output: 5, Reasoning: 6}}
	r := view.NewReply(a)
	if got := fmt.Sprint(r.Sources); got != "[b.go a.go c.go]" {
		t.Errorf("sources %s", got)
	}
	if r.TokensPrompt != 7 || r.TokensCompletion != 11 || len(r.ToolCalls) != 2 || r.ToolCalls[0].Fixes == nil {
		t.Errorf("%+v", r)
	}
}
