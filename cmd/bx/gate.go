package main

import (
	"context"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// builtins runs the built-in tools, and hands on what the user and the rules said.
// Calls of tools of MCP servers go to these.
type builtins struct{ *job }

func (b builtins) Run(ctx context.Context, c utp.Call) utp.Result {
	if b.servers.has(c.Name) {
		return b.servers.run(ctx, b.tools, c)
	}
	if agent.Consented(ctx) {
		return b.tools.Run(tool.Approve(ctx), c)
	}
	if c.Name == tool.ShellName {
		b.rules.unkept.Do(func() {
			if note := b.tools.Unkept(ctx, c); note != "" {
				b.view.Warn("%s", note)
			}
		})
	}
	if b.verdict(c).Parsed {
		ctx = tool.Simple(ctx)
	}
	return b.tools.Run(ctx, c)
}

// gate is what stands between a model, or an MCP client, and the tools.
func (j *job) gate(known *schema.Set, tier utp.Tier, run agent.Runner, confirm agent.Confirm) *agent.Gate {
	return &agent.Gate{Tools: known, Tier: tier, Runner: run, Confirm: confirm, Allow: j.app.allow, Named: j.named(),
		Rule: j.verdict, Sensitive: j.sensitive, Fails: j.fails}
}

// named are the tools that "run" does not stand for.
func (j *job) named() []string { return append([]string{tool.ShellName}, j.servers.names()...) }

// sensitive says why a call needs the user's word, whatever is allowed.
func (j *job) sensitive(c utp.Call) string {
	if j.servers.has(c.Name) {
		return j.servers.pool.Sensitive(c)
	}
	return j.tools.Sensitive(c)
}

// fails finds a call that would fail before the user is asked about it.
func (j *job) fails(ctx context.Context, c utp.Call) *utp.Result {
	_, failure := j.tools.Foresee(ctx, c)
	return failure
}
