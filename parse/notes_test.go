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
	wantCalls = 0.95
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
		missed = append(missed, fmt.Sprintf("%s: %s: %s", r.ID, kind, r.reason(kind, got)))
	}
	calls, none := float64(equalOf[1])/float64(rowsOf[1]), float64(equalOf[0])/float64(rowsOf[0])
	t.Logf("rows that assert calls: %d of %d (%.2f %%); none: %d of %d (%.2f %%)", equalOf[1], rowsOf[1], calls*100, equalOf[0], rowsOf[0], none*100)
	if calls < wantCalls || none < wantNone {
		t.Errorf("%.4f of the rows that assert calls and %.4f of those that assert none are equal: want %.2f and %.2f", calls, none, wantCalls, wantNone)
	}
	golden.File(t, "testdata/missed.txt", strings.Join(missed, "\n")+"\n")
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
	case kind == typed:
		return bySchema
	case strings.Contains(strings.ToLower(r.Source), "reasoning"):
		return reasoning
	case slices.ContainsFunc(wants, unknown), slices.ContainsFunc(got, func(c utp.Call) bool { return unknown(c.Name) }):
		return undeclared
	case kind == refused && r.tells(utp.Truncated):
		return cutShort
	case kind == kept, r.tells(utp.Quoted), r.tells(utp.Repeated):
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

// tells reports whether a problem of the kind is told of the row.
func (r row) tells(kind utp.ProblemKind) bool {
	reply := utp.Collect(feed(r.named(), r.Input, false))
	return slices.ContainsFunc(reply.Problems, func(p utp.Problem) bool { return p.Kind == kind })
}
