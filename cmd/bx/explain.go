package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/format"
)

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: `explain ["question"]`, Short: "Say which model, tools and formats a question would get, and why",
		Long: `Say which model would answer, in which form it would be told of tools, where its
calls would be looked for and how it would get results, and for each who decided:
a flag, a profile, a file, the environment, the server, the model's name. Nothing is
asked of the model.`,
		Example: "  bx explain \"fix the typo in README\"\n  bx explain --profile big\n  bx explain --model qwen3-coder:30b --tool-format react",
		RunE:    func(cmd *cobra.Command, words []string) error { return a.explain(cmd, words) },
	}
	a.teamFlag(cmd.Flags())
	return cmd
}

func (a *app) explain(cmd *cobra.Command, words []string) error {
	j, err := a.beginAnywhere()
	if err != nil {
		return err
	}
	question := strings.Join(words, " ")
	a.say("root", "%s", cmp.Or(j.root, noRoot))
	for _, f := range j.cfg.Files {
		a.say("config", "%s", f)
	}
	if a.team != "" {
		return j.explainTeam(cmd.Context())
	}
	j.explainModel(cmd.Context())
	if name, text := j.guide(); text != "" {
		a.say("notes", "%s goes along ([agent] guides = false leaves it out)", name)
	}
	a.say("offered", "%s", j.offer(question).Why)
	a.say("ceiling", "%s (--tier, [agent] max_tier)", j.set.MaxTier)
	for _, in := range j.intents() {
		a.say("words", "%s: %s", in.Tier, strings.Join(in.Words, ", "))
	}
	return nil
}

// explainModel says who answers, and in which forms.
func (j *job) explainModel(ctx context.Context) {
	if j.set.Profile != "" {
		j.app.say("profile", "%s (%s)", j.set.Profile, j.set.ProfileWhy)
	}
	c, err := j.choose(ctx)
	if err != nil {
		j.app.say("answers", "nobody: %v", err)
		j.app.explainForms(format.Choice{}, format.Said(j.set.Formats, j.set.Model))
		return
	}
	j.app.say("answers", "%s", c.why)
	if c.client == nil {
		j.app.say("tools", "told to nobody: bx searches by itself")
		return
	}
	j.app.explainForms(j.forms(ctx, c), format.Said(j.set.Formats, c.name))
	j.explainHabits(c.name)
}

// explainHabits says how the model is treated beside its form, where anything
// says so.
func (j *job) explainHabits(model string) {
	h := j.set.Habits(model)
	if a := format.AdapterFor(model).Name; h.Adapter == nil && a != "" {
		j.app.say("habit", "adapter %s (the model's name)", a)
	}
	for _, said := range h.Said {
		j.app.say("habit", "%s", said)
	}
}

func (a *app) say(name, text string, args ...any) {
	fmt.Fprintf(a.lines(), "%-9s"+text+"\n", append([]any{name}, args...)...)
}

// forms are those of the model that answers.
func (j *job) forms(ctx context.Context, c *connection) format.Choice {
	if c.client != nil {
		return c.client.Choice(ctx, c.name)
	}
	chosen, _ := format.Choose(j.set.Formats, format.Facts{Model: c.name, Own: j.dialects()}) // the words are checked
	return chosen
}

// explainForms prints a choice, if there is one, and what was set for it.
func (a *app) explainForms(c format.Choice, said []string) {
	switch c.Tools.Way {
	case "":
	case format.None:
		a.say("tools", "offered %s (%s): no calls are looked for", c.Tools, c.Tools.Why)
	default:
		a.say("tools", "offered %s (%s)", c.Tools, c.Tools.Why)
		a.say("calls", "looked for %s (%s)", c.Calls, c.Calls.Why)
		a.say("results", "sent %s (%s)", c.Results, c.Results.Why)
	}
	for _, line := range said {
		a.say("set", "%s", line)
	}
	for _, w := range c.Warnings {
		a.say("warning", "%s", w)
	}
}
