package main

import (
	"context"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// confirm asks the user before a call changes anything.
func (j *job) confirm(ctx context.Context, c utp.Call, t utp.Tool) (bool, string) {
	if tier, reason, ok := agent.Wanted(c); ok {
		key, ok := j.app.choose(ctx, view.TierQuestion(c, tier, reason), "y/n")
		return answered(key, ok, "--tier "+strings.ToLower(tier.String()))
	}
	changes, _ := j.tools.Foresee(ctx, c)
	scope, sensitive := scopeOf(c, changes), j.tools.Sensitive(c)
	if sensitive == "" && len(scope) > 0 && !slices.ContainsFunc(scope, func(s string) bool { return !slices.Contains(j.always, s) }) {
		return true, ""
	}
	choices := "y/n"
	if sensitive == "" && len(scope) > 0 && !(c.FromText() && len(c.Fixes) > 0) {
		choices = "y/n/a"
	}
	text := view.Question(c, t, changes, sensitive)
	if choices == "y/n/a" {
		text += " (a: yes, and for these files from now on)"
	}
	key, ok := j.app.choose(ctx, text, choices)
	if key == 'a' {
		j.always = append(j.always, scope...)
	}
	return answered(key, ok, "--allow run")
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

// scopeOf is what an answer "always" to a call stands for: this tool on these files.
func scopeOf(c utp.Call, changes []tool.Change) (out []string) {
	for _, f := range changes {
		out = append(out, c.Name+" "+f.Path)
	}
	return out
}
