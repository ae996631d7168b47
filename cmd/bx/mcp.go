package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/mcp"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// mcpCommand is bx mcp. Its commands stand in files of their own: mcp_*.go.
func (a *app) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the tools to MCP clients", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.mcpServeCommand())
	return cmd
}

func (a *app) mcpServeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Args: noWords, RunE: a.serveMCP,
		Short: "Serve the tools over standard input and output",
		Long: `Serve the tools over standard input and output, for Claude Desktop and other MCP
clients. Name the repository with --root: clients start servers anywhere.

Tools of tier RUN are listed only with --tier run, and run only when the client's
user says yes to a question, or with --allow run. The tool shell is listed only
with --allow shell.`,
		Example: `  bx mcp serve --root ~/src/project
  bx mcp serve --root . --tier run --allow run`,
	}
}

func (a *app) serveMCP(cmd *cobra.Command, _ []string) error {
	return a.withTools(func(j *job, tools *tool.Set) error {
		list := slices.DeleteFunc(tools.Tools(), func(t utp.Tool) bool { return t.Name == tool.ShellName && !slices.Contains(a.allow, t.Name) })
		gate := j.gate(schema.Compile(list), j.set.Tier, builtins{tools}, mcp.Confirm)
		s, err := mcp.New(mcp.Config{Name: "bx", Version: versionText(), Tools: list, Tier: gate.Tier, Runner: gate})
		if err != nil {
			return err
		}
		return s.Stdio(cmd.Context())
	})
}
