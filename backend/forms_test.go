package backend_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
)

// in sets how tools are offered.
func in(tools string) []format.Layer { return []format.Layer{{From: "test", Tools: tools}} }

// sent is the part of a request's body that every provider names alike.
type sent struct {
	Messages []struct {
		Role, Content string
		Calls         []json.RawMessage `json:"tool_calls"`
	}
	Tools   []json.RawMessage
	Stop    []string // OpenAI
	Options struct{ Stop []string }
	body    string
}

func bodyOf(t *testing.T, r *rig, i int) (s sent) {
	t.Helper()
	s.body = string(r.server.Requests()[i].Body)
	if err := json.Unmarshal([]byte(s.body), &s); err != nil {
		t.Fatal(err)
	}
	s.Stop = append(s.Stop, s.Options.Stop...)
	return s
}

// contract: N-04
func TestAnEmptyNativeFieldLeavesTheText(t *testing.T) {
	const call = `<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}</tools>`
	for _, field := range []string{"null", "[]"} {
		message := `"role":"assistant","content":"` + call + `","tool_calls":` + field
		for name, c := range map[string]struct {
			provider string
			raw      string
		}{
			"ollama": {backend.Ollama, `{"model":"m","message":{` + message + `},"done":true,"done_reason":"stop"}`},
			"openai": {backend.OpenAI, `data: {"choices":[{"index":0,"delta":{` + message + `},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n"},
		} {
			r := setUp(t, inline(t, "-- turn --\n-- raw --\n"+c.raw+"\n"), backend.Config{Provider: c.provider})
			got := mustReply(t, r.Client, question(search))
			if cs := got.Calls(); len(cs) != 1 || compactArgs(t, cs[0]) != `{"query":"auth"}` || got.Text() != "" {
				t.Errorf("%s, tool_calls %s: %+v", name, field, got)
			}
		}
	}
}

// contract: P-37
func TestReActFromAModelWithNativeToolsIsReadAndNoted(t *testing.T) {
	r := setUp(t, inline(t, "-- turn --\ntools search_code\n-- text --\nAction: search_code\nAction Input: {\"query\": \"auth\"}\n"), backend.Config{})
	if got := mustReply(t, r.Client, question(search)); len(got.Calls()) != 1 || got.Calls()[0].Source != "text:react" {
		t.Errorf("%+v", got)
	}
	if len(r.traced) != 1 || !r.traced[0].Mismatch || r.traced[0].Dialect != "react" {
		t.Errorf("traced %+v", r.traced)
	}
}

// What decides the form that tools are offered in: the configuration, then what
// the server says of the model, then the model's name, then the common form.
// Calls are read in every form, whatever was decided.
//
// contract: N-07 N-23
func TestWhatDecidesTheForm(t *testing.T) {
	for _, c := range []struct {
		name   string
		takes  string // the server's word: yes or no
		model  string
		config backend.Config
		form   string // of the example in the prompt; "" is the tools field
	}{
		{"the server takes tools", "yes", "qwen3-coder:30b", backend.Config{}, ""},
		{"the model's name", "no", "qwen3-coder:30b", backend.Config{}, "<function=search_code>"},
		{"another model's name", "no", "dolphin-mistral", backend.Config{}, "# Tool: search_code"},
		{"a name nobody knows", "no", "tinyllama", backend.Config{}, "Action: search_code"},
		{"the grammar is set", "no", "qwen3-coder:30b", backend.Config{Formats: in("react")}, "Action: search_code"},
		{"text is set", "yes", "qwen3-coder:30b", backend.Config{Formats: in("text")}, "<function=search_code>"},
		{"native is set", "no", "tinyllama", backend.Config{Formats: in("native")}, ""},
	} {
		c.config.Model = c.model
		s := inline(t, "-- server --\ntools: "+c.takes+"\n-- turn --\n-- text --\n<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}</tools>\n")
		r := setUp(t, s, c.config)
		got := mustReply(t, r.Client, question(search))
		body := bodyOf(t, r, 0)
		if native := len(body.Tools) > 0; native != (c.form == "") || !strings.Contains(body.Messages[0].Content, c.form) {
			t.Errorf("%s: want %q in %s", c.name, c.form, body.body)
		}
		if len(got.Calls()) != 1 {
			t.Errorf("%s: a call in another form was not read: %+v", c.name, got)
		}
	}
}

// One conversation in three forms: asked, called, answered. Native results are
// messages of their own; stops are sent until a tool has answered.
//
// contract: W-01 W-08 W-09 W-10 A-20
func TestOneConversationInEachForm(t *testing.T) {
	const native = "-- call search_code --\n{\"query\": \"auth\"}\n"
	for _, c := range []struct {
		name, answer string
		config       backend.Config
		stops        []string
	}{
		{"native", native, backend.Config{Formats: in("native")}, nil},
		{"react", "-- text --\nAction: search_code\nAction Input: {\"query\": \"auth\"}\n", backend.Config{Formats: in("react")}, []string{"\nObservation:"}},
		{"xml", "-- text --\n<tool_call>{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}</tool_call>\n", backend.Config{Formats: in("hermes")}, []string{"<tool_response>"}},
	} {
		eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
			c.config.Provider, c.config.Whole = provider, whole
			s := inline(t, "-- turn --\n"+c.answer+"-- turn --\n-- text --\nIn auth.go.\n")
			s.Chunk = chunk
			r := setUp(t, s, c.config)
			q := question(search)
			q.Params.Stop = []string{"STOP"}
			first := mustReply(t, r.Client, q)
			if cs := first.Calls(); len(cs) != 1 || first.Stop != utp.StopTool || compactArgs(t, cs[0]) != `{"query":"auth"}` {
				t.Fatalf("%s: %+v", c.name, first)
			}
			if got := mustReply(t, r.Client, after(q, first)); got.Text() != "In auth.go." {
				t.Errorf("%s: %+v", c.name, got)
			}
			asked, answered := bodyOf(t, r, 0), bodyOf(t, r, 1)
			if d := cmp.Diff(append([]string{"STOP"}, c.stops...), asked.Stop); d != "" {
				t.Errorf("%s: stops of the question: %s", c.name, d)
			}
			if d := cmp.Diff([]string{"STOP"}, answered.Stop); d != "" {
				t.Errorf("%s: stops after a result: %s", c.name, d)
			}
			role := "user"
			if c.name == "native" {
				role = "tool"
			}
			if last := answered.Messages[len(answered.Messages)-1]; last.Role != role || !strings.Contains(last.Content, "auth.go:12") {
				t.Errorf("%s: the result went back as %+v", c.name, last)
			}
		})
	}
}

// Beside a call without text Ollama wants an empty content, OpenAI a null.
//
// contract: CON-09
func TestTheContentOfACallWithoutText(t *testing.T) {
	q := after(question(search), utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{
		utp.Call{ID: "call_1", Name: "search_code", Args: json.RawMessage(`{"query":"auth"}`)}}}})
	for provider, want := range map[string]string{backend.Ollama: `""`, backend.OpenAI: `null`} {
		r := setUp(t, inline(t, "-- turn --\n-- text --\nok\n"), backend.Config{Provider: provider})
		mustReply(t, r.Client, q)
		var body struct{ Messages []map[string]json.RawMessage }
		if err := json.Unmarshal(r.server.Requests()[0].Body, &body); err != nil {
			t.Fatal(err)
		}
		m := body.Messages[2]
		if string(m["role"]) != `"assistant"` || m["tool_calls"] == nil || string(m["content"]) != want {
			t.Errorf("%s: content %s, want %s in %s", provider, m["content"], want, m)
		}
	}
}

// Gemini's own format is a codec of its own; its OpenAI-compatible address is
// a server of OpenAI's kind.
//
// contract: CON-14
func TestGeminiHasTwoAddresses(t *testing.T) {
	q := *question(search)
	q.Model = "gemini-pro"
	x, err := gemini.Back{}.Open(&q)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(x.Path, "/gemini-pro:generateContent") || !strings.Contains(string(x.Body), `"functionDeclarations"`) {
		t.Errorf("its own: %s %s", x.Path, x.Body)
	}
	var path string
	var body []byte
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			path = r.URL.Path
			body, _ = io.ReadAll(r.Body)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`))
	}))
	defer h.Close()
	c, err := backend.New(backend.Config{Provider: backend.OpenAI, URL: h.URL + "/v1beta/openai", Model: q.Model})
	if err != nil {
		t.Fatal(err)
	}
	mustReply(t, c, &q)
	if path != "/v1beta/openai/chat/completions" || !strings.Contains(string(body), `"type":"function"`) || strings.Contains(string(body), "functionDeclarations") {
		t.Errorf("OpenAI's: %s %s", path, body)
	}
}

// A call has its id from its first event on, a made-up one too.
//
// contract: CON-29
func TestTheIDIsThereFromTheFirstEvent(t *testing.T) {
	for name, answer := range map[string]string{
		"given":  "-- call search_code id=abc --\n{\"query\": \"a\"}\n-- call list_dir id=def --\n{\"path\": \"b\"}\n",
		"none":   "-- call search_code id=none --\n{\"query\": \"a\"}\n-- call search_code id=none --\n{\"query\": \"b\"}\n",
		"text":   "-- text --\n<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}</tools>\n<tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}</tools>\n",
		"broken": "-- call search_code id=none --\n{\"query\": \"a\",}\n-- call search_code --\n{\"query\": \"b\"}\n",
	} {
		s := inline(t, "-- turn --\n"+answer)
		s.Chunk = 1
		r := setUp(t, s, backend.Config{Provider: backend.OpenAI})
		first, seen, ended := map[int]string{}, map[string]bool{}, 0
		for e, err := range r.Stream(context.Background(), question(search, list)) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Kind {
			case utp.EventCallStart:
				if e.Call.ID == "" || seen[e.Call.ID] {
					t.Errorf("%s: the call starts with the id %q", name, e.Call.ID)
				}
				first[e.Part], seen[e.Call.ID] = e.Call.ID, true
			case utp.EventCallEnd:
				if ended++; e.Call.ID != first[e.Part] {
					t.Errorf("%s: it starts as %q and ends as %q", name, first[e.Part], e.Call.ID)
				}
			}
		}
		if ended != 2 {
			t.Errorf("%s: %d calls, want 2", name, ended)
		}
	}
}

// Tools are told once: in their field, else where the prompt wants them, else
// at its end.
//
// contract: CON-30 CON-42
func TestToolsAreToldOnce(t *testing.T) {
	for _, c := range []struct {
		tools  string
		prompt string
		want   string // pattern of the system message; "…" is the tools
	}{
		{"native", "Be brief.", "Be brief."},
		{"native", "First.\n{{tools}}\nLast.", "First.\n{{tools}}\nLast."},
		{"text", "Be brief.", "Be brief.…"},
		{"text", "First.\n{{tools}}\nLast.", "First.\n…\nLast."},
	} {
		r := setUp(t, inline(t, "-- turn --\n-- text --\nok\n"), backend.Config{Formats: in(c.tools)})
		tool := search
		tool.Description = "Looks for walruses."
		q := question(tool)
		q.Messages[0] = utp.NewText(utp.RoleSystem, c.prompt)
		mustReply(t, r.Client, q)
		body := bodyOf(t, r, 0)
		if n := strings.Count(body.body, tool.Description); n != 1 || len(body.Tools) > 0 != (c.tools == "native") {
			t.Errorf("%+v: told %d times, %d in the field", c, n, len(body.Tools))
		}
		before, behind, told := strings.Cut(c.want, "…")
		inside, starts := strings.CutPrefix(body.Messages[0].Content, before)
		inside, ends := strings.CutSuffix(inside, behind)
		if !starts || !ends || told != strings.Contains(inside, tool.Description) || !told && inside != "" {
			t.Errorf("%+v: %s", c, body.Messages[0].Content)
		}
	}
}

// A reply is the same whole and streamed: cut at stops, cleaned, thinking apart.
//
// contract: Z-06
func TestCleaningIsTheSameInStreams(t *testing.T) {
	const text = "<think>\nHm.\n</think>\n\nI look.\n<tool_call>\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}\n</tool_call><｜end▁of▁sentence｜>"
	var want utp.Reply
	eachWay(t, func(t *testing.T, provider string, whole bool, chunk int) {
		s := inline(t, "-- turn --\n-- text --\n"+text+"\n")
		s.Chunk = chunk
		r := setUp(t, s, backend.Config{Provider: provider, Whole: whole, Formats: in("text")})
		got := mustReply(t, r.Client, question(search))
		if want.Parts == nil {
			want = got
		}
		if d := cmp.Diff(want.Parts, got.Parts); d != "" || got.Text() != "I look.\n" || got.Thinking() != "Hm." || len(got.Calls()) != 1 {
			t.Errorf("text %q, thinking %q: %s", got.Text(), got.Thinking(), d)
		}
		if stop := bodyOf(t, r, 0).Stop; len(stop) != 1 || stop[0] != "<tool_response>" {
			t.Errorf("stops %q", stop)
		}
	})
}

// Only Calls says where calls count. No other setting stops the reading, and
// nobody sees the text before it was read.
//
// contract: I-08
func TestNoOtherSettingStopsTheReading(t *testing.T) {
	for name, c := range map[string]backend.Config{
		"none": {}, "whole": {Whole: true}, "native": {Formats: in("native")}, "text": {Formats: in("text")},
		"results in text": {Formats: []format.Layer{{Results: "hermes"}}}, "native results": {Formats: []format.Layer{{Tools: "text", Results: "native"}}},
		"another grammar": {Formats: in("react")}, "a preference": {Parse: parse.Config{Prefer: []string{"react"}}},
		"no repairs": {Parse: parse.Config{Repair: parse.Off}}, "other limits": {NumCtx: 4096, Reserve: 10, Retries: -1},
	} {
		s := inline(t, "-- turn --\n-- text --\nLook: <tools>{\"name\": \"search_code\", \"arguments\": {\"query\": \"auth\"}}</tools>\n")
		s.Chunk = 1
		var text strings.Builder
		calls := 0
		for e, err := range setUp(t, s, c).Stream(context.Background(), question(search)) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Kind {
			case utp.EventText:
				text.WriteString(e.Text)
			case utp.EventCallEnd:
				calls++
			}
		}
		if calls != 1 || strings.TrimSpace(text.String()) != "Look:" {
			t.Errorf("%s: %d calls, text %q", name, calls, text.String())
		}
	}
}

// The form of a conversation goes before what is set; one that is not known any
// more leaves it so.
func TestTheFormOfAConversation(t *testing.T) {
	script, err := fake.Parse("form", []byte("-- turn --\nany\ntools\n-- text --\nnative\n-- turn --\nany\ncontains Action Input:\n-- text --\nreact\n"))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(fake.New(script))
	defer srv.Close()
	c, err := backend.New(backend.Config{Provider: "ollama", URL: srv.URL, Model: "m", Formats: []format.Layer{{From: "[tools]", Format: format.Learned}}})
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]string{"": "native", "react": "react", "gone": "native"} {
		var evs []utp.Event
		r := &utp.Request{Tools: []utp.Tool{{Name: "f"}}, Messages: []utp.Message{utp.NewText(utp.RoleUser, "hi")}}
		for e, err := range c.Ask(t.Context(), r, wire.Hooks{Form: form}) {
			if err != nil {
				t.Fatal(err)
			}
			evs = append(evs, e)
		}
		if got := utp.Collect(evs).Text(); got != want {
			t.Errorf("%q: %q, want %q", form, got, want)
		}
	}
}
