package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServer is the script command mcp-server: an MCP server on standard input and
// output. It notes in the file STARTED that it was started, describes its tool echo
// as the file ABOUT says, and with -dies it does not start.
func mcpServer() {
	if len(os.Args) > 1 && os.Args[1] == "-dies" {
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(3)
	}
	if file := os.Getenv("STARTED"); file != "" {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err == nil {
			fmt.Fprintln(f, strings.Join(os.Args[1:], " "))
			f.Close()
		}
	}
	about := "Say it again"
	if text, err := os.ReadFile(os.Getenv("ABOUT")); err == nil {
		about = strings.TrimSpace(string(text))
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "scripted", Version: "1.2"}, nil)
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)
	s.AddTool(&sdk.Tool{Name: "echo", Description: about, InputSchema: schema, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo: " + string(r.Params.Arguments)}}}, nil
		})
	s.AddTool(&sdk.Tool{Name: "long", Description: "A long text", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var b strings.Builder
			for i := range 5000 {
				fmt.Fprintf(&b, "line %d of many\n", i+1)
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: b.String()}}}, nil
		})
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil && !strings.Contains(err.Error(), "EOF") {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
