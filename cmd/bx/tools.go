package main

import (
	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

func (a *app) toolsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "tools", Short: "List the tools by tier", Args: noWords,
		Long: `List the tools: name, what a model is told of it, arguments, tier, and whether it
asks before it runs. --json prints the same with the whole schemas.`,
		RunE: func(*cobra.Command, []string) error { return a.listTools() },
	}
}

func (a *app) listTools() error {
	j, err := a.begin()
	if err != nil {
		return err
	}
	tools, err := j.openTools()
	if err != nil {
		return err
	}
	defer tools.Close()
	if a.json {
		return view.JSON(a.out, view.ToolList(tools.Tools()))
	}
	view.Tools(a.out, tools.Tools(), j.set.Tier)
	return nil
}
