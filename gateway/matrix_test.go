package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
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
	return utp.Call{Name: name, Args: json.RawMessage(args), Source: utp.Native}
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
// calls natively, as text, or by its prompt.
//
// contract: Z-01 Z-13
func TestMatrix(t *testing.T) {
	for _, back := range apis {
		for _, f := range forms(t) {
			t.Run(back.name+" behind, "+f.name, func(t *testing.T) {
				m := &model{api: back}
				conf := backend.Config{Provider: back.name}
				if f.prompted {
					conf.Formats = []format.Layer{{Tools: "text", Text: f.grammar.Name}}
				}
				url := start(t, m, conf)
				for _, front := range apis {
					for _, s := range scenes {
						cell{front, f, s, false}.run(t, m, url)
						cell{front, f, s, true}.run(t, m, url)
					}
				}
			})
		}
	}
}

type cell struct {
	front api
	form
	scene
	stream bool
}

func (c cell) String() string {
	return fmt.Sprintf("%s, %s, stream %v", c.front.name, c.scene.name, c.stream)
}

func (c cell) run(t *testing.T, m *model, url string) {
	t.Helper()
	m.begin(func(turn int, _ *utp.Request) []utp.Event {
		if turn > len(c.calls) {
			return says("All done.")
		}
		return c.says(t, turn)
	})
	q := &utp.Request{Model: "m", Stream: c.stream, Tools: tools, Messages: []utp.Message{utp.NewText(utp.User, "What is the weather?")}}
	n := 300
	q.Params.MaxTokens = &n
	for turn := range c.calls {
		reply, err := c.front.ask(t, url, q)
		if err != nil {
			t.Errorf("%s, turn %d: %v", c, turn+1, err)
			return
		}
		if !c.called(t, turn, reply) {
			return
		}
		q.Messages = append(q.Messages, reply.Message, c.results(turn, reply))
	}
	reply, err := c.front.ask(t, url, q)
	if err != nil || reply.Text() != "All done." || len(reply.Calls()) > 0 || reply.Stop != utp.StopEnd {
		t.Errorf("%s: the last reply is %q, %v, %v", c, reply.Text(), reply.Stop, err)
	}
	c.history(t, m)
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
	m := utp.Message{Role: utp.ToolRole}
	for i, k := range reply.Calls() {
		r := utp.Result{CallID: k.ID, Name: k.Name, Status: utp.OK, Parts: []utp.Part{utp.Text{Text: fmt.Sprintf("result %d.%d", turn, i)}}}
		if c.fails {
			r.Status = utp.Failed
		}
		m.Parts = append(m.Parts, r)
	}
	return m
}

// history checks that the model saw the results of every call, each once.
func (c cell) history(t *testing.T, m *model) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.asked[len(m.asked)-1]
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
