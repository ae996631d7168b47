//lint:file-ignore SA1019 clients of the protocols before 2026-07-28 say their folders in roots

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

	"github.com/unifiedtoolprotocol/utp/mcp"
)

// cmdMCP is the script command
//
//	mcp [-yes | -no] [-protocol=DATE] [-http=KEY] [-root=DIR] FILE ARG…
//
// It starts "bx mcp serve ARG…" and plays $WORK/FILE as an MCP client: a line
// is "list", "call NAME ARGUMENTS", "resources", "read PATH", "prompts", or
// "prompt NAME ARGUMENTS". -root=DIR is where the client works. With -yes or -no the client can ask its
// user, who answers so. With -http it asks what "serve mcp" has started. What
// comes back is printed, and what the server logs.
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	options, protocol, key, root := &sdk.ClientOptions{}, "", "", ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, _ := strings.Cut(args[0], "=")
		switch name {
		case "-yes", "-no":
			options.ElicitationHandler = answering(ts, name == "-yes")
		case "-protocol":
			protocol = value
		case "-http":
			key = value
		case "-root":
			root = ts.MkAbs(value)
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
	c := sdk.NewClient(&sdk.Implementation{Name: "script", Version: "1"}, options)
	if root != "" {
		c.AddRoots(&sdk.Root{URI: mcp.FileURI(root)})
	}
	client, err := c.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
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
	cmd.Env = append(environment(filepath.Join(ts.Getenv("WORK"), "home")), "PATH="+ts.Getenv("PATH"))
	cmd.Stderr = log
	return &sdk.CommandTransport{Command: cmd}
}

func answering(ts *testscript.TestScript, yes bool) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	return func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		fmt.Fprintf(ts.Stdout(), "asked: %s\n", r.Params.Message)
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"run": yes}}, nil
	}
}

// mcpLine plays a line, and prints what the server says to it.
func mcpLine(ctx context.Context, ts *testscript.TestScript, client *sdk.ClientSession, line string) error {
	what, rest, _ := strings.Cut(line, " ")
	name, args, _ := strings.Cut(rest, " ")
	out := ts.Stdout()
	switch what {
	case "list":
		list, err := client.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		for _, t := range list.Tools {
			fmt.Fprintf(out, "tool %s: %s\n", t.Name, strings.TrimSpace(t.Description))
		}
	case "resources":
		list, err := client.ListResources(ctx, nil)
		if err != nil {
			return err
		}
		for _, r := range list.Resources {
			fmt.Fprintf(out, "resource %s (%s): %s\n", r.URI, r.MIMEType, r.Description)
		}
	case "read":
		r, err := client.ReadResource(ctx, &sdk.ReadResourceParams{URI: mcp.FileURI(ts.MkAbs(".")) + "/" + rest})
		if err != nil {
			fmt.Fprintf(out, "read %s: %v\n", rest, err)
			return nil
		}
		fmt.Fprintf(out, "read %s: %s %q %d bytes\n", rest, r.Contents[0].MIMEType, r.Contents[0].Text, len(r.Contents[0].Blob))
	case "prompts":
		list, err := client.ListPrompts(ctx, nil)
		if err != nil {
			return err
		}
		for _, p := range list.Prompts {
			fmt.Fprintf(out, "prompt %s: %s\n", p.Name, p.Description)
		}
	case "prompt":
		return printPrompt(ctx, out, client, name, args)
	case "call":
		printCall(ctx, out, client, name, args)
	}
	return nil
}

func printPrompt(ctx context.Context, out io.Writer, client *sdk.ClientSession, name, args string) error {
	p := &sdk.GetPromptParams{Name: name}
	if args != "" {
		if err := json.Unmarshal([]byte(args), &p.Arguments); err != nil {
			return err
		}
	}
	r, err := client.GetPrompt(ctx, p)
	if err != nil {
		fmt.Fprintf(out, "prompt %s: %v\n", name, err)
		return nil
	}
	for _, m := range r.Messages {
		fmt.Fprintf(out, "prompt %s: %s: %s\n", name, m.Role, m.Content.(*sdk.TextContent).Text)
	}
	return nil
}

func printCall(ctx context.Context, out io.Writer, client *sdk.ClientSession, name, args string) {
	r, err := client.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		fmt.Fprintf(out, "%s protocol error: %v\n", name, err)
		return
	}
	fmt.Fprintf(out, "%s isError=%v\n", name, r.IsError)
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			fmt.Fprintln(out, text.Text)
		}
	}
	if r.StructuredContent != nil {
		b, _ := json.Marshal(r.StructuredContent) // it came as JSON
		fmt.Fprintf(out, "structured %s\n", b)
	}
}
