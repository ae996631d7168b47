package backend_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// rig is a client and the fake server that it asks.
type rig struct {
	*backend.Client
	server *fake.Server
	url    string

	mu     sync.Mutex
	warned []string
	traced []backend.Trace
}

func script(t *testing.T, name string) *fake.Script {
	t.Helper()
	s, err := fake.Load(filepath.Join("..", "internal", "fake", "testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inline(t *testing.T, text string) *fake.Script {
	t.Helper()
	s, err := fake.Parse("inline", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func setUp(t *testing.T, s *fake.Script, c backend.Config) *rig {
	t.Helper()
	r := &rig{server: fake.New(s)}
	h := httptest.NewServer(r.server)
	t.Cleanup(h.Close)
	r.url = h.URL
	if c.Provider == "" {
		c.Provider = backend.Ollama
	}
	if c.Model == "" {
		c.Model = "qwen3:8b"
	}
	c.URL, c.Backoff = h.URL, time.Millisecond
	c.Warn = func(s string) { r.mu.Lock(); r.warned = append(r.warned, s); r.mu.Unlock() }
	c.Trace = func(t backend.Trace) { r.mu.Lock(); r.traced = append(r.traced, t); r.mu.Unlock() }
	n := 0
	c.NewID = func() string { n++; return fmt.Sprint("id_", n) }
	var err error
	if r.Client, err = backend.New(c); err != nil {
		t.Fatal(err)
	}
	return r
}

// query is a tool with one text argument.
func query(name, arg string) utp.Tool {
	return utp.Tool{Name: name, Description: "A tool.", Schema: json.RawMessage(
		`{"type":"object","properties":{"` + arg + `":{"type":"string"},"limit":{"type":"integer"}},"required":["` + arg + `"]}`)}
}

func question(tools ...utp.Tool) *utp.Request {
	return &utp.Request{Tools: tools, Messages: []utp.Message{
		utp.NewText(utp.RoleSystem, "Be brief."), utp.NewText(utp.RoleUser, "Where is authentication?")}}
}

var (
	search  = query("search_code", "query")
	list    = query("list_dir", "path")
	weather = query("get_weather", "city")
)

func reply(c *backend.Client, r *utp.Request) (utp.Reply, error) {
	var evs []utp.Event
	for e, err := range c.Stream(context.Background(), r) {
		if err != nil {
			return utp.Collect(evs), err
		}
		evs = append(evs, e)
	}
	return utp.Collect(evs), nil
}

func mustReply(t *testing.T, c *backend.Client, r *utp.Request) utp.Reply {
	t.Helper()
	got, err := reply(c, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// calls is "name args" of each call.
func calls(r utp.Reply) (out []string) {
	for _, c := range r.Calls() {
		out = append(out, c.Name+" "+string(c.Args))
	}
	return out
}

// after continues a conversation with a result for each call.
func after(r *utp.Request, rep utp.Reply) *utp.Request {
	out := *r
	out.Messages = append(slices.Clone(r.Messages), rep.Message)
	for _, c := range rep.Calls() {
		out.Messages = append(out.Messages, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "auth.go:12: func check()")}})
	}
	return &out
}

func eachWay(t *testing.T, f func(t *testing.T, provider string, whole bool, chunk int)) {
	for _, provider := range []string{backend.Ollama, backend.OpenAI} {
		for _, whole := range []bool{false, true} {
			for _, chunk := range []int{0, 1} {
				t.Run(fmt.Sprintf("%s/whole=%v/chunk=%d", provider, whole, chunk), func(t *testing.T) { f(t, provider, whole, chunk) })
			}
		}
	}
}

// contract: P-08 P-18 T-01 A-21
func TestACallInTheTextIsFound(t *testing.T) {
	eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
		s := script(t, "text_call")
		s.Chunk, s.Write = chunk, chunk
		r := setUp(t, s, backend.Config{Provider: provider, Whole: whole, Model: "qwen3:30b"})
		q := question(search)
		got := mustReply(t, r.Client, q)
		if c := calls(got); len(c) != 1 || c[0] != `search_code {"query":"authentication","limit":5}` && c[0] != `search_code {"query": "authentication", "limit": 5}` {
			t.Fatalf("calls %q", c)
		}
		if got.Text() != "I'll search for authentication code.\n\n" || got.Stop != utp.StopTool {
			t.Errorf("text %q, stop %q", got.Text(), got.Stop)
		}
		if len(r.traced) != 1 || !r.traced[0].Mismatch || !strings.Contains(r.traced[0].Raw, `"search_code"`) {
			t.Errorf("traced %+v", r.traced)
		}
		if id := got.Calls()[0].ID; id != "id_1" {
			t.Errorf("id %q", id)
		}
		got = mustReply(t, r.Client, after(q, got))
		if got.Text() != "Authentication is in auth.go:12." || got.Stop != utp.StopEnd {
			t.Errorf("%+v", got)
		}
		if err := r.server.Err(); err != nil {
			t.Error(err)
		}
	})
}

// The same call in many dialects is the same call.
//
// contract: T-11 P-09 P-10 P-12 P-13 CON-33
func TestDialects(t *testing.T) {
	for name, text := range map[string]string{
		"tools":         `<tools>{"name": "search_code", "arguments": {"query": "auth"}}</tools>`,
		"tool_use":      `<tool_use><name>search_code</name><arguments>{"query": "auth"}</arguments></tool_use>`,
		"function_call": `<function_call>{"name": "search_code", "arguments": {"query": "auth"}}</function_call>`,
		"tool_call":     "<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}\n</tool_call>",
		"autobyteus":    `<tool name="search_code"><arguments><arg name="query">auth</arg></arguments></tool>`,
		"react":         "Thought: look.\nAction: search_code\nAction Input: {\"query\": \"auth\"}",
		"json":          "```json\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}\n```",
	} {
		for _, chunk := range []int{0, 1} {
			s := inline(t, "-- turn --\n-- text --\n"+text+"\n")
			s.Chunk = chunk
			got := mustReply(t, setUp(t, s, backend.Config{}).Client, question(search))
			if c := got.Calls(); len(c) != 1 || c[0].Name != "search_code" || compactArgs(t, c[0]) != `{"query":"auth"}` || got.Stop != utp.StopTool {
				t.Errorf("%s, chunk %d: %q %+v", name, chunk, calls(got), got.Problems)
			}
		}
	}
}

func compactArgs(t *testing.T, c utp.Call) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(c.Args, &v); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// contract: N-02 N-03 CON-01 CON-03
func TestNativeAndTextCallsOfOneTurn(t *testing.T) {
	eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
		s := script(t, "mixed_calls")
		s.Chunk = chunk
		got := mustReply(t, setUp(t, s, backend.Config{Provider: provider, Whole: whole}).Client, question(search, list))
		if c := calls(got); len(c) != 2 || !strings.Contains(c[0], "search_code") || !strings.Contains(c[1], "list_dir") {
			t.Errorf("calls %q", c)
		}
		if got.Text() != "" {
			t.Errorf("text %q", got.Text())
		}
	})
}

// Native calls come first also where words, more than wait for them, stand behind
// the one in the text.
//
// contract: N-02 CON-01
func TestNativeCallsComeBeforeThoseFarAhead(t *testing.T) {
	eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
		s := inline(t, "-- turn --\n-- text --\n<tools>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}</tools>\n"+
			strings.Repeat("Words that follow it. ", 50)+"\n-- call search_code --\n{\"query\": \"auth\"}\n")
		s.Chunk = chunk
		got := mustReply(t, setUp(t, s, backend.Config{Provider: provider, Whole: whole}).Client, question(search, list))
		if c := calls(got); len(c) != 2 || !strings.Contains(c[0], "search_code") || !strings.Contains(c[1], "list_dir") {
			t.Errorf("calls %q", c)
		}
	})
}

// Of two equal calls the native one stays, whichever came first, and with the id
// that its provider gave it.
//
// contract: N-02 N-03 CON-02
func TestOfEqualCallsTheNativeOneStays(t *testing.T) {
	eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
		s := script(t, "equal_calls")
		s.Chunk = chunk
		got := mustReply(t, setUp(t, s, backend.Config{Provider: provider, Whole: whole}).Client, question(search, list))
		c := got.Calls()
		if len(c) != 1 || c[0].Name != "search_code" || c[0].Source != utp.SourceNative {
			t.Fatalf("calls %+v", c)
		}
		if got.Text() != "" || len(got.Problems) > 0 {
			t.Errorf("text %q, problems %v", got.Text(), got.Problems)
		}
	})
}

// contract: R-01 R-02 R-06 R-12 R-13 CON-23
func TestNativeArgumentsAreMendedOrRefused(t *testing.T) {
	for _, chunk := range []int{0, 1} {
		s := script(t, "broken_arguments")
		s.Chunk = chunk
		r := setUp(t, s, backend.Config{Provider: backend.OpenAI})
		var evs []utp.Event
		for e, err := range r.Stream(context.Background(), question(weather)) {
			if err != nil {
				t.Fatal(err)
			}
			evs = append(evs, e)
		}
		got, deltas := utp.Collect(evs), map[int]string{}
		for _, e := range evs {
			switch e.Kind {
			case utp.EventCallDelta:
				deltas[e.Part] += e.Text
			case utp.EventCallEnd:
				if deltas[e.Part] != string(e.Call.Args) {
					t.Errorf("deltas %q, arguments %q", deltas[e.Part], e.Call.Args)
				}
			}
		}
		if c := got.Calls(); len(c) != 2 || compactArgs(t, c[0]) != `{"city":"Paris"}` || len(c[0].Fixes) == 0 || len(c[1].Fixes) != 0 {
			t.Errorf("calls %+v", c)
		}
		if len(got.Problems) != 1 || got.Problems[0].Raw != "not valid json" || got.Problems[0].Name != "get_weather" {
			t.Errorf("problems %+v", got.Problems)
		}
	}
	off := setUp(t, script(t, "broken_arguments"), backend.Config{Provider: backend.OpenAI, Parse: parse.Config{Repair: parse.Off}})
	if got := mustReply(t, off.Client, question(weather)); len(got.Calls()) != 1 || len(got.Problems) != 2 {
		t.Errorf("without repairs: %q %+v", calls(got), got.Problems)
	}
}

// contract: N-24 F-05 T-07
func TestAModelWithoutNativeToolsGetsThemInThePrompt(t *testing.T) {
	s := inline(t, `-- server --
tools: no
-- turn --
no tools
contains search_code
-- text --
<tool_call>
{"name": "search_code", "arguments": {"query": "auth"}}
</tool_call>
-- turn --
no tools
contains auth.go:12
last user
-- text --
Done.
`)
	r := setUp(t, s, backend.Config{Formats: in("hermes")})
	q := question(search)
	got := mustReply(t, r.Client, q)
	if c := calls(got); len(c) != 1 {
		t.Fatalf("calls %q", c)
	}
	if r.traced[0].Mismatch {
		t.Error("a text call is what was asked for: no mismatch")
	}
	if got = mustReply(t, r.Client, after(q, got)); got.Text() != "Done." {
		t.Errorf("%+v", got)
	}
	if err := r.server.Err(); err != nil {
		t.Error(err)
	}
}

// contract: N-24 A-21
func TestAServerThatRefusesToolsGetsThemInThePrompt(t *testing.T) {
	s := script(t, "refuses_tools")
	r := setUp(t, s, backend.Config{Provider: backend.OpenAI})
	if got := mustReply(t, r.Client, question(search)); len(got.Calls()) != 1 {
		t.Errorf("%+v", got)
	}
	if len(r.warned) != 1 || !strings.Contains(r.warned[0], "they go into the prompt instead") {
		t.Errorf("warned %q", r.warned)
	}
	if err := r.server.Err(); err != nil {
		t.Error(err)
	}
	forced := setUp(t, script(t, "refuses_tools"), backend.Config{Formats: in("native")})
	if got := mustReply(t, forced.Client, question(search)); len(got.Calls()) != 1 || len(forced.warned) != 1 {
		t.Errorf("native tools by configuration: %+v, warned %q", got, forced.warned)
	}
}

// contract: N-14 CON-02 CON-13 CON-12
func TestAnExplicitParserIsExclusive(t *testing.T) {
	text, native := "-- turn --\n-- text --\n<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}</tools>\n", "-- turn --\n-- call search_code --\n{\"query\": \"auth\"}\n"
	for _, c := range []struct {
		calls  string
		script string
		want   int
	}{
		{"auto", text, 1}, {"auto", native, 1},
		{"native", text, 0}, {"native", native, 1},
		{"text", text, 1}, {"text", native, 0},
	} {
		r := setUp(t, inline(t, c.script), backend.Config{Formats: []format.Layer{{Tools: "native", Calls: c.calls}}})
		got := mustReply(t, r.Client, question(search))
		if n := len(got.Calls()); n != c.want {
			t.Errorf("calls %s, %q: %d calls, want %d", c.calls, c.script, n, c.want)
		}
		if (got.Stop == utp.StopTool) != (c.want > 0) {
			t.Errorf("calls %s, %q: stop %q", c.calls, c.script, got.Stop)
		}
		if c.calls == "text" && c.script == native && (len(r.warned) != 2 || !strings.Contains(r.warned[1], "search_code")) {
			t.Errorf("a native call was dropped without a word: %q", r.warned)
		}
	}
}

// contract: N-12 N-10
func TestToolsAndResultsAreToldEachInTheirForm(t *testing.T) {
	q := after(question(search), utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{
		utp.Call{ID: "call_1", Name: "search_code", Args: json.RawMessage(`{"query":"auth"}`)}}}})
	for _, c := range []struct {
		told, results      string
		tools, toolMessage bool
	}{
		{"native", "auto", true, true}, {"native", "hermes", true, false},
		{"hermes", "auto", false, false}, {"hermes", "native", false, true},
	} {
		r := setUp(t, inline(t, "-- turn --\ncontains auth.go:12\n-- text --\nok\n"), backend.Config{Formats: []format.Layer{{Tools: c.told, Results: c.results}}})
		mustReply(t, r.Client, q)
		body := string(r.server.Requests()[0].Body)
		if got := strings.Contains(body, `"tools":[`); got != c.tools {
			t.Errorf("%+v: tools in their field: %v", c, got)
		}
		if got := strings.Contains(body, `"role":"tool"`); got != c.toolMessage {
			t.Errorf("%+v: a tool message: %v", c, got)
		}
		if !strings.Contains(body, "search_code") || strings.Count(body, "Be brief.") != 1 {
			t.Errorf("%+v: %s", c, body)
		}
	}
}

// contract: Z-14
func TestThinkingStaysApart(t *testing.T) {
	for provider, from := range map[string]string{backend.Ollama: "", backend.OpenAI: "openai"} {
		got := mustReply(t, setUp(t, script(t, "thinking"), backend.Config{Provider: provider}).Client, question(weather))
		think, ok := got.Parts[0].(utp.Think)
		if !ok || think.Text != "The user wants the weather.\nOne call will do." || think.Provider != from || len(got.Parts) != 3 {
			t.Errorf("%s: %+v", provider, got.Parts)
		}
	}
}

func TestNumCtx(t *testing.T) {
	numCtx := func(r *rig, i int) int {
		var body struct {
			Options struct {
				NumCtx int `json:"num_ctx"`
			} `json:"options"`
		}
		if err := json.Unmarshal(r.server.Requests()[i].Body, &body); err != nil {
			t.Fatal(err)
		}
		return body.Options.NumCtx
	}
	long := question()
	long.Messages[1] = utp.NewText(utp.RoleUser, strings.Repeat("is a ", 7_000)) // about 12,000 tokens
	r := setUp(t, inline(t, "-- server --\ncontext: 131072\nmodel: other, qwen3:8b\n-- turn --\nrepeat\n-- text --\nok\n"), backend.Config{})
	for i, q := range []*utp.Request{question(), long, question()} {
		mustReply(t, r.Client, q)
		if want := []int{8192, 16384, 16384}[i]; numCtx(r, i) != want {
			t.Errorf("request %d: num_ctx %d, want %d", i, numCtx(r, i), want)
		}
	}
	if len(r.warned) != 0 {
		t.Errorf("warned %q", r.warned)
	}
	loaded := setUp(t, inline(t, "-- server --\ncontext: 65536\nloaded: mock 65536\n-- turn --\n-- text --\nok\n"), backend.Config{Model: "mock"})
	mustReply(t, loaded.Client, question())
	if got := numCtx(loaded, 0); got != 65536 {
		t.Errorf("a model in memory keeps its window: %d", got)
	}
	small := setUp(t, inline(t, "-- server --\ncontext: 10000\n-- turn --\n-- text --\nok\n"), backend.Config{})
	mustReply(t, small.Client, long)
	if got := numCtx(small, 0); got != 10000 || len(small.warned) != 1 || !strings.Contains(small.warned[0], "has 10000") {
		t.Errorf("num_ctx %d, warned %q", got, small.warned)
	}
	set := setUp(t, inline(t, "-- turn --\n-- text --\nok\n"), backend.Config{NumCtx: 12345})
	mustReply(t, set.Client, question())
	if got := numCtx(set, 0); got != 12345 {
		t.Errorf("num_ctx %d, want the configured one", got)
	}
}

func TestTheWindowOfOtherServers(t *testing.T) {
	long := question()
	long.Messages[1] = utp.NewText(utp.RoleUser, strings.Repeat("is a ", 2800))
	for _, kind := range []string{"vllm", "llamacpp", "lmstudio"} {
		r := setUp(t, inline(t, "-- server --\nkind: "+kind+"\nmodel: m\ncontext: 4096\ntoken: 2\n-- turn --\n-- text --\nok\n"), backend.Config{Provider: backend.OpenAI, Model: "m"})
		_, err := reply(r.Client, long)
		var w *wire.Error
		if !errors.As(err, &w) || !w.Overflow() {
			t.Errorf("%s: %v, want the server's refusal", kind, err)
		}
		if len(r.warned) != 1 || !strings.Contains(r.warned[0], "has 4096") {
			t.Errorf("%s: warned %q", kind, r.warned)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, kind := range []string{"ollama", "vllm", "llamacpp", "lmstudio"} {
		provider := backend.OpenAI
		if kind == "ollama" {
			provider = backend.Ollama
		}
		models := map[bool]string{true: "b", false: "a, b"}[kind == "llamacpp"]
		r := setUp(t, inline(t, "-- server --\nkind: "+kind+"\nmodel: "+models+"\ncontext: 4096\nversion: 1.2\n-- turn --\n-- text --\nok\n"), backend.Config{Provider: provider, Model: "b"})
		s, err := r.Status(context.Background())
		if err != nil || len(s.Models) != 1+strings.Count(models, ",") || !s.Found || !s.Native || s.Why == "" || s.Window != 4096 {
			t.Errorf("%s: %+v %v", kind, s, err)
		}
		if s.Version != "1.2" && kind != "lmstudio" {
			t.Errorf("%s: version %q", kind, s.Version)
		}
	}
	no := setUp(t, inline(t, "-- server --\ntools: no\n-- turn --\n-- text --\nok\n"), backend.Config{Model: "gone"})
	s, err := no.Status(context.Background())
	if err != nil || s.Found || s.Native || !strings.Contains(s.Why, "no tools") {
		t.Errorf("%+v %v", s, err)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		config backend.Config
		want   string
	}{
		{backend.Config{Provider: "bedrock", URL: "http://x"}, `provider "bedrock": want anthropic, gemini, ollama, openai, responses`},
		{backend.Config{Provider: "ollama"}, `url "": want http://HOST:PORT`},
		{backend.Config{Provider: "ollama", URL: "ftp://x"}, `url "ftp://x"`},
	} {
		if _, err := backend.New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for base, want := range map[string]string{
		"": "/v1/chat/completions", "/": "/v1/chat/completions", "/v1": "/v1/chat/completions", "/v1/": "/v1/chat/completions",
		"/api/v1": "/api/v1/chat/completions", "/v1beta/openai": "/v1beta/openai/chat/completions",
	} {
		var got string
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				got = r.URL.Path
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`))
		}))
		c, err := backend.New(backend.Config{Provider: backend.OpenAI, URL: h.URL + base, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if rep := mustReply(t, c, question()); rep.Text() != "ok" || got != want {
			t.Errorf("base %q: %s, want %s (%q)", base, got, want, rep.Text())
		}
		h.Close()
	}
}

func TestTheReaderMayLeave(t *testing.T) {
	gone := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(`{"message":{"content":"word "},"done":false}` + "\n"))
			_ = http.NewResponseController(w).Flush()
		}
		close(gone)
	}))
	defer h.Close()
	c, err := backend.New(backend.Config{Provider: backend.Ollama, URL: h.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range c.Stream(context.Background(), question()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == utp.EventText {
			break
		}
	}
	<-gone
}

// What goes out and what comes back can be had as it was, of every backend.
//
// contract: A-24
func TestDump(t *testing.T) {
	bodies := map[string]string{
		"ollama":    `{"model":"m","message":{"role":"assistant","content":"raw words"},"done":true,"done_reason":"length"}`,
		"openai":    `{"choices":[{"index":0,"message":{"role":"assistant","content":"raw words"},"finish_reason":"length"}]}`,
		"responses": `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"raw words"}]}]}`,
		"anthropic": `{"type":"message","role":"assistant","content":[{"type":"text","text":"raw words"}],"stop_reason":"max_tokens"}`,
		"gemini":    `{"candidates":[{"content":{"role":"model","parts":[{"text":"raw words"}]},"finishReason":"MAX_TOKENS"}]}`,
	}
	for _, provider := range backend.Providers() {
		t.Run(provider, func(t *testing.T) {
			body := bodies[provider]
			if body == "" {
				t.Fatalf("no reply is known of %s", provider)
			}
			var asked, sent, received string
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				if strings.Contains(string(b), "authentication") {
					asked = string(b)
				}
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, body)
			}))
			defer h.Close()
			c, err := backend.New(backend.Config{Provider: provider, URL: h.URL, Model: "m", Whole: true, Retries: -1,
				Dump: func(s, r []byte) { sent, received = sent+string(s), received+string(r) }})
			if err != nil {
				t.Fatal(err)
			}
			rep := mustReply(t, c, question())
			if rep.Stop != utp.StopLength || rep.Text() != "raw words" || received != body || sent != asked || sent == "" {
				t.Errorf("%+v\nsent %s, asked %s\nreceived %s", rep, sent, asked, received)
			}
			streamed := inline(t, "-- turn --\n-- text --\nraw words\n")
			streamed.Kind, received = map[string]string{"openai": "openai", "responses": "openai", "anthropic": "anthropic", "gemini": "gemini"}[provider], ""
			r := setUp(t, streamed, backend.Config{Provider: provider, Dump: func(_, r []byte) { received += string(r) + "\n" }})
			if rep := mustReply(t, r.Client, question()); rep.Text() != "raw words" || !strings.Contains(received, "raw words") || strings.Count(received, "\n{") < 1 {
				t.Errorf("%+v\nstreamed %s", rep, received)
			}
		})
	}
}

// A server that still loads its model is asked again what the model can.
func TestWhatALoadingServerSaysIsNotKept(t *testing.T) {
	var loaded bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !loaded:
			http.Error(w, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, http.StatusServiceUnavailable)
		case r.URL.Path == "/props":
			_, _ = io.WriteString(w, `{"default_generation_settings":{"n_ctx":4096},"chat_template_caps":{"supports_tools":false}}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	c := client(t, backend.Config{Provider: backend.OpenAI, URL: server.URL})
	before := c.Choice(context.Background(), "m").Tools.Way
	loaded = true
	if after := c.Choice(context.Background(), "m").Tools.Way; before != format.Native || after != format.Text {
		t.Errorf("tools go %v and then %v, want %v and %v", before, after, format.Native, format.Text)
	}
}
