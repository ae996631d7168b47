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
	"slices"
	"sync"

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
	Few          []string   // list these tools alone, and one through which the others are called; nil: list all
	Structured   bool       // results are told as structured content too
	Resources    *Resources // files that a client can read without a tool; nil: none
	Prompts      []Prompt
}

// Server serves tools to MCP clients.
type Server struct {
	sdk           *sdk.Server
	name, version string
	tier          utp.Tier
	tools         []utp.Tool // every tool
	callable      []string   // the names of those in the tier, and of more_tools
	shown         []string   // those that clients are told of
	few           bool
	structured    bool
	runner        Runner
	asked         *questions
	roots         *rootLists

	resources *Resources
	listing   sync.Mutex // guards what follows
	listed    []Resource
}

// New makes a server. A tool that cannot be listed is an error: its schema
// must be a JSON object of type "object", or empty.
func New(c Config) (*Server, error) {
	if c.Runner == nil {
		return nil, errors.New("mcp: Config.Runner is nil: set who runs the calls")
	}
	s := &Server{name: c.Name, version: c.Version, tier: c.Tier, tools: c.Tools, few: c.Few != nil, structured: c.Structured,
		runner: c.Runner, asked: newQuestions(), roots: newRootLists(), resources: c.Resources}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: c.Name, Version: c.Version}, &sdk.ServerOptions{
		Instructions: cmp.Or(c.Instructions, instructions),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Prompts: promptsOf(c)},
		// What there is does not change with who asks, but may with time.
		//lint:ignore SA1019 clients of the protocols before 2026-07-28 say their folders in roots
		RootsListChangedHandler: func(_ context.Context, r *sdk.RootsListChangedRequest) { s.roots.forget(r.Session) },
	})
	if err := s.list(c); err != nil {
		return nil, err
	}
	s.addPrompts(c.Prompts)
	if err := s.addResources(); err != nil {
		return nil, err
	}
	s.sdk.AddReceivingMiddleware(s.calls, s.lists)
	return s, nil
}

// list tells the SDK of the tools that clients are told of.
func (s *Server) list(c Config) error {
	seen := map[string]bool{}
	for i, t := range c.Tools {
		listed, err := describe(t)
		if err == nil && seen[t.Name] {
			err = errors.New("the name is taken by an earlier tool")
		}
		if err == nil && s.few && t.Name == moreTools {
			err = errors.New("the name is that of the tool through which others are called")
		}
		if err != nil {
			return fmt.Errorf("mcp: tools[%d] %q: %w", i, t.Name, err)
		}
		seen[t.Name] = true
		if t.Tier <= c.Tier {
			s.add(listed, !s.few || slices.Contains(c.Few, t.Name))
		}
	}
	if s.few {
		s.add(s.describeMore(), true)
	}
	return nil
}

// add makes a tool callable, and lists it if it is to be shown.
func (s *Server) add(t *sdk.Tool, show bool) {
	if s.structured {
		t.OutputSchema = json.RawMessage(outputSchema)
	}
	s.sdk.AddTool(t, s.call)
	s.callable = append(s.callable, t.Name)
	if show {
		s.shown = append(s.shown, t.Name)
	}
}

func (s *Server) isListed(name string) bool { return slices.Contains(s.shown, name) }

// lists leaves tools that are not shown out of the list, and looks what
// resources there are before they are listed.
func (s *Server) lists(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "resources/list" {
			s.Refresh()
		}
		r, err := next(ctx, method, req)
		if list, ok := r.(*sdk.ListToolsResult); ok && err == nil {
			list.Tools = slices.DeleteFunc(list.Tools, func(t *sdk.Tool) bool { return !s.isListed(t.Name) })
		}
		return r, err
	}
}

// known reports whether there is a tool of that name, listed or not.
func (s *Server) known(name string) bool {
	return slices.ContainsFunc(s.tools, func(t utp.Tool) bool { return t.Name == name })
}

// Serve speaks with one client over r and w, one JSON message a line, until
// the client leaves or ctx ends. The client's leaving is not an error. What it
// asked before its input ended is answered, or stopped after 30 seconds, which
// is an error.
func (s *Server) Serve(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
	return s.Run(ctx, piped{&sdk.IOTransport{Reader: r, Writer: w}})
}

// Stdio is Serve at the process's standard input and output. Nothing else may
// write to standard output meanwhile.
func (s *Server) Stdio(ctx context.Context) error { return s.Run(ctx, piped{&sdk.StdioTransport{}}) }

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
	writes := t.Tier >= utp.TierRun
	return &sdk.Tool{
		Name: t.Name, Description: t.Description, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !writes, DestructiveHint: &writes, OpenWorldHint: new(bool)},
	}, nil
}
