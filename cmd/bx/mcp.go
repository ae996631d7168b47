package main

import "github.com/spf13/cobra"

// mcpCommand is bx mcp. Its commands stand in files of their own: mcp_*.go.
func (a *app) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the tools to MCP clients, and use those of MCP servers", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.mcpServeCommand(), a.mcpInstallCommand(), a.mcpUninstallCommand(), a.mcpKeyCommand(),
		a.mcpListCommand(), a.mcpTestCommand(), a.mcpAddCommand(), a.mcpRemoveCommand())
	return cmd
}
