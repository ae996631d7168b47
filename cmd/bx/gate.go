package main

import (
	"context"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// builtins runs the built-in tools and hands on what the user and the rules said.
type builtins struct{ *job }

func (b builtins) Run(ctx context.Context, c utp.Call) utp.Result {
	switch {
	case agent.Consented(ctx):
		ctx = tool.Approve(ctx)
	case b.verdict(c).Parsed:
		ctx = tool.Simple(ctx)
	}
	return b.tools.Run(ctx, c)
}

// gate is what stands between a model, or an MCP client, and the tools.
func (j *job) gate(known *schema.Set, tier utp.Tier, run agent.Runner, confirm agent.Confirm) *agent.Gate {
	return &agent.Gate{Tools: known, Tier: tier, Runner: run, Confirm: confirm, Allow: j.app.allow, Named: []string{tool.ShellName},
		Rule: j.verdict, Sensitive: j.tools.Sensitive, Fails: j.fails}
}

// fails finds a call that would fail before the user is asked about it.
func (j *job) fails(ctx context.Context, c utp.Call) *utp.Result {
	_, failure := j.tools.Foresee(ctx, c)
	return failure
}
