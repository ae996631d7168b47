package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// drawRequest draws any request, with calls that lack results, results that lack
// calls, ids used twice, speakers that do not take turns and texts that say nothing.
func drawRequest(t *rapid.T) *utp.Request {
	r := &utp.Request{Model: rapid.SampledFrom([]string{"m", "claude-sonnet-4-5", "claude-opus-4-6", "claude-3-5-haiku-latest", "gemini-3-pro", "gemini-3-flash", "gemini-2.5-pro", "gpt-5", "gpt-5.2"}).Draw(t, "model"), Stream: rapid.Bool().Draw(t, "stream")}
	for i, name := range []string{"f", "a.b", "7zip"}[:rapid.IntRange(0, 3).Draw(t, "tools")] {
		r.Tools = append(r.Tools, utp.Tool{Name: name, Description: fmt.Sprint("Tool ", i), Schema: []byte(`{"type":"object","properties":{"x":{"type":"string"}}}`)})
	}
	if rapid.Bool().Draw(t, "hosted") {
		r.Tools = append(r.Tools, utp.Tool{Name: "web_search", Description: "The web.", Kind: utp.HostedTool, Extra: []byte(`{"anthropic":{"type":"web_search_20250305","name":"web_search"}}`)})
	}
	if len(r.Tools) > 0 {
		r.Choice = drawChoice(t, r.Tools)
	}
	r.Params = drawParams(t)
	roles := []utp.Role{utp.RoleSystem, utp.RoleUser, utp.RoleAssistant, utp.RoleAssistant, utp.RoleTool, utp.RoleTool}
	for range rapid.IntRange(0, 7).Draw(t, "messages") {
		m := utp.Message{Role: rapid.SampledFrom(roles).Draw(t, "role")}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			m.Parts = append(m.Parts, drawMessagePart(t, m.Role))
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}

func drawChoice(t *rapid.T, tools []utp.Tool) (c utp.Choice) {
	c.Mode = rapid.SampledFrom([]utp.ChoiceMode{utp.ChoiceAuto, utp.ChoiceRequired, utp.ChoiceNone, utp.ChoiceNamed}).Draw(t, "choice")
	some := rapid.SliceOfNDistinct(rapid.IntRange(0, len(tools)-1), 1, -1, rapid.ID).Draw(t, "some")
	switch {
	case c.Mode == utp.ChoiceNamed, c.Mode == utp.ChoiceRequired && len(some) == 1: // one of one is that one
		c.Mode, c.Name = utp.ChoiceNamed, tools[some[0]].Name
	case c.Mode != utp.ChoiceNone && rapid.Bool().Draw(t, "allowed"):
		for _, i := range some {
			c.Allowed = append(c.Allowed, tools[i].Name)
		}
	}
	if rapid.Bool().Draw(t, "one") {
		c.Parallel = new(bool)
	}
	return c
}

func drawParams(t *rapid.T) (p utp.Params) {
	given := func(name string) bool { return rapid.IntRange(0, 3).Draw(t, name) == 0 }
	if given("temperature") {
		v := rapid.SampledFrom([]float64{0, 0.5, 1, 1.5}).Draw(t, "value")
		p.Temperature = &v
	}
	if given("top_p") {
		v := rapid.SampledFrom([]float64{0.5, 0.99}).Draw(t, "value")
		p.TopP = &v
	}
	if given("max_tokens") {
		v := rapid.SampledFrom([]int{100, 5000}).Draw(t, "value")
		p.MaxTokens = &v
	}
	if given("stop") {
		p.Stop = []string{"END", "a", "b", "c", "d", "e"}[:rapid.IntRange(1, 6).Draw(t, "value")]
	}
	if given("effort") {
		p.Effort = rapid.SampledFrom([]string{"minimal", "low", "high", "max"}).Draw(t, "value")
	}
	if given("schema") {
		p.Schema = []byte(rapid.SampledFrom([]string{`{}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`}).Draw(t, "value"))
	}
	return p
}

// blobs are files of kinds that some take and others do not.
var blobs = []utp.Blob{
	{MIME: "image/png", Data: []byte("\x89PNG\r\n")}, {MIME: "text/plain", Data: []byte("a\nb\n"), Name: "n.txt"},
	{MIME: "application/json", Data: []byte(`{"a":1}`)}, {MIME: "application/pdf", Data: []byte("%PDF-"), Name: "r.pdf"}, {MIME: "image/png", URL: "https://x.test/a.png"},
}

func drawMessagePart(t *rapid.T, role utp.Role) utp.Part {
	text := utp.Text{Text: rapid.SampledFrom([]string{"", " ", "a\n", "ü \"q\" <b>", "ERROR: x"}).Draw(t, "text")}
	id := rapid.SampledFrom([]string{"", "call_1", "call_2", "functions.f:0"}).Draw(t, "id")
	switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case role == utp.RoleTool:
		status := rapid.SampledFrom([]utp.Status{utp.StatusOK, utp.StatusFailed, utp.StatusDenied}).Draw(t, "status")
		out := utp.Result{CallID: id, Name: "f", Status: status, Parts: []utp.Part{text}}
		if kind == 0 {
			out.Parts = append(out.Parts, rapid.SampledFrom(blobs).Draw(t, "file"))
		}
		return out
	case kind == 0 && role == utp.RoleUser:
		return rapid.SampledFrom(blobs).Draw(t, "file")
	case kind == 1 && role == utp.RoleAssistant:
		return utp.Call{ID: id, Name: rapid.SampledFrom([]string{"f", "a.b", "gone"}).Draw(t, "name"), Args: []byte(`{"x":"y"}`)}
	case kind == 2 && role == utp.RoleAssistant:
		return utp.Think{Text: "hm", Signature: "c2ln", Provider: rapid.SampledFrom([]string{"anthropic", "gemini", "responses"}).Draw(t, "provider")}
	}
	return text
}

// Whatever is asked, what is written is read as the same calls and results, and
// from the second time on written as the same bytes.
//
// contract: F-11
func TestAnyRequestBecomesStable(t *testing.T) {
	for _, p := range servers {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) {
			r := drawRequest(t)
			passes := [3]string{}
			asked := r
			for i := range passes {
				x, err := p.back.Open(asked)
				if err != nil {
					t.Fatal(err)
				}
				passes[i] = string(x.Body)
				asked = posted(t, p, r.Model, r.Stream, x.Body)
			}
			if passes[1] != passes[2] {
				t.Fatalf("first  %s\nsecond %s\nthird  %s", passes[0], passes[1], passes[2])
			}
			if wrong := unanswered(r, asked); wrong != "" {
				t.Fatalf("%s\n%s", wrong, passes[0])
			}
		}))
	}
}

func posted(t *rapid.T, p api, model string, stream bool, body []byte) *utp.Request {
	path := "/v1beta/models/" + model + ":generateContent"
	if stream {
		path = "/v1beta/models/" + model + ":streamGenerateContent"
	}
	r, _, err := p.front.Read(wire.HTTPRequest{Method: "POST", Path: path, Query: map[string][]string{"alt": {"sse"}}, Body: body})
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return r
}

// unanswered says what is wrong with the calls in got: there are as many as were
// asked with, and behind each message with calls stands a result for each.
func unanswered(asked, got *utp.Request) string {
	want := 0
	for _, m := range asked.Messages {
		want += len(m.Calls())
	}
	for i, m := range got.Messages {
		calls := m.Calls()
		var results []utp.Result
		for _, next := range got.Messages[i+1:] {
			if next.Role != utp.RoleTool {
				break
			}
			results = append(results, next.Results()...)
		}
		if want -= len(calls); len(calls) > 0 && len(results) != len(calls) {
			return fmt.Sprintf("message %d: %d calls, %d results", i, len(calls), len(results))
		}
		for k, c := range calls {
			if results[k].CallID != c.ID || results[k].Name != c.Name {
				return fmt.Sprintf("message %d: call %+v, result %+v", i, c, results[k])
			}
		}
	}
	if want != 0 {
		return fmt.Sprintf("%d calls are missing", want)
	}
	return ""
}

// Of any request the report of losses is exact.
func TestTheLossesOfAnyRequest(t *testing.T) {
	for _, p := range servers {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) {
			r := drawRequest(t)
			identify(r)
			x, err := p.back.Open(r)
			if err != nil {
				t.Fatal(err)
			}
			got := posted(t, p, r.Model, r.Stream, x.Body)
			for _, wrong := range unexplained(differences(r, got), x.Losses) {
				if len(got.Tools) > 0 || !strings.Contains(wrong, "choice.") { // among no tools there is none
					t.Errorf("%s\n%s", wrong, x.Body)
				}
			}
		}))
	}
}

// identify gives ids to calls and results without, for that a result finds its call
// by the name of the tool is no loss, but a difference; and it takes messages out
// that say nothing to anybody.
func identify(r *utp.Request) {
	r.Messages = slices.DeleteFunc(r.Messages, func(m utp.Message) bool {
		return len(m.Parts) == 0 || m.Role == utp.RoleSystem && squeeze(m.Text()) == ""
	})
	for i, m := range r.Messages {
		for k, p := range m.Parts {
			switch p := p.(type) {
			case utp.Call:
				if p.ID == "" {
					p.ID = fmt.Sprint("call_", i, "_", k)
					m.Parts[k] = p
				}
			case utp.Result:
				if p.CallID == "" {
					p.CallID = "call_gone"
					m.Parts[k] = p
				}
			}
		}
	}
}
