package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdMCP is the script command
//
//	mcp [-yes | -no] [-protocol=DATE] [-http=KEY] FILE ARG…
//
// It starts "bx mcp serve ARG…" and plays $WORK/FILE as an MCP client: a line
// is "list", or "call NAME ARGUMENTS". With -yes or -no the client can ask its
// user, who answers so. With -http it asks what "serve mcp" has started. What
// comes back is printed, and what the server logs.
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	options, protocol, key := &sdk.ClientOptions{}, "", ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, _ := strings.Cut(args[0], "=")
		switch name {
		case "-yes", "-no":
			options.ElicitationHandler = answering(ts, name == "-yes")
		case "-protocol":
			protocol = value
		case "-http":
			key = value
		}
		args = args[1:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: mcp [-yes | -no] [-protocol=DATE] [-http=KEY] FILE ARG…")
	}
	var log bytes.Buffer
	transport := sdk.Transport(&sdk.StreamableClientTransport{Endpoint: ts.Value(runningKey{}).(*holder).url() + "/mcp", HTTPClient: &http.Client{Transport: bearer(key)}})
	if key == "" {
		transport = overPipes(ts, &log, args[1:])
	}
	ctx := context.Background()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "script", Version: "1"}, options).
		Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		fmt.Fprintf(ts.Stdout(), "no connection: %v\n", err)
		return
	}
	for line := range strings.Lines(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), args[0]))) {
		ts.Check(mcpLine(ctx, ts, client, strings.TrimSpace(line)))
	}
	ts.Check(client.Close())
	fmt.Fprint(ts.Stderr(), log.String())
}

// bearer sends a key with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// overPipes starts bx mcp serve.
func overPipes(ts *testscript.TestScript, log io.Writer, args []string) sdk.Transport {
	bx, err := filepath.Abs(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "bx"))
	ts.Check(err)
	cmd := exec.Command(bx, append([]string{"mcp", "serve"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environment(filepath.Join(ts.Getenv("WORK"), "home"))
	cmd.Stderr = log
	return &sdk.CommandTransport{Command: cmd}
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
