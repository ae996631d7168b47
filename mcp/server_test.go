package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
)

const writeSchema = `{"required":["path","content"],"type":"object","properties":{"path":{"type":"string","description":"a <b> & \"c\" é"},"content":{"type":"string"}},"x-order":[3,1,2]}`

var tools = []utp.Tool{
	{Name: "search_code", Description: "Searches.", Tier: utp.TierCrawl,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "read_file", Tier: utp.TierWalk, Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "stats", Tier: utp.TierWalk},
	{Name: "write_file", Tier: utp.TierRun, Confirm: true, Schema: json.RawMessage(writeSchema)},
}

// script runs what the tests call, and counts the writes.
type script struct{ writes int }

func (s *script) Run(_ context.Context, c utp.Call) utp.Result {
	switch c.Name {
	case "search_code":
		return utp.TextResult(c, utp.StatusOK, `log.go:3: "error": this text has the word error`)
	case "read_file":
		return utp.TextResult(c, utp.StatusFailed, "File not found: a.go")
	case "stats":
		r := utp.TextResult(c, utp.StatusOK, "chart")
		r.Parts = append(r.Parts, utp.Blob{MIME: "image/png", Data: []byte("png")}, utp.Blob{MIME: "audio/wav", Data: []byte("wav")},
			utp.Blob{MIME: "application/pdf", Name: "a.pdf", Data: []byte("pdf")}, utp.Blob{URL: "https://x.test/y", Name: "y"})
		return r
	}
	s.writes++
	return utp.TextResult(c, utp.StatusOK, "written "+string(c.Args))
}

// serve connects a client to a server with the gate in it.
func serve(t *testing.T, g agent.Gate, o *sdk.ClientOptions) (*sdk.ClientSession, *script) {
	t.Helper()
	run := &script{}
	srv, err := mcp.New(config(run, g))
	if err != nil {
		t.Fatal(err)
	}
	here, there := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx, there) }()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		if err := <-done; err != nil {
			t.Error("the server ended with:", err)
		}
		cancel()
	})
	return client, run
}

func call(t *testing.T, c *sdk.ClientSession, name string, args any) *sdk.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// contract: C-09 X-01 X-03
func TestListsTheToolsOfTheTier(t *testing.T) {
	for _, c := range []struct {
		tier utp.Tier
		want []string
	}{
		{utp.TierCrawl, []string{"search_code"}},
		{utp.TierWalk, []string{"read_file", "search_code", "stats"}},
		{utp.TierRun, []string{"read_file", "search_code", "stats", "write_file"}},
	} {
		client, _ := serve(t, agent.Gate{Tier: c.tier}, nil)
		list, err := client.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tool := range list.Tools {
			got = append(got, tool.Name)
			writes := tool.Name == "write_file"
			if a := tool.Annotations; a == nil || a.ReadOnlyHint == writes || *a.DestructiveHint != writes || *a.OpenWorldHint {
				t.Errorf("%s: annotations %+v", tool.Name, a)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.tier, d)
		}
		if client.InitializeResult() != nil && !strings.Contains(client.InitializeResult().Instructions, "Paths are relative") {
			t.Error("no instructions at the handshake")
		}
	}
}

// contract: C-12 CON-43
func TestIsErrorIsTheStatus(t *testing.T) {
	client, _ := serve(t, agent.Gate{Tier: utp.TierWalk}, nil)
	for _, c := range []struct {
		name string
		args any
		bad  bool
		text string
	}{
		{"search_code", map[string]any{"query": "x"}, false, "the word error"},
		{"read_file", map[string]any{"path": "a.go"}, true, "File not found"},
		{"search_code", map[string]any{}, true, "query"},
		{"search_code", map[string]any{"query": "x", "limit": "5"}, false, "the word error"},
		{"stats", nil, false, "chart"},
		{"write_file", map[string]any{"path": "a", "content": "b"}, true, "Tool 'write_file' not available at current tier (WALK)"},
	} {
		r := call(t, client, c.name, c.args)
		if r.IsError != c.bad || !strings.Contains(text(r), c.text) {
			t.Errorf("%s %v: isError %v, %q; want %v, %q", c.name, c.args, r.IsError, text(r), c.bad, c.text)
		}
	}
}

// contract: A-08 C-12
func TestUnknownToolIsAProtocolError(t *testing.T) {
	client, _ := serve(t, agent.Gate{Tier: utp.TierWalk}, nil)
	_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "serch_code", Arguments: map[string]any{"query": "x"}})
	if err == nil || !strings.Contains(err.Error(), "Tool 'serch_code' does not exist. Available: search_code, read_file, stats") {
		t.Errorf("unknown tool: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "write_file") {
		t.Errorf("a tool above the tier is named: %v", err)
	}
}

// contract: I-11
func TestBlobsAreContent(t *testing.T) {
	client, _ := serve(t, agent.Gate{Tier: utp.TierWalk}, nil)
	r := call(t, client, "stats", nil)
	if len(r.Content) != 5 {
		t.Fatalf("%d parts, want 5", len(r.Content))
	}
	if i, ok := r.Content[1].(*sdk.ImageContent); !ok || i.MIMEType != "image/png" || string(i.Data) != "png" {
		t.Errorf("image: %#v", r.Content[1])
	}
	if a, ok := r.Content[2].(*sdk.AudioContent); !ok || string(a.Data) != "wav" {
		t.Errorf("sound: %#v", r.Content[2])
	}
	if e, ok := r.Content[3].(*sdk.EmbeddedResource); !ok || string(e.Resource.Blob) != "pdf" {
		t.Errorf("file: %#v", r.Content[3])
	}
	if l, ok := r.Content[4].(*sdk.ResourceLink); !ok || l.URI != "https://x.test/y" {
		t.Errorf("link: %#v", r.Content[4])
	}
}

func TestNewRefusesWhatCannotBeServed(t *testing.T) {
	run := &script{}
	for name, c := range map[string]mcp.Config{
		"no runner":   {},
		"no object":   {Runner: run, Tools: []utp.Tool{{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}}},
		"broken":      {Runner: run, Tools: []utp.Tool{{Name: "a", Schema: json.RawMessage(`{"type":`)}}},
		"no name":     {Runner: run, Tools: []utp.Tool{{}}},
		"two of one":  {Runner: run, Tools: []utp.Tool{{Name: "a"}, {Name: "a"}}},
		"type of any": {Runner: run, Tools: []utp.Tool{{Name: "a", Schema: json.RawMessage(`{}`)}}},
	} {
		if _, err := mcp.New(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
