package agent

import (
	"context"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
)

// Severity is how bad an Issue is.
type Severity string

const (
	SeverityError   Severity = "error"   // the call would be refused
	SeverityWarning Severity = "warning" // it would run, and somebody should know this
)

// Issue is what would happen to a call of a reply that is not run.
type Issue struct {
	Severity Severity `json:"severity"`
	CallID   string   `json:"call_id,omitempty"`
	Tool     string   `json:"tool,omitempty"`
	Reason   string   `json:"reason"` // a Refusal, a utp.ProblemKind, "confirmation", "fixed", "unknown" or "text"
	Message  string   `json:"message"`
}

// Preflight says what the gate would object to in a reply. Nothing runs and
// nobody is asked.
func Preflight(g *Gate, r utp.Reply) []Issue {
	if g == nil {
		g = &Gate{}
	}
	var out []Issue
	for _, c := range r.Calls() {
		out = append(out, g.preflight(c)...)
	}
	for _, p := range r.Problems {
		out = append(out, Issue{SeverityError, "", p.Name, string(p.Kind), p.Error()})
	}
	return out
}

func (g *Gate) preflight(c utp.Call) (out []Issue) {
	say := func(s Severity, reason, text string) {
		out = append(out, Issue{s, c.ID, c.Name, reason, text})
	}
	fixed, tool, no := g.check(c)
	if no != nil {
		say(SeverityError, string(no.why), no.text)
		return out
	}
	for _, f := range fixed.Fixes {
		say(SeverityWarning, "fixed", fmt.Sprintf("%s: %s (%q became %q)", f.Path, f.Why, f.Was, f.Now))
	}
	for _, i := range g.Tools.Unknown(fixed.Name, fixed.Args) {
		say(SeverityWarning, "unknown", i.Error())
	}
	if g.decider(fixed, tool) == "" {
		say(SeverityWarning, "confirmation", fmt.Sprintf("'%s' would run only after a question to the user", c.Name))
	}
	if c.FromText() && tool.Tier >= utp.TierRun {
		say(SeverityWarning, "text", fmt.Sprintf("'%s' was recovered from the model's text (%s)", c.Name, c.Source))
	}
	return out
}

// Preview asks the model once, with the tools on offer, and runs nothing: it
// gives the reply with its calls, and what the gate would object to.
func Preview(ctx context.Context, c Config, r *utp.Request) (utp.Reply, []Issue, error) {
	t, err := begin(ctx, c, r, func(Event) bool { return true })
	if err != nil {
		return utp.Reply{}, nil, err
	}
	t.guide = t.Guide.text(ctx)
	rep, err := t.once(ctx, t.Gate.Offered(), "")
	if err != nil {
		return utp.Reply{}, nil, t.failed(ctx, err)
	}
	return rep.Reply, Preflight(t.Gate, rep.Reply), nil
}
