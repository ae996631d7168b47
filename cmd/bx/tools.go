package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cost"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/tool"
)

func (a *app) toolsCommand() *cobra.Command {
	var costs, all bool
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools by tier, or what each form of them costs", Args: noWords,
		Long: `List the tools: name, what a model is told of it, arguments, tier, and whether it
asks before it runs. --json prints the same with the whole schemas.

--cost prints instead how many tokens it takes to tell a model of the tools in
each form, and to call one, measured on the tools that an ordinary question gets
(--tier for others). It asks no model and no network.`,
		Example: "  bx tools --cost --tier run",
		RunE: func(*cobra.Command, []string) error {
			if costs || all {
				return a.listCosts(all)
			}
			return a.listTools()
		},
	}
	cmd.Flags().BoolVar(&costs, "cost", false, "print what each form of the tools costs in tokens")
	cmd.Flags().BoolVar(&all, "all", false, "with --cost: every dialect, not only the common ones")
	return cmd
}

func (a *app) listCosts(all bool) error {
	return a.withTools(func(j *job, set *tool.Set) error {
		tools := slices.DeleteFunc(set.Tools(), func(t utp.Tool) bool { return t.Tier > j.set.Tier })
		rows, err := cost.Measure(tools, cost.O200k(), all)
		if err != nil {
			return err
		}
		if a.json {
			return view.JSON(a.out, rows)
		}
		cost.Print(a.out, rows, len(tools))
		return nil
	})
}

func (a *app) listTools() error {
	return a.withTools(func(j *job, tools *tool.Set) error {
		list := append(tools.Tools(), j.knownTools()...)
		if a.json {
			return view.JSON(a.out, view.ToolList(list))
		}
		view.Tools(a.lines(), list, j.set.Tier)
		return nil
	})
}
