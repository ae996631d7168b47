package main

import (
	"context"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// confirm asks the user before a call changes anything.
func (j *job) confirm(ctx context.Context, c utp.Call, t utp.Tool) (bool, string) {
	if tier, reason, ok := agent.Wanted(c); ok {
		key, ok := j.app.choose(ctx, view.TierQuestion(c, tier, reason), "y/n")
		return answered(key, ok, "--tier "+strings.ToLower(tier.String()))
	}
	changes, _ := j.tools.Foresee(ctx, c)
	v := j.verdict(c)
	look := j.sensitive(c)
	if look == "" && v.Decision == rule.Ask {
		look = "a rule asks about it (" + v.Why + ")"
	}
	var always rule.Set
	if look == "" && !repaired(c) {
		always = j.always(c, changes)
	}
	if note := j.tools.Unkept(ctx, c); note != "" {
		look = strings.TrimPrefix(look+"; "+note, "; ")
	}
	key, ok := j.app.choose(ctx, j.view.Painted(view.Question(c, t, changes, look, always)), view.Choices(always))
	if key == 'a' || key == 'k' {
		j.rules.add(always)
	}
	if key == 'k' {
		j.keep(always)
	}
	return answered(key, ok, "--allow "+allowing(t))
}

// allowing is what --allow wants for a tool.
func allowing(t utp.Tool) string {
	if t.Name == tool.ShellName || strings.HasPrefix(t.Name, client.Prefix) {
		return t.Name
	}
	return "run"
}

// answered words a no for the model; flag is what the user could have said.
func answered(key byte, ok bool, flag string) (bool, string) {
	switch {
	case ok && key != 'n':
		return true, ""
	case ok:
		return false, "the user said no"
	}
	return false, "there is nobody to ask; the user can start bx with " + flag
}
