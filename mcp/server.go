package mcp

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed instructions.md
var instructions string

// Runner runs a call. What goes wrong is a Result too. It refuses calls of
// tools that do not exist or may not run: names that are not listed come to it
// as well. Calls may come at the same time.
type Runner interface {
	Run(ctx context.Context, c utp.Call) utp.Result
}

// Config is what a server offers.
type Config struct {
	Name         string // of the server, for the client
	Version      string
	Instructions string     // for the model: how to use the tools; "" is a general text
	Tools        []utp.Tool // every tool; names must be unique
	Tier         utp.Tier   // tools above it are not listed
	Runner       Runner     // runs every call; the gate belongs here
}

// Server serves tools to MCP clients.
type Server struct {
	sdk           *sdk.Server
	name, version string
	runner        Runner
	asked         *questions
	tools         []*sdk.Tool // as listed
}

// New makes a server. A tool that cannot be listed is an error: its schema
// must be a JSON object of type "object", or empty.
func New(c Config) (*Server, error) {
	if c.Runner == nil {
		return nil, errors.New("mcp: Config.Runner is nil: set who runs the calls")
	}
	s := &Server{name: c.Name, version: c.Version, runner: c.Runner, asked: newQuestions()}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: c.Name, Version: c.Version}, &sdk.ServerOptions{
		Instructions: cmp.Or(c.Instructions, instructions),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	seen := map[string]bool{}
	for i, t := range c.Tools {
		listed, err := describe(t)
		if err != nil {
			return nil, fmt.Errorf("mcp: tools[%d] %q: %w", i, t.Name, err)
		}
		if seen[t.Name] {
			return nil, fmt.Errorf("mcp: tools[%d] %q: the name is taken by an earlier tool", i, t.Name)
		}
		seen[t.Name] = true
		if t.Tier <= c.Tier {
			s.sdk.AddTool(listed, s.call)
			s.tools = append(s.tools, listed)
		}
	}
	s.sdk.AddReceivingMiddleware(s.unlisted(c))
	return s, nil
}

// listed counts the tools that a client is told of.
func (s *Server) listed() int { return len(s.tools) }

// Serve speaks with one client over r and w, one JSON message a line, until
// the client leaves or ctx ends. The client's leaving is not an error.
func (s *Server) Serve(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
	return s.Run(ctx, &sdk.IOTransport{Reader: r, Writer: w})
}

// Stdio serves the client at the process's standard input and output. Nothing
// else may write to standard output meanwhile.
func (s *Server) Stdio(ctx context.Context) error { return s.Run(ctx, &sdk.StdioTransport{}) }

// Run serves one client over any transport of the SDK.
func (s *Server) Run(ctx context.Context, t sdk.Transport) error {
	err := s.sdk.Run(ctx, t)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return fmt.Errorf("mcp: %w", err)
}

// describe makes what the client sees of a tool.
func describe(t utp.Tool) (*sdk.Tool, error) {
	schema := t.Schema
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	var head struct{ Type any }
	if err := json.Unmarshal(schema, &head); err != nil {
		return nil, fmt.Errorf("its schema is not a JSON object: %w", err)
	}
	if head.Type != "object" {
		return nil, fmt.Errorf(`its schema has type %v, want "object"`, head.Type)
	}
	if t.Name == "" {
		return nil, errors.New("it has no name")
	}
	writes := t.Tier >= utp.Run
	return &sdk.Tool{
		Name: t.Name, Description: t.Description, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !writes, DestructiveHint: &writes, OpenWorldHint: new(bool)},
	}, nil
}
