package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdMCP is the script command
//
//	mcp [-yes | -no] FILE ARG…
//
// It starts "bx mcp serve ARG…" and plays $WORK/FILE as an MCP client: a line
// is "list", or "call NAME ARGUMENTS". With -yes or -no the client can ask its
// user, who answers so. What comes back is printed, and what the server logs.
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: mcp [-yes | -no] FILE ARG…")
	}
	options := &sdk.ClientOptions{}
	if args[0] == "-yes" || args[0] == "-no" {
		options.ElicitationHandler = answering(ts, args[0] == "-yes")
		args = args[1:]
	}
	bx, err := filepath.Abs(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "bx"))
	ts.Check(err)
	cmd := exec.Command(bx, append([]string{"mcp", "serve"}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environment(filepath.Join(ts.Getenv("WORK"), "home"))
	var log bytes.Buffer
	cmd.Stderr = &log
	ctx := context.Background()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "script", Version: "1"}, options).
		Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), args[0]))) {
		ts.Check(mcpLine(ctx, ts, client, strings.TrimSpace(line)))
	}
	ts.Check(client.Close())
	fmt.Fprint(ts.Stderr(), log.String())
}

func answering(ts *testscript.TestScript, yes bool) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	return func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		fmt.Fprintf(ts.Stdout(), "asked: %s\n", r.Params.Message)
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"run": yes}}, nil
	}
}

func mcpLine(ctx context.Context, ts *testscript.TestScript, client *sdk.ClientSession, line string) error {
	if line == "" {
		return nil
	}
	if line == "list" {
		list, err := client.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		for _, t := range list.Tools {
			fmt.Fprintf(ts.Stdout(), "tool %s: %s\n", t.Name, strings.TrimSpace(t.Description))
		}
		return nil
	}
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "call "), " ")
	r, err := client.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		fmt.Fprintf(ts.Stdout(), "%s protocol error: %v\n", name, err)
		return nil
	}
	fmt.Fprintf(ts.Stdout(), "%s isError=%v\n", name, r.IsError)
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			fmt.Fprintln(ts.Stdout(), text.Text)
		}
	}
	return nil
}
