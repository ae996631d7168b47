package parse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// The least shares of the rows whose notes name no malformation that are read as
// their engine read them: of those that assert calls, and of those that assert none.
const (
	wantCalls = 0.97
	wantNone  = 0.94
)

// Why a row is read otherwise than its engine did.
const (
	bySchema   = "typed by the schema"
	undeclared = "undeclared tool"
	policy     = "policy"
	reasoning  = "a reasoning parser's test"
	cutShort   = "cut by law 9"
	ours       = "ours"
)

// TestNotesAlone counts the rows by their notes alone: whatever else is odd in one,
// it counts. Every miss is in the list, with one of six reasons.
func TestNotesAlone(t *testing.T) {
	var missed []string
	reasons := map[string][2]int{}
	var rowsOf, equalOf [2]int
	for _, r := range rows(t) {
		if strings.HasPrefix(r.Grammar, "reasoning:") || r.Expect.ToolCalls == nil || !r.soundNotes() {
			continue
		}
		sort := min(len(r.Expect.ToolCalls), 1)
		rowsOf[sort]++
		got := r.read(t, r.named())
		kind := compare(got, r.Expect.ToolCalls)
		if kind == equal {
			equalOf[sort]++
			continue
		}
		why := r.reason(kind, got)
		missed = append(missed, fmt.Sprintf("%s: %s: %s", r.ID, kind, why))
		n := reasons[why]
		n[sort]++
		reasons[why] = n
	}
	calls, none := float64(equalOf[1])/float64(rowsOf[1]), float64(equalOf[0])/float64(rowsOf[0])
	t.Logf("rows that assert calls: %d of %d (%.2f %%); none: %d of %d (%.2f %%)", equalOf[1], rowsOf[1], calls*100, equalOf[0], rowsOf[0], none*100)
	if calls < wantCalls || none < wantNone {
		t.Errorf("%.4f of the rows that assert calls and %.4f of those that assert none are equal: want %.2f and %.2f", calls, none, wantCalls, wantNone)
	}
	golden.File(t, "testdata/missed.txt", strings.Join(missed, "\n")+"\n")
	golden.Between(t, "../docs/conformance.md", "missed", missedTable(rowsOf, equalOf, reasons))
}

// missedTable counts the rows by what became of them, first those that assert calls.
func missedTable(rows, equal [2]int, reasons map[string][2]int) string {
	var b strings.Builder
	b.WriteString("| | calls asserted | none asserted |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| rows | %d | %d |\n| equal | %d | %d |\n", rows[1], rows[0], equal[1], equal[0])
	for _, why := range []string{cutShort, policy, bySchema, undeclared, reasoning, ours} {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", why, reasons[why][1], reasons[why][0])
	}
	return b.String()
}

// judged are rows whose reason nothing in them tells.
var judged = map[string]string{
	"vllm_sglang.jsonl:332":  policy, // drops an argument that the tool does not have
	"vllm_sglang.jsonl:334":  policy, // the same
	"vllm_sglang.jsonl:691":  policy, // makes a call of a head that is not closed
	"vllm_sglang.jsonl:701":  policy, // makes a call between words after its marker
	"vllm_sglang.jsonl:1124": policy, // drops a broken argument and makes the call without it
	"vllm_sglang.jsonl:1386": policy, // takes the first of two values
	"vllm_sglang.jsonl:1425": policy, // makes calls inside thinking that closes
}

// reason says why a row is read otherwise.
func (r row) reason(kind string, got []utp.Call) string {
	declared := r.declared()
	unknown := func(name string) bool { return len(declared) > 0 && !slices.Contains(declared, name) }
	var wants []string
	for _, w := range r.Expect.ToolCalls {
		wants = append(wants, w.Name)
	}
	switch {
	case judged[r.ID] != "":
		return judged[r.ID]
	case kind == typed && !slices.Contains(wants, ""):
		return bySchema
	case strings.Contains(strings.ToLower(r.Source), "reasoning"):
		return reasoning
	case kind == refused && r.tells(func(p utp.Problem) bool {
		return p.Kind == utp.ProblemTruncated || p.Message == "the output ended inside the call"
	}):
		return cutShort
	case slices.Contains(wants, ""), r.tells(func(p utp.Problem) bool { return p.Kind == utp.ProblemQuoted || p.Kind == utp.ProblemRepeated }):
		return policy // the engine makes calls without a name, or that a sentence shows
	case slices.ContainsFunc(wants, unknown), slices.ContainsFunc(got, func(c utp.Call) bool { return unknown(c.Name) }),
		r.tells(func(p utp.Problem) bool { return p.Kind == utp.ProblemUnknownTool }):
		return undeclared
	case kind == kept:
		return policy
	}
	return ours
}

// declared are the names of the row's own tools.
func (r row) declared() (out []string) {
	for _, t := range r.Tools {
		out = append(out, t.Function.Name)
	}
	return out
}

// tells reports whether such a problem is told of the row.
func (r row) tells(is func(utp.Problem) bool) bool {
	return slices.ContainsFunc(utp.Collect(feed(r.named(), r.Input, false)).Problems, is)
}
