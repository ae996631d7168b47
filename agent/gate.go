package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Gate is a Runner that decides what may run, and the only place that does:
// for the turn loop, for MCP, and whatever the dialect of the call. It looks
// at a call in this order: does the tool exist, is its tier within Tier, do
// the arguments fit its schema, does a rule forbid it, does the user agree. Then
// Runner runs it.
//
// To add a rule, wrap Runner in one that refuses.
type Gate struct {
	Tools   *schema.Set // every tool there is; nil: none
	Tier    utp.Tier    // the highest tier that may run now
	Ceiling utp.Tier    // the tier that RequestTools may raise Tier to after a yes
	Runner  Runner
	Confirm Confirm  // nil: the answer is no
	Allow   []string // tools that run unasked: names, or "run" for every tool of that tier
	Named   []string // tools that "run" does not stand for: they must be named
	// Rule is what the user's rules decide about a call; nil: there are none.
	Rule func(c utp.Call) rule.Verdict
	// Sensitive says why this very call needs the user's word, whatever is
	// allowed; "" where it does not. nil: no call does.
	Sensitive func(c utp.Call) (why string)
	// Fails gives the result of a call that cannot succeed, so that nobody is
	// asked about it; nil for every other. A nil func knows of none.
	Fails func(ctx context.Context, c utp.Call) *utp.Result
}

// Consented reports whether the user said yes to the call that a Runner gets.
func Consented(ctx context.Context) bool {
	yes, _ := ctx.Value(consent{}).(bool)
	return yes
}

type consent struct{}

// Confirm asks the user whether a call may run. The text is the reason of a
// no, for the model; it may be empty. A call that c.FromText() was not made in
// the provider's own field but found in the model's text: say so (Question does).
type Confirm func(ctx context.Context, c utp.Call, t utp.Tool) (ok bool, why string)

// Offered lists the tools of the current tier, in the order they were given.
func (g *Gate) Offered() []utp.Tool {
	var out []utp.Tool
	for _, name := range g.Tools.Names() {
		if t, ok := g.Tools.Tool(name); ok && t.Tier <= g.Tier && (name != requestTools || g.Ceiling > g.Tier) {
			out = append(out, t)
		}
	}
	return out
}

// Run runs the call, or answers why not.
func (g *Gate) Run(ctx context.Context, c utp.Call) utp.Result {
	return g.run(ctx, c, time.Now, func(Event) {}).Result
}

// run tells each step to see. The Done it gives has the arguments that ran.
func (g *Gate) run(ctx context.Context, c utp.Call, now func() time.Time, see func(Event)) Done {
	c, tool, no := g.check(c)
	if no != nil {
		return refuse(c, *no, see)
	}
	by := g.decider(c, tool)
	if by == "" {
		if no := g.confirm(ctx, c, tool, see); no != nil {
			return refuse(c, *no, see)
		}
		ctx = context.WithValue(ctx, consent{}, true)
		by = "user"
	}
	see(Event{Kind: Started, Call: &c, By: by})
	start := now()
	r := g.call(ctx, c)
	if note := g.strangers(c); note != "" {
		r.Parts = append(slices.Clip(r.Parts), utp.Text{Text: "\n" + note})
	}
	d := Done{Call: c, Result: r, Duration: now().Sub(start)}
	kind := Succeeded
	if r.Status != utp.StatusOK {
		kind = Failed
	}
	see(Event{Kind: kind, Call: &c, Result: &r, Duration: d.Duration})
	return d
}

// refusal is a call that must not run: what it is and what the model reads.
type refusal struct {
	why    Refusal
	status utp.Status
	text   string
}

func refuse(c utp.Call, no refusal, see func(Event)) Done {
	r := utp.TextResult(c, no.status, no.text)
	kind := Denied
	if no.status == utp.StatusFailed {
		kind = Failed
	}
	see(Event{Kind: kind, Call: &c, Result: &r, Refusal: no.why})
	return Done{Call: c, Result: r, Refusal: no.why}
}

// check judges a call without asking anyone. The call it gives has arguments
// that fit the schema, with a Fix for each change.
func (g *Gate) check(c utp.Call) (utp.Call, utp.Tool, *refusal) {
	tool, ok := g.Tools.Tool(c.Name)
	if !ok {
		return c, tool, &refusal{UnknownTool, utp.StatusFailed, g.unknown(c.Name)}
	}
	if tool.Tier > g.Tier {
		return c, tool, &refusal{AboveTier, utp.StatusDenied,
			fmt.Sprintf("Tool '%s' not available at current tier (%s)", c.Name, g.Tier)}
	}
	c, issues := g.Tools.Fit(c)
	if len(issues) > 0 {
		return c, tool, &refusal{BadArguments, utp.StatusFailed, g.misfit(c.Name, issues)}
	}
	if v := g.rule(c); v.Decision == rule.Deny {
		return c, tool, &refusal{Forbidden, utp.StatusDenied, forbidden(c, v)}
	}
	return c, tool, g.tooHigh(c)
}

func (g *Gate) rule(c utp.Call) rule.Verdict {
	if g.Rule == nil {
		return rule.Verdict{}
	}
	return g.Rule(c)
}

func forbidden(c utp.Call, v rule.Verdict) string {
	text := fmt.Sprintf("Tool '%s' was denied: a rule forbids this call", c.Name)
	if v.Why != "" {
		text += " (" + v.Why + ")"
	}
	return text
}

// unknown words the answer to a call of a tool that is not there. It names
// tools of the current tier only.
func (g *Gate) unknown(name string) string {
	offered := schema.Compile(g.Offered())
	list := "none"
	if offered.Len() > 0 {
		list = strings.Join(offered.Names(), ", ")
	}
	text := fmt.Sprintf("Tool '%s' does not exist. Available: %s", name, list)
	if near := offered.Nearest(name); len(near) > 0 {
		text += fmt.Sprintf("\nDid you mean '%s'?", near[0])
	}
	return text
}

// strangers tells the model of arguments that the tool does not know.
func (g *Gate) strangers(c utp.Call) string {
	if c.Kind == utp.CustomCall {
		return ""
	}
	var lines []string
	for _, i := range g.Tools.Unknown(c.Name, c.Args) {
		lines = append(lines, "Note: "+i.Error())
	}
	return strings.Join(lines, "\n")
}

func isObject(b json.RawMessage) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// misfit lists what is wrong with arguments and shows what is wanted.
func (g *Gate) misfit(tool string, issues []schema.Issue) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The arguments of '%s' do not fit its schema. It was not run.", tool)
	for _, i := range issues {
		b.WriteString("\n- " + i.Error())
	}
	b.WriteString("\nExpected: " + g.Tools.Describe(tool))
	return b.String()
}

func (g *Gate) confirm(ctx context.Context, c utp.Call, tool utp.Tool, see func(Event)) *refusal {
	if g.Fails != nil {
		if r := g.Fails(ctx, c); r != nil {
			return &refusal{Doomed, r.Status, r.Text()}
		}
	}
	see(Event{Kind: Pending, Call: &c, Tool: &tool})
	ok, why := false, "there is nobody to ask"
	if g.Confirm != nil {
		ok, why = g.Confirm(ctx, c, tool)
	}
	if ok {
		see(Event{Kind: Approved, Call: &c, Tool: &tool})
		return nil
	}
	text := fmt.Sprintf("Tool '%s' needs the user's confirmation and was denied", c.Name)
	if why != "" {
		text += ": " + why
	}
	return &refusal{NotConfirmed, utp.StatusDenied, text}
}

// asks reports whether a tool runs only after a question.
func asks(t utp.Tool) bool { return t.Confirm || t.Tier >= utp.TierRun }

func (g *Gate) allowed(t utp.Tool) bool {
	return slices.ContainsFunc(g.Allow, func(a string) bool {
		return a == t.Name || strings.EqualFold(a, t.Tier.String()) && !slices.Contains(g.Named, t.Name)
	})
}

// decider says who lets a call run unasked: "tier", "rule" or "allow". "" is that
// the user is asked.
func (g *Gate) decider(c utp.Call, t utp.Tool) string {
	verdict := g.rule(c).Decision
	switch {
	case g.Sensitive != nil && g.Sensitive(c) != "", verdict == rule.Ask:
		return ""
	case !asks(t):
		return "tier"
	case t.Name == requestTools && !g.offers(c):
		return ""
	case t.Name == requestTools:
		return "tier"
	case verdict == rule.Allow:
		return "rule"
	case g.allowed(t):
		return "allow"
	}
	return ""
}

// harmless reports whether a call may run beside others.
func (g *Gate) harmless(c utp.Call) bool {
	t, ok := g.Tools.Tool(c.Name)
	return !ok || !asks(t) && g.decider(c, t) != ""
}

// call runs what was allowed. A panic and a missing result are failures, not
// the end of the turn.
func (g *Gate) call(ctx context.Context, c utp.Call) (r utp.Result) {
	defer func() {
		if p := recover(); p != nil {
			r = utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("Tool '%s' failed: %v", c.Name, p))
		}
	}()
	if c.Name == requestTools {
		return g.raise(c)
	}
	if g.Runner == nil {
		return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("Tool '%s' cannot run here: no runner is set", c.Name))
	}
	r = g.Runner.Run(ctx, c)
	switch {
	case r.Status == "" && len(r.Parts) == 0:
		r = utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("Tool '%s' gave no result: it was lost", c.Name))
	case r.Status == "":
		r.Status = utp.StatusOK
	}
	r.CallID, r.Name = c.ID, c.Name
	return r
}

// Question words what the user is asked before a call runs.
func Question(c utp.Call, t utp.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Run %s (%s)?", t.Name, t.Tier)
	if c.FromText() {
		fmt.Fprintf(&b, " This call was recovered from the model's text (%s).", c.Dialect())
	}
	b.WriteString("\n" + showArgs(c))
	return b.String()
}

func showArgs(c utp.Call) string {
	var out bytes.Buffer
	if c.Kind == utp.CustomCall || json.Indent(&out, c.Args, "", "  ") != nil {
		return c.RawArgs
	}
	return out.String()
}
