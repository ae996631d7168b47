package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/rule"
)

// Rules prints rules, the strongest first.
func Rules(w io.Writer, rules rule.Set) {
	if len(rules) == 0 {
		fmt.Fprintln(w, "no rules: calls that change something ask (docs: [[rule]] in bx.toml)")
	}
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b rule.Rule) int { return cmp.Compare(b.Decision, a.Decision) })
	for _, r := range rules {
		words := []string{r.Tool}
		if r.Command != "" {
			words = append(words, "`"+r.Command+"`")
		}
		if len(r.Paths) > 0 {
			words = append(words, strings.Join(r.Paths, ", "))
		}
		for _, name := range slices.Sorted(maps.Keys(r.Args)) {
			words = append(words, name+"="+r.Args[name])
		}
		fmt.Fprintln(w, Clean(fmt.Sprintf("%-6s %s  (%s)", r.Decision, strings.Join(words, " "), r.From)))
	}
}

// Judged prints what rules decide about a command.
func Judged(w io.Writer, asJSON bool, v rule.Verdict, sensitive string) error {
	what := map[rule.Decision]string{rule.None: "asks: no rule is about it", rule.Allow: "runs unasked", rule.Ask: "asks", rule.Deny: "is forbidden"}[v.Decision]
	if v.Decision == rule.Allow && sensitive != "" {
		what, v.Why = "asks all the same", sensitive
	}
	if asJSON {
		return JSON(w, map[string]any{"decision": v.Decision, "why": v.Why, "asks": v.Decision != rule.Deny && (v.Decision != rule.Allow || sensitive != "")})
	}
	if v.Why != "" {
		what += " (" + v.Why + ")"
	}
	_, err := fmt.Fprintln(w, Clean(what))
	return err
}
