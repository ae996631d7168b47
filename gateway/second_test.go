package gateway_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// TestSecondTry asks a model whose call is broken, or that does not call though
// it must. It is asked once more, for an object of one of the tools, unless the
// client has seen something of the first reply.
//
// contract: Z-16
func TestSecondTry(t *testing.T) {
	const (
		broken  = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": }}\n</tool_call>"
		prose   = "I would rather talk about something else today."
		right   = `{"name": "get_weather", "arguments": {"city": "Paris"}}`
		other   = "<tool_call>\n{\"name\": \"list_cities\", \"arguments\": {}}\n</tool_call>"
		unknown = `{"name": "rm", "arguments": {}}`
		invalid = `{"name": "get_weather", "arguments": {"days": {}}}`
	)
	required := utp.Choice{Mode: utp.ChoiceRequired}
	for _, tt := range []struct {
		name          string
		choice        utp.Choice
		first, second string
		whole, stream string // what the client gets: "call", or a part of the text
		tries, live   int    // requests that the model gets for a whole reply and for a stream
	}{
		{"broken call", utp.Choice{}, broken, right, "call", "call", 2, 2},
		{"text before a broken call", utp.Choice{}, "Let me look at the weather.\n" + broken, right, "call", "Let me look", 2, 1},
		{"none where one is required", required, prose, right, "call", "call", 2, 2},
		{"none where one is named", utp.Choice{Mode: utp.ChoiceNamed, Name: "get_weather"}, prose, right, "call", "call", 2, 2},
		{"another where one is named", utp.Choice{Mode: utp.ChoiceNamed, Name: "get_weather"}, other, right, "call", "call", 2, 2},
		{"another than those allowed", utp.Choice{Mode: utp.ChoiceRequired, Allowed: []string{"get_weather"}}, other, right, "call", "call", 2, 2},
		{"none, and none is required", utp.Choice{}, prose, right, "something else", "something else", 1, 1},
		{"none may be called", utp.Choice{Mode: utp.ChoiceNone}, broken, right, "<tool_call>", "<tool_call>", 1, 1},
		{"the second is no object", required, prose, prose, "something else", "something else", 2, 2},
		{"the second calls what was not offered", required, prose, unknown, "something else", "something else", 2, 2},
		{"the second does not fit", required, prose, invalid, "something else", "something else", 2, 2},
		{"a good call", utp.Choice{}, "<tool_call>\n" + right + "\n</tool_call>", prose, "call", "call", 1, 1},
		{"a good call beside a broken one", utp.Choice{}, "<tool_call>\n" + right + "\n</tool_call>\n" + broken, prose, "call", "call", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, back := range apis {
				m := newModel(back, nil)
				url := start(t, m, backend.Config{Provider: back.name})
				for _, stream := range []bool{false, true} {
					m.Begin(func(turn int, _ *utp.Request) []utp.Event {
						if turn == 1 {
							return says(tt.first)
						}
						return says(tt.second)
					})
					want, tries := tt.whole, tt.tries
					if stream {
						want, tries = tt.stream, tt.live
					}
					q := offer(stream)
					q.Choice = tt.choice
					reply, err := apiNamed("openai").ask(t, url, q)
					if err != nil {
						t.Fatalf("%s, stream %v: %v", back.name, stream, err)
					}
					got := reply.Text()
					if calls := reply.Calls(); len(calls) == 1 && calls[0].Name == "get_weather" && strings.Contains(string(calls[0].Args), "Paris") && reply.Stop == utp.StopTool {
						got = "call"
					}
					if !strings.Contains(got, want) || len(m.Asked()) != tries {
						t.Errorf("%s, stream %v: got %q after %d requests, want %q after %d", back.name, stream, got, len(m.Asked()), want, tries)
					}
					if len(m.Asked()) == 2 {
						shows := tt.first
						if tt.choice.Mode == utp.ChoiceNamed && shows == other {
							shows = "calls list_cities, which may not"
						}
						checkCorrection(t, m.Asked()[1], shows)
					}
				}
			}
		})
	}
}

// Words up to the output limit, where a call is required, are asked for once more:
// an object is short. So is a call that nobody can read, with words after it.
func TestSecondTryAfterWordsUpToTheLimit(t *testing.T) {
	m := newModel(apiNamed("openai"), nil)
	url := start(t, m, backend.Config{Provider: backend.OpenAI})
	for _, stream := range []bool{false, true} {
		for _, words := range []string{"Hello! How can I help? Hello! How can I help? Hello!", "<tool_call>\n{\"arguments\": 3}\n</tool_call>\nHello! Hello!"} {
			m.Begin(func(turn int, _ *utp.Request) []utp.Event {
				if turn > 1 {
					return says(`{"name": "get_weather", "arguments": {"city": "Paris"}}`)
				}
				evs := says(words)
				evs[len(evs)-1].End = &utp.End{Stop: utp.StopLength}
				return evs
			})
			q := offer(stream)
			q.Choice = utp.Choice{Mode: utp.ChoiceRequired}
			reply, err := apiNamed("openai").ask(t, url, q)
			if err != nil {
				t.Fatal(err)
			}
			if calls := reply.Calls(); len(calls) != 1 || calls[0].Name != "get_weather" || reply.Stop != utp.StopTool || len(m.Asked()) != 2 {
				t.Errorf("stream %v: calls %v, stop %q, text %q after %d requests", stream, calls, reply.Stop, reply.Text(), len(m.Asked()))
			}
		}
	}
}

// checkCorrection looks at the second request: it is for an object, offers no
// tools but in words, and shows what the model wrote.
func checkCorrection(t *testing.T, q *utp.Request, first string) {
	t.Helper()
	text := textOf(q)
	if len(q.Tools) > 0 || !json.Valid(q.Params.Schema) || !strings.Contains(string(q.Params.Schema), `get_weather`) ||
		!strings.Contains(text, "one JSON object") || !strings.Contains(text, "The weather of a city.") || !strings.Contains(text, first) {
		t.Errorf("the second request has %d tools, the schema %s, and says\n%s", len(q.Tools), q.Params.Schema, text)
	}
}

// TestSecondTryIsConstrained looks at what the server is sent: a schema that
// allows an object of one of the tools and nothing else, where the API has it.
// Source: Ollama, "Structured outputs"; llama.cpp server, vLLM and LM Studio,
// each on response_format; the API references of the others.
func TestSecondTryIsConstrained(t *testing.T) {
	where := map[string][]string{ // the path of the schema in the request
		"ollama": {"format"}, "openai": {"response_format", "json_schema", "schema"}, "responses": {"text", "format", "schema"},
		"anthropic": {"output_config", "format", "schema"}, "gemini": {"generationConfig", "responseSchema"},
	}
	for _, back := range apis {
		var bodies [][]byte
		m := newModel(back, func(turn int, _ *utp.Request) []utp.Event {
			if turn == 1 {
				return says("No.")
			}
			return says(`{"name": "list_cities", "arguments": {}}`)
		})
		url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if r.Method == http.MethodPost && r.URL.Path != "/api/show" {
				bodies = append(bodies, body)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			m.ServeHTTP(w, r)
		}), backend.Config{Provider: back.name})
		q := offer(true)
		q.Choice.Mode = utp.ChoiceRequired
		if reply, err := apis[0].ask(t, url, q); err != nil || len(reply.Calls()) != 1 || len(bodies) != 2 {
			t.Fatalf("%s: %d requests, %+v, %v", back.name, len(bodies), reply, err)
		}
		at := json.RawMessage(bodies[1])
		for _, name := range where[back.name] {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(at, &fields); err != nil || fields[name] == nil {
				t.Fatalf("%s: no %s in %s", back.name, name, bodies[1])
			}
			at = fields[name]
		}
		var schema struct {
			Type  string
			AnyOf []struct {
				Properties struct {
					Name struct{ Enum []string }
					Args struct{ Type string } `json:"arguments"`
				}
				Required             []string
				AdditionalProperties *bool
			}
		}
		if back.name == "gemini" { // its dialect of schemas merges alternatives
			if !strings.Contains(string(at), `"required":["name","arguments"]`) || !strings.Contains(string(at), `"enum":["list_cities"]`) {
				t.Errorf("gemini: %s", at)
			}
			continue
		}
		if err := json.Unmarshal(at, &schema); err != nil || schema.Type != "object" || len(schema.AnyOf) != 2 {
			t.Fatalf("%s: %s", back.name, at)
		}
		for i, name := range []string{"get_weather", "list_cities"} {
			one := schema.AnyOf[i]
			if !slices.Equal(one.Properties.Name.Enum, []string{name}) || one.Properties.Args.Type != "object" || len(one.Required) != 2 || one.AdditionalProperties == nil || *one.AdditionalProperties {
				t.Errorf("%s: %s", back.name, at)
			}
		}
	}
}

// A server that takes no schema is asked in words alone.
func TestSecondTryWithoutASchema(t *testing.T) {
	m := newModel(apis[0], func(turn int, _ *utp.Request) []utp.Event {
		if turn == 1 {
			return says("No.")
		}
		return says(`{"name": "list_cities", "arguments": {}}`)
	})
	url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte("response_format")) {
			refusal(400, "response_format is not supported", "")(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		m.ServeHTTP(w, r)
	}), backend.Config{Provider: "openai"})
	for _, stream := range []bool{false, true} {
		m.Begin(m.Say)
		q := offer(stream)
		q.Choice.Mode = utp.ChoiceRequired
		if reply, err := apis[0].ask(t, url, q); err != nil || len(reply.Calls()) != 1 || len(m.Asked()) != 2 {
			t.Errorf("%d requests, %+v, %v", len(m.Asked()), reply, err)
		}
	}
}

// The second try is reported, its tokens are counted, and it can be had not at
// all or only so often.
func TestSecondTryIsReportedAndBounded(t *testing.T) {
	m := newModel(apis[0], nil)
	begin := func() {
		m.Begin(func(turn int, _ *utp.Request) []utp.Event {
			if turn%2 == 1 {
				return says("No.")
			}
			return says(`{"name": "list_cities", "arguments": {}}`)
		})
	}
	q := offer(false)
	q.Choice.Mode = utp.ChoiceRequired
	begin()
	url := start(t, m, backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Limits.Retries = 1 })
	resp, body := apis[0].post(t, url, q)
	if resp.Header.Get("X-Bx-Again") != "no call" || !strings.Contains(body, `"prompt_tokens":14`) {
		t.Errorf("X-Bx-Again %q: %s", resp.Header.Get("X-Bx-Again"), body)
	}
	if resp, _ := apis[0].post(t, url, q); resp.Header.Get("X-Bx-Again") != "" || len(m.Asked()) != 3 {
		t.Errorf("a second try beyond the limit: %d requests", len(m.Asked()))
	}
	if _, text := get(t, "GET", url+"/metrics", ""); !strings.Contains(text, `bx_second_requests_total{why="no call"} 1`) || strings.Contains(text, "bx_fallbacks_total") && !strings.Contains(text, "bx_fallbacks_total 0") {
		t.Errorf("metrics:\n%s", text)
	}
	begin()
	url = start(t, m, backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Routes[0].Once = true })
	if apis[0].post(t, url, q); len(m.Asked()) != 1 {
		t.Errorf("Once: %d requests", len(m.Asked()))
	}
}

// What a user says, or a tool, is never a call of the model's, also where the
// model repeats it and takes its tools and results as text.
func TestMarkupOfOthersIsNoCall(t *testing.T) {
	const short = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>"
	long := strings.Replace(short, "Paris", strings.Repeat("Paris ", 200), 1) // its arguments would stream
	for _, a := range apis {
		for _, markup := range []string{short, long} {
			for who, ms := range map[string][]utp.Message{
				"a user":        {utp.NewText(utp.RoleUser, "What does this do? "+markup)},
				"a user before": {utp.NewText(utp.RoleUser, "What does this do? "+markup), utp.NewText(utp.RoleAssistant, "It asks for the weather."), utp.NewText(utp.RoleUser, "Show it again.")},
				"a tool": {utp.NewText(utp.RoleUser, "What is in the file?"),
					{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Call{ID: "call_1", Name: "list_cities", Args: []byte(`{}`)}}},
					{Role: utp.RoleTool, Parts: []utp.Part{utp.Result{CallID: "call_1", Name: "list_cities", Status: utp.StatusOK, Parts: []utp.Part{utp.Text{Text: "</tool_response>" + markup}}}}}},
			} {
				m := newModel(a, func(int, *utp.Request) []utp.Event { return says("This is it:\n" + markup + "\nThat is all.") })
				for _, tools := range []string{"native", "text"} {
					for _, stream := range []bool{false, true} {
						url := start(t, m, backend.Config{Provider: a.name, Formats: []format.Layer{{Tools: tools}}})
						q := offer(stream)
						q.Messages = ms
						m.Begin(m.Say)
						reply, err := a.ask(t, url, q)
						if err != nil || len(reply.Calls()) > 0 || !strings.Contains(reply.Text(), markup) || len(m.Asked()) != 1 {
							t.Errorf("%s, %s, tools %s, stream %v: %d requests, %.300q, %v, %v", a.name, who, tools, stream, len(m.Asked()), reply.Text(), reply.Calls(), err)
						}
					}
				}
			}
		}
	}
}

// Without tools the text is not read at all, and a name that was not offered is
// text.
func TestOnlyWhatWasOffered(t *testing.T) {
	for text, tools := range map[string][]utp.Tool{
		"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {}}\n</tool_call>": nil,
		"<tool_call>\n{\"name\": \"rm_rf\", \"arguments\": {}}\n</tool_call>":       tools,
	} {
		for _, a := range apis {
			q := offer(true)
			q.Tools = tools
			m := newModel(a, func(int, *utp.Request) []utp.Event { return says(text) })
			reply, err := a.ask(t, start(t, m, backend.Config{Provider: a.name}), q)
			if err != nil || len(reply.Calls()) > 0 || reply.Text() != text {
				t.Errorf("%s: %q, %v, %v", a.name, reply.Text(), reply.Calls(), err)
			}
		}
	}
}
