package gateway_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// tools are offered in every cell of the matrix.
var tools = []utp.Tool{
	{Name: "get_weather", Description: "The weather of a city.", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)},
	{Name: "list_cities", Description: "All cities.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
}

// dialects are those in which the models of the matrix write calls as text.
var dialects = []string{"hermes", "qwen3-coder", "mistral", "mistral-args", "llama3", "llama4", "deepseek-v3", "kimi-k2", "glm", "granite", "minimax-m2", "harmony"}

// scene is what the model calls, turn by turn, and whether tools fail.
type scene struct {
	name  string
	calls [][]utp.Call
	fails bool
}

func call(name, args string) utp.Call {
	return utp.Call{Name: name, Args: json.RawMessage(args), Source: utp.SourceNative}
}

var scenes = []scene{
	{"one call", [][]utp.Call{{call("get_weather", `{"city":"Paris","days":3}`)}}, false},
	{"two at once", [][]utp.Call{{call("get_weather", `{"city":"Paris"}`), call("get_weather", `{"city":"Rome"}`)}}, false},
	{"no arguments", [][]utp.Call{{call("list_cities", `{}`)}}, false},
	{"error", [][]utp.Call{{call("get_weather", `{"city":"Atlantis"}`)}}, true},
	{"three turns", [][]utp.Call{{call("list_cities", `{}`)}, {call("get_weather", `{"city":"a \"b\" <c>"}`)}}, false},
}

// form is how calls travel between the gateway and the model.
type form struct {
	name     string
	prompted bool
	grammar  *grammar.Grammar // nil: native
}

func forms(t *testing.T) []form {
	out := []form{{name: "native"}}
	for _, name := range dialects {
		g, ok := grammar.ByName(name)
		if !ok {
			t.Fatalf("no grammar %s", name)
		}
		out = append(out, form{name: "text " + g.Name, grammar: g})
	}
	hermes, _ := grammar.ByName("hermes")
	return append(out, form{name: "prompted", grammar: hermes, prompted: true})
}

// TestMatrix talks as a client of every API to a model behind every API that
// calls natively, as text, or by its prompt. What the client gets is in
// testdata/matrix: one text for calls that are native and one for those in text,
// whatever the model, its dialect and its server.
//
// contract: Z-01 Z-13
func TestMatrix(t *testing.T) {
	want := map[string]*golden.Case{}
	for _, front := range apis {
		c, err := golden.Read("testdata/matrix/" + front.name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		want[front.name] = c
	}
	cells := 0
	for _, back := range apis {
		for _, f := range forms(t) {
			t.Run(back.name+" behind, "+f.name, func(t *testing.T) {
				m := newModel(back, nil)
				conf := backend.Config{Provider: back.name}
				if f.prompted {
					conf.Formats = []format.Layer{{Tools: "text", Text: f.grammar.Name}}
				}
				url := start(t, m, conf, func(c *gateway.Config) { c.Now = func() time.Time { return time.Unix(1e9, 0).UTC() } })
				for _, front := range apis {
					for _, s := range scenes {
						for _, stream := range []bool{false, true} {
							c := cell{back.name, front, f, s, stream}
							want[front.name].Want(t, c.section(), joined(c.run(t, m, url)))
							cells++
						}
					}
				}
			})
		}
	}
	t.Logf("%d cells", cells)
	if most := len(apis) * len(apis) * (len(dialects) + 2) * len(scenes) * 2; cells != most || most != 3500 {
		t.Errorf("%d cells of %d, want 3500", cells, most)
	}
}

// joined is a stream of Ollama's whose calls are in one line. Whether they were
// depends on how the model's frames came in.
func joined(text string) string { return betweenCalls.ReplaceAllString(text, ",") }

var betweenCalls = regexp.MustCompile(`\]\},"done":false\}\n\{"model":"m","created_at":"[^"]*","message":\{"role":"assistant","content":"","tool_calls":\[`)

type cell struct {
	back  string
	front api
	form
	scene
	stream bool
}

func (c cell) String() string {
	return fmt.Sprintf("%s, %s, stream %v", c.front.name, c.scene.name, c.stream)
}

// section is where in the client's golden the cell's text stands.
func (c cell) section() string {
	name := c.scene.name + ", whole"
	if c.stream {
		name = c.scene.name + ", streamed"
	}
	switch {
	case c.grammar != nil:
		return name + ", text"
	case c.back == "responses": // it has ids of its own beside those of calls
		return name + ", native by Responses"
	}
	return name + ", native"
}

// run has the conversation and gives all that came back.
func (c cell) run(t *testing.T, m *fake.API, url string) (got string) {
	t.Helper()
	m.Begin(func(turn int, _ *utp.Request) []utp.Event {
		if turn > len(c.calls) {
			return says("All done.")
		}
		return c.says(t, turn)
	})
	q := &utp.Request{Model: "m", Stream: c.stream, Tools: tools, Messages: []utp.Message{utp.NewText(utp.RoleUser, "What is the weather?")}}
	n := 300
	q.Params.MaxTokens = &n
	for turn := 0; ; turn++ {
		resp, body := c.front.post(t, url, q)
		got += resp.Status + "\n" + body + "\n"
		reply, err := c.front.read(t, q, resp, body)
		if err != nil {
			t.Errorf("%s, turn %d: %v", c, turn+1, err)
			break
		}
		if turn == len(c.calls) {
			if reply.Text() != "All done." || len(reply.Calls()) > 0 || reply.Stop != utp.StopEnd {
				t.Errorf("%s: the last reply is %q, %v, %v", c, reply.Text(), reply.Stop, err)
			}
			break
		}
		if !c.called(t, turn, reply) {
			break
		}
		q.Messages = append(q.Messages, reply.Message, c.results(turn, reply))
	}
	c.history(t, m)
	return c.settled(got)
}

var (
	callID = regexp.MustCompile(`"(call_|utp_)[^"]*"`)
	pieces = regexp.MustCompile(`"(?:content|arguments|partial_json|delta|text)":"((?:[^"\\]|\\.)*)"`)
	number = regexp.MustCompile(`"sequence_number":\d+`)
)

// settled is what came back without what may differ from model to model: the
// ids of calls, and where texts and arguments were cut.
func (c cell) settled(text string) string {
	ids := map[string]string{}
	text = callID.ReplaceAllStringFunc(text, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf(`"call_%d"`, len(ids)+1)
		}
		return ids[id]
	})
	end := map[wire.Framing]string{wire.SSE: "\n\n", wire.NDJSON: "\n"}[c.front.framing]
	var out []string
	before, joined := "", ""
	for _, frame := range strings.Split(number.ReplaceAllString(text, `"sequence_number":0`), end) {
		at := pieces.FindStringSubmatchIndex(frame)
		if at == nil {
			before, out = "", append(out, frame)
			continue
		}
		bare := frame[:at[2]] + "\x00" + frame[at[3]:]
		if bare != before {
			before, joined, out = bare, "", append(out, "")
		}
		joined += frame[at[2]:at[3]]
		out[len(out)-1] = strings.Replace(bare, "\x00", joined, 1)
	}
	return strings.Join(out, end)
}

// says is a turn of the model in its form.
func (c cell) says(t *testing.T, turn int) []utp.Event {
	calls := append([]utp.Call(nil), c.calls[turn-1]...)
	if c.grammar == nil {
		for i := range calls {
			calls[i].ID = fmt.Sprintf("call_%d_%d", turn, i)
		}
		return says("Let me see.", calls...)
	}
	text, err := prompt.Calls(c.grammar, calls)
	if err != nil {
		t.Fatalf("%s: %v", c.grammar.Name, err)
	}
	return says(text)
}

// called checks that the client got the calls, and no markup.
func (c cell) called(t *testing.T, turn int, reply utp.Reply) bool {
	t.Helper()
	got, want := reply.Calls(), c.calls[turn]
	bad := len(got) != len(want) || reply.Stop != utp.StopTool
	if c.front.name == "ollama" || c.front.name == "gemini" { // they have no word for it
		bad = len(got) != len(want)
	}
	for i := range min(len(got), len(want)) {
		bad = bad || got[i].Name != want[i].Name || string(got[i].Args) != string(want[i].Args)
	}
	if text := strings.TrimSpace(reply.Text()); text != "" && text != "Let me see." {
		bad = true
	}
	if bad {
		t.Errorf("%s, turn %d: got %+v, text %q, stop %q; want %+v", c, turn+1, got, reply.Text(), reply.Stop, want)
	}
	return !bad
}

func (c cell) results(turn int, reply utp.Reply) utp.Message {
	m := utp.Message{Role: utp.RoleTool}
	for i, k := range reply.Calls() {
		r := utp.Result{CallID: k.ID, Name: k.Name, Status: utp.StatusOK, Parts: []utp.Part{utp.Text{Text: fmt.Sprintf("result %d.%d", turn, i)}}}
		if c.fails {
			r.Status = utp.StatusFailed
		}
		m.Parts = append(m.Parts, r)
	}
	return m
}

// history checks that the model saw the results of every call, each once.
func (c cell) history(t *testing.T, m *fake.API) {
	t.Helper()
	asked := m.Asked()
	last := asked[len(asked)-1]
	text := textOf(last)
	for turn, calls := range c.calls {
		for i := range calls {
			if want := fmt.Sprintf("result %d.%d", turn, i); strings.Count(text, want) != 1 {
				t.Errorf("%s: the model did not see %q once: %s", c, want, text)
			}
		}
	}
	if offered := len(last.Tools) > 0; offered == c.prompted {
		t.Errorf("%s: tools were offered natively: %v", c, offered)
	}
	ids := map[string]bool{}
	for _, msg := range last.Messages {
		for _, k := range msg.Calls() {
			ids[k.ID] = true
		}
		for _, r := range msg.Results() {
			if !ids[r.CallID] {
				t.Errorf("%s: the result of %q belongs to no call before it", c, r.CallID)
			}
		}
	}
}
