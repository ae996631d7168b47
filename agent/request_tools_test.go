package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/schema"
)

func names(g *agent.Gate) (out []string) {
	for _, t := range g.Offered() {
		out = append(out, t.Name)
	}
	return out
}

func request(tier string) utp.Call {
	args, _ := json.Marshal(map[string]string{"tier": tier, "reason": "to mend the build"})
	return utp.Call{ID: "1", Name: "request_tools", Args: args}
}

// contract: X-16
func TestAModelAsksForAHigherTier(t *testing.T) {
	yes, asked := true, 0
	b := &bench{}
	make := func(tier, ceiling utp.Tier) *agent.Gate {
		return &agent.Gate{Tools: schema.CompileWith(append(slices.Clone(tools), agent.RequestTools()), schema.Options{Aliases: agent.RequestAliases()}),
			Tier: tier, Ceiling: ceiling, Runner: b, Allow: []string{"run"},
			Confirm: func(context.Context, utp.Call, utp.Tool) (bool, string) { asked++; return yes, "the user said no" }}
	}
	g := make(utp.TierWalk, utp.TierRun)
	if got := names(g); !slices.Contains(got, "request_tools") || slices.Contains(got, "write_file") {
		t.Errorf("offered %v", got)
	}
	if r := g.Run(t.Context(), request("RUN")); r.Status != utp.StatusOK || !strings.Contains(r.Text(), "write_file") || asked != 1 {
		t.Errorf("%s %q, asked %d times; --allow run is no yes to it", r.Status, r.Text(), asked)
	}
	if got := names(g); slices.Contains(got, "request_tools") || !slices.Contains(got, "write_file") {
		t.Errorf("then offered %v", got)
	}
	if len(b.ran) > 0 {
		t.Errorf("%v ran", b.ran)
	}
	g = make(utp.TierWalk, utp.TierRun)
	g.Rule = func(utp.Call) rule.Verdict { return rule.Verdict{Decision: rule.Allow} }
	if asked = 0; g.Run(t.Context(), request("RUN")).Status != utp.StatusOK || asked != 1 {
		t.Errorf("asked %d times: a rule that allows it is no yes to it either", asked)
	}
	yes = false
	g = make(utp.TierWalk, utp.TierRun)
	if r := g.Run(t.Context(), request("RUN")); r.Status != utp.StatusDenied || g.Tier != utp.TierWalk {
		t.Errorf("after a no: %s %q, tier %s", r.Status, r.Text(), g.Tier)
	}
	asked = 0
	if r := make(utp.TierCrawl, utp.TierWalk).Run(t.Context(), request("RUN")); r.Status != utp.StatusDenied || asked > 0 || !strings.Contains(r.Text(), "up to WALK") {
		t.Errorf("above the ceiling: %s %q, asked %d times", r.Status, r.Text(), asked)
	}
	g = make(utp.TierRun, utp.TierRun)
	if slices.Contains(names(g), "request_tools") {
		t.Error("it is offered where there is nothing to ask for")
	}
	if r := g.Run(t.Context(), request("RUN")); r.Status != utp.StatusOK || asked > 0 || !strings.Contains(r.Text(), "offered already") {
		t.Errorf("of what is offered: %s %q, asked %d times", r.Status, r.Text(), asked)
	}
	if r := make(utp.TierWalk, 0).Run(t.Context(), request("RUN")); r.Status == utp.StatusOK || asked > 0 {
		t.Errorf("without a ceiling: %s %q", r.Status, r.Text())
	}
}
