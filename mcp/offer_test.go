//lint:file-ignore SA1019 clients of the protocols before 2026-07-28 say their folders in roots

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
)

func listed(t *testing.T, c *sdk.ClientSession) (names []string) {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// A small list costs a model little, and what is not on it can be called too.
//
// contract: C-11 X-08
func TestFewToolsAndTheOthersThroughOne(t *testing.T) {
	for _, protocol := range protocols {
		u := &user{answer: yes()}
		run := &script{}
		c := config(run, agent.Gate{Tier: utp.TierRun})
		all := listed(t, dialHTTP(t, serveHTTP(t, c, mcp.Access{Key: key}), protocol, nil))
		c.Few = []string{"search_code", "no_such_tool"}
		url := serveHTTP(t, c, mcp.Access{Key: key})
		client := dialHTTP(t, url, protocol, u.options())
		if d := cmp.Diff([]string{"read_file", "search_code", "stats", "write_file"}, all); d != "" {
			t.Errorf("classic: %s", d)
		}
		if d := cmp.Diff([]string{"more_tools", "search_code"}, listed(t, client)); d != "" {
			t.Errorf("hybrid: %s", d)
		}
		if r := call(t, client, "more_tools", nil); r.IsError || !strings.Contains(text(r), "write_file: \narguments: "+writeSchema) || strings.Contains(text(r), "search_code:") {
			t.Errorf("the others: %v %s", r.IsError, text(r))
		}
		if r := call(t, client, "more_tools", map[string]any{"tool": "read_file", "arguments": map[string]any{"path": "a"}}); !r.IsError || !strings.Contains(text(r), "File not found") {
			t.Errorf("a call through it: %v %s", r.IsError, text(r))
		}
		if r := call(t, client, "more_tools", map[string]any{"tool": "write_file", "arguments": write}); r.IsError || run.writes != 1 || len(u.asked) != 1 || !strings.Contains(u.asked[0], "write_file (RUN)") {
			t.Errorf("a write through it: %v %s, %d writes, asked %q", r.IsError, text(r), run.writes, u.asked)
		}
		if r := call(t, client, "write_file", write); r.IsError || run.writes != 2 {
			t.Errorf("a write by its name: %v %s", r.IsError, text(r))
		}
		if _, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "more_tools", Arguments: map[string]any{"tool": "more_tools"}}); err == nil {
			t.Error("it calls itself")
		}
		if _, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "more_tools", Arguments: map[string]any{"tool": "rm"}}); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("no tool through it: %v", err)
		}
	}
}

// Through the one tool nobody gets above the tier.
//
// contract: C-11 X-01
func TestMoreToolsKeepsTheTier(t *testing.T) {
	run := &script{}
	c := config(run, agent.Gate{Tier: utp.TierWalk, Allow: []string{"run"}})
	c.Few = []string{}
	client := dialHTTP(t, serveHTTP(t, c, mcp.Access{Key: key}), "2025-11-25", nil)
	if r := call(t, client, "more_tools", nil); strings.Contains(text(r), "write_file") {
		t.Errorf("a tool above the tier is told: %s", text(r))
	}
	if r := call(t, client, "more_tools", map[string]any{"tool": "write_file", "arguments": write}); !r.IsError || run.writes != 0 {
		t.Errorf("%v %s, %d writes", r.IsError, text(r), run.writes)
	}
}

// contract: C-12 CON-43
func TestStructuredContentHasTheSameFacts(t *testing.T) {
	plain := dialHTTP(t, serveHTTP(t, config(&script{}, agent.Gate{Tier: utp.TierWalk}), mcp.Access{Key: key}), "2025-11-25", nil)
	if r := call(t, plain, "search_code", map[string]any{"query": "x"}); r.StructuredContent != nil {
		t.Errorf("structured content unasked: %v", r.StructuredContent)
	}
	run := runs(func(c utp.Call) utp.Result {
		switch c.Name {
		case "search_code":
			return utp.TextResult(c, utp.StatusOK, "# TE_BEGIN_META\n{\"v\":1,\"cmd\":\"search\",\"matches\":3,\"truncated\":true}\n# TE_END_META\n\na.go:3: x\n\n# TE: 2 more in b/\n")
		case "read_file":
			return utp.TextResult(c, utp.StatusFailed, `{"error":"File not found"}`)
		}
		return utp.TextResult(c, utp.StatusOK, "chart")
	})
	c := config(run, agent.Gate{Tier: utp.TierWalk})
	c.Structured = true
	client := dialHTTP(t, serveHTTP(t, c, mcp.Access{Key: key}), "2025-11-25", nil)
	for _, one := range []struct {
		name, want string
		args       any
	}{
		{"search_code", `{"status":"ok","envelope":{"meta":{"v":1,"cmd":"search","matches":3,"truncated":true},"matches":[{"path":"a.go","line":3,"text":"x"}],"omitted":[{"in":"b/","n":2}]}}`, map[string]any{"query": "x"}},
		{"read_file", `{"status":"error","data":{"error":"File not found"}}`, map[string]any{"path": "x"}},
		{"stats", `{"status":"ok","text":"chart"}`, nil},
		{"write_file", `{"status":"denied","text":"Tool 'write_file' not available at current tier (WALK)"}`, write},
	} {
		r := call(t, client, one.name, one.args)
		var want any
		if err := json.Unmarshal([]byte(one.want), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, r.StructuredContent); d != "" || text(r) == "" {
			t.Errorf("%s: %s; text %q", one.name, d, text(r))
		}
	}
	list, err := client.ListTools(t.Context(), nil)
	if err != nil || list.Tools[0].OutputSchema == nil {
		t.Errorf("no output schema: %v", err)
	}
}

// runs is a Runner of a func.
type runs func(utp.Call) utp.Result

func (f runs) Run(_ context.Context, c utp.Call) utp.Result { return f(c) }

// files are resources: what is listed can change.
type files struct {
	mu   sync.Mutex
	list []mcp.Resource
}

func (f *files) all() []mcp.Resource {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

func (f *files) set(list ...mcp.Resource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = list
}

// reader reads what a path names, after a yes where that holds keys.
func reader() agent.Runner {
	g := agent.Gate{Tools: compiled(), Tier: utp.TierWalk, Confirm: mcp.Confirm,
		Sensitive: func(c utp.Call) string {
			if strings.Contains(string(c.Args), ".pem") {
				return "it may hold keys"
			}
			return ""
		},
		Runner: runs(func(c utp.Call) utp.Result {
			var a struct{ Path string }
			if err := json.Unmarshal(c.Args, &a); err != nil {
				return utp.TextResult(c, utp.StatusFailed, err.Error())
			}
			switch {
			case strings.HasSuffix(a.Path, ".png"):
				return utp.Result{Status: utp.StatusOK, Parts: []utp.Part{utp.Blob{MIME: "image/png", Data: []byte("png")}}}
			case strings.Contains(a.Path, "nope"):
				return utp.TextResult(c, utp.StatusFailed, `{"error":"File not found: nope"}`)
			}
			return utp.TextResult(c, utp.StatusOK, "read "+a.Path)
		})}
	return &g
}

func withFiles(f *files) mcp.Config {
	c := config(&script{}, agent.Gate{Tier: utp.TierWalk})
	c.Resources = &mcp.Resources{Base: mcp.FileURI("/src/my project") + "/", List: f.all, Reader: reader()}
	return c
}

func TestResourcesAreReadByTheRulesOfATool(t *testing.T) {
	f := &files{}
	f.set(mcp.Resource{Path: "README.md", Description: "about", MIME: "text/markdown"}, mcp.Resource{Path: "a b.txt"})
	url := serveHTTP(t, withFiles(f), mcp.Access{Key: key})
	for _, protocol := range protocols {
		u := &user{answer: yes()}
		client := dialHTTP(t, url, protocol, u.options())
		list, err := client.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 2 || list.Resources[0].URI != "file:///src/my%20project/README.md" || list.Resources[1].URI != "file:///src/my%20project/a%20b.txt" {
			t.Fatalf("%s: %+v, %v", protocol, list, err)
		}
		templates, err := client.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "file:///src/my%20project/{+path}" {
			t.Fatalf("%s: %+v, %v", protocol, templates, err)
		}
		for _, c := range []struct{ uri, text, blob, err string }{
			{uri: "file:///src/my%20project/README.md", text: "read README.md"},
			{uri: "file:///src/my%20project/a%20b.txt", text: "read a b.txt"},
			{uri: "file:///src/my%20project/dir/%C3%A9.go", text: "read dir/é.go"},
			{uri: "file:///src/my%20project/x.png", blob: "png"},
			{uri: "file:///src/my%20project/my.pem", text: "read my.pem"},
			{uri: "file:///src/my%20project/nope", err: "File not found: nope"},
			{uri: "file:///etc/passwd", err: "not found"},
			{uri: "http://x.test/", err: "not found"},
		} {
			r, err := client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: c.uri})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s: %s: %v, %v", protocol, c.uri, r, err)
				}
				continue
			}
			if err != nil || len(r.Contents) != 1 || r.Contents[0].Text != c.text || string(r.Contents[0].Blob) != c.blob || r.Contents[0].URI != c.uri {
				t.Errorf("%s: %s: %+v, %v", protocol, c.uri, r, err)
			}
		}
		if len(u.asked) != 1 {
			t.Errorf("%s: asked %q, want once", protocol, u.asked)
		}
		u.answer = sdk.ElicitResult{Action: "decline"}
		if _, err := client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "file:///src/my%20project/my.pem"}); err == nil || !strings.Contains(err.Error(), "the user said no") {
			t.Errorf("%s: a no: %v", protocol, err)
		}
	}
}

// contract: C-09 C-10
func TestClientsHearOfNewResources(t *testing.T) {
	for _, protocol := range protocols {
		f := &files{}
		c := withFiles(f)
		srv, err := mcp.New(c)
		if err != nil {
			t.Fatal(err)
		}
		here, there := sdk.NewInMemoryTransports()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go srv.Run(ctx, there)
		go srv.Watch(ctx, time.Millisecond)
		changed := make(chan bool, 100)
		client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
			ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { changed <- true },
		}).Connect(ctx, here, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
		if err != nil {
			t.Fatal(err)
		}
		f.set(mcp.Resource{Path: "AGENTS.md"})
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: not told", protocol)
		}
		if list, err := client.ListResources(ctx, nil); err != nil || len(list.Resources) != 1 {
			t.Errorf("%s: %v, %v", protocol, list, err)
		}
		f.set()
		if list, err := client.ListResources(ctx, nil); err != nil || len(list.Resources) != 0 {
			t.Errorf("%s: a file that is gone is listed: %v, %v", protocol, list, err)
		}
		client.Close()
	}
}

func TestPrompts(t *testing.T) {
	c := config(&script{}, agent.Gate{Tier: utp.TierWalk})
	c.Prompts = []mcp.Prompt{{Name: "ask", Title: "Ask", Description: "Ask it", Arguments: []mcp.Argument{{Name: "question", Description: "what", Required: true}},
		Parts: func(_ context.Context, args map[string]string) ([]utp.Part, error) {
			if args["question"] == "fail" {
				return nil, errors.New("no answer today")
			}
			return []utp.Part{utp.Text{Text: "Q: " + args["question"]}, utp.Blob{MIME: "image/png", Data: []byte("png")}}, nil
		}}}
	url := serveHTTP(t, c, mcp.Access{Key: key})
	for _, protocol := range protocols {
		client := dialHTTP(t, url, protocol, nil)
		list, err := client.ListPrompts(t.Context(), nil)
		if err != nil || len(list.Prompts) != 1 || !list.Prompts[0].Arguments[0].Required || list.Prompts[0].Title != "Ask" {
			t.Fatalf("%s: %+v, %v", protocol, list, err)
		}
		r, err := client.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask", Arguments: map[string]string{"question": "why?"}})
		if err != nil || len(r.Messages) != 2 || r.Messages[0].Role != "user" || r.Messages[0].Content.(*sdk.TextContent).Text != "Q: why?" {
			t.Errorf("%s: %+v, %v", protocol, r, err)
		}
		for question, want := range map[string]string{"": "needs the argument question", "fail": "no answer today"} {
			if _, err := client.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "ask", Arguments: map[string]string{"question": question}}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", protocol, err, want)
			}
		}
	}
}

// contract: C-09 C-10
func TestProgressIsToldToWhoAsks(t *testing.T) {
	run := &steps{}
	url := serveHTTP(t, config(run, agent.Gate{Tier: utp.TierWalk}), mcp.Access{Key: key})
	for _, protocol := range protocols {
		told := make(chan *sdk.ProgressNotificationParams, 100)
		client := dialHTTP(t, url, protocol, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params }})
		p := &sdk.CallToolParams{Name: "stats"}
		p.SetProgressToken("mine")
		if _, err := client.CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		select {
		case n := <-told:
			if n.ProgressToken != "mine" || n.Progress != 10 || n.Total != 10 || n.Message != "files" {
				t.Errorf("%s: %+v", protocol, n)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: not told", protocol)
		}
		if r := call(t, client, "stats", nil); r.IsError || len(told) != 0 {
			t.Errorf("%s: told without a token: %v", protocol, len(told))
		}
	}
}

// steps tells of two steps, of which the second is none.
type steps struct{}

func (steps) Run(ctx context.Context, c utp.Call) utp.Result {
	mcp.Progress(ctx, 10, 10, "files")
	mcp.Progress(ctx, 5, 10, "files")
	return utp.TextResult(c, utp.StatusOK, "done")
}

// contract: C-09
func TestRootsAreAskedOnceAndAgainWhenTheyChange(t *testing.T) {
	dir := t.TempDir()
	run := &rootsRun{}
	url := serveHTTP(t, config(run, agent.Gate{Tier: utp.TierWalk}), mcp.Access{Key: key})
	for _, protocol := range protocols {
		c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		c.AddRoots(&sdk.Root{URI: mcp.FileURI(filepath.Join(dir, "a b"))}, &sdk.Root{URI: "https://x.test/no-file"})
		client, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: httpClient()}, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{filepath.Join(dir, "a b")}
		if protocol >= "2026-07-28" {
			want = nil
		}
		for range 2 {
			call(t, client, "stats", nil)
			if d := cmp.Diff(want, run.last()); d != "" {
				t.Errorf("%s: %s", protocol, d)
			}
		}
		if want != nil {
			c.AddRoots(&sdk.Root{URI: mcp.FileURI(dir)})
			for range 1000 {
				if call(t, client, "stats", nil); len(run.last()) == 2 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if len(run.last()) != 2 {
				t.Errorf("%s: a new root is not seen: %q", protocol, run.last())
			}
		}
		client.Close()
	}
	if _, err := os.Stat(dir); err != nil || mcp.Roots(t.Context()) != nil {
		t.Error("roots outside of a call")
	}
}

type rootsRun struct {
	mu    sync.Mutex
	roots []string
}

func (r *rootsRun) last() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.roots
}

func (r *rootsRun) Run(ctx context.Context, c utp.Call) utp.Result {
	roots := mcp.Roots(ctx)
	slices.SortFunc(roots, func(a, b string) int { return len(b) - len(a) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roots = roots
	return utp.TextResult(c, utp.StatusOK, "ok")
}
