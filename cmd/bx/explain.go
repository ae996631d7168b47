package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: `explain ["question"]`, Short: "Say which model, tools and formats a question would get, and why",
		Example: `  bx explain "fix the typo in README"`,
		RunE:    func(cmd *cobra.Command, words []string) error { return a.explain(cmd, words) },
	}
}

func (a *app) explain(cmd *cobra.Command, words []string) error {
	j, err := a.begin()
	if err != nil {
		return err
	}
	question := strings.Join(words, " ")
	fmt.Fprintf(a.out, "root     %s\n", j.root)
	for _, f := range j.cfg.Files {
		fmt.Fprintf(a.out, "config   %s\n", f)
	}
	if c, err := j.connect(cmd.Context()); err != nil {
		fmt.Fprintf(a.out, "answers  nobody: %v\n", err)
	} else {
		fmt.Fprintf(a.out, "answers  %s\n", c.why)
		fmt.Fprintf(a.out, "tools    %s\n", j.toolForm(cmd.Context(), c))
	}
	fmt.Fprintf(a.out, "calls    %s\n", parserWords(j.set.Tools.CallParser))
	fmt.Fprintf(a.out, "offered  %s\n", j.offer(question).Why)
	fmt.Fprintf(a.out, "ceiling  %s (--tier, [agent] max_tier)\n", j.set.MaxTier)
	for _, in := range j.intents() {
		fmt.Fprintf(a.out, "words    %s: %s\n", in.Tier, strings.Join(in.Words, ", "))
	}
	return nil
}

// toolForm says how tools are offered, and why.
func (j *job) toolForm(ctx context.Context, c *connection) string {
	setting := "definition_format = " + string(j.set.Tools.DefinitionFormat)
	switch {
	case !c.tools:
		return "not offered (" + setting + ")"
	case c.client == nil:
		return "offered as text"
	}
	b, err := c.client.Status(ctx)
	switch {
	case err != nil:
		return "not known: " + err.Error()
	case b.Native:
		return "offered in the server's own field: " + b.Why + " (" + setting + ")"
	}
	return "offered as text: " + b.Why + " (" + setting + ")"
}
