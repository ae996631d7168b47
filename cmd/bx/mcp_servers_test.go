package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
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

// TestToolsOfServersInTheDialects: a model without native tools calls the tool of a
// server in its text; the result goes back as the server gave it, without an
// envelope that nobody asked for, and with the same bytes in each dialect.
//
// contract: C-15 CON-38 T-10 W-01
func TestToolsOfServersInTheDialects(t *testing.T) {
	u := newUser(t)
	server := filepath.Join(filepath.Dir(u.bx), "mcp-server")
	self, err := os.Executable()
	if err == nil {
		err = os.Link(self, server)
	}
	if err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf("[mcp_servers.hand]\ncommand = %q\ntier = \"WALK\"\n", server)
	want := ""
	for _, g := range grammar.All() {
		if !slices.Contains([]string{"hermes", "pythonic", "mistral", "llama3", "qwen3-coder", "deepseek-v3.1", "anthropic", "react", "json-fence", "glm"}, g.Name) {
			continue
		}
		text, err := prompt.Call(g, utp.Call{Name: "mcp__hand__echo", Args: json.RawMessage(`{"text":"a b"}`)})
		if err != nil {
			t.Fatal(err)
		}
		config := u.exclusive(t, g)
		b, err := os.ReadFile(config)
		if err == nil {
			err = os.WriteFile(config, append(b, own...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := u.command("--config", config, "mcp", "test").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		r, sent := u.ask(t, text, "ollama", 3, "--config", config, "Go on")
		if len(r.ToolCalls) != 1 || r.ToolCalls[0].Status != utp.StatusOK {
			t.Errorf("%s: calls %+v, want one that ran", g.Name, r.ToolCalls)
			continue
		}
		got := r.ToolCalls[0].Result
		if want == "" {
			want = got
		}
		if got != want || !strings.HasPrefix(got, `echo: {"text":"a b"}`) || strings.Contains(got, "TE_") {
			t.Errorf("%s: %q, want %q", g.Name, got, want)
		}
		if len(sent) != 2 || !strings.Contains(string(sent[0].Body), "Say it again") {
			t.Errorf("%s: the model was not told of the tool: %s", g.Name, sent[0].Body)
		}
	}
}

func (u user) command(args ...string) *exec.Cmd {
	cmd := exec.Command(u.bx, args...)
	cmd.Dir, cmd.Env = u.repo, environment(u.home)
	return cmd
}
