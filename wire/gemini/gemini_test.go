package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
)

func ptr[T any](v T) *T { return &v }

func open(t *testing.T, r *utp.Request) (body string, x *wire.Exchange) {
	t.Helper()
	x, err := gemini.Back{}.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(x.Body), x
}

func read(t *testing.T, path, body string) *utp.Request {
	t.Helper()
	r, losses, err := gemini.Front{}.Read(wire.HTTPRequest{Path: path, Query: map[string][]string{"alt": {"sse"}}, Body: []byte(body)})
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	return r
}

// sameJSON compares by value.
func sameJSON(t *testing.T, want, got string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const stream = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"

// As gemini-cli and the SDKs write them, with fields of tomorrow.
const client = `{"systemInstruction":{"role":"user","parts":[{"text":"You are."}]},
 "contents":[
  {"role":"user","parts":[{"text":"Hi"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v"},"videoMetadata":{"fps":1}}]},
  {"role":"model","parts":[{"text":"Hm.","thought":true,"thoughtSignature":"dGhpbms="},{"text":"So."},
   {"functionCall":{"id":"c1","name":"ls","args":{"n":9007199254740993}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"c2","name":"ls","args":{}}},{"executableCode":{"language":"PYTHON","code":"1"}}]},
  {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"files":["a"]}}},{"functionResponse":{"id":"c2","name":"ls","response":{"error":"no"}}},{"text":"Go on."}]}],
 "tools":[{"functionDeclarations":[
   {"name":"ls","description":"Lists.","parameters":{"type":"OBJECT","properties":{"n":{"type":"INTEGER","format":"int64","nullable":true},"level":{"type":"INTEGER","enum":["1","2"]}},"required":["n"],"propertyOrdering":["n","level"]}},
   {"name":"json","parametersJsonSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}},"behavior":"BLOCKING"},
   {"name":"none"}]},{"googleSearch":{}},{"urlContext":{}}],
 "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["ls","json"]},"retrievalConfig":{"languageCode":"en"}},
 "safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],"cachedContent":"cachedContents/1",
 "generationConfig":{"temperature":0.5,"topP":0.9,"topK":64,"seed":7,"maxOutputTokens":900,"stopSequences":["x"],"candidateCount":1,
  "responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}},"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}`

// contract: F-07
func TestWhatAGeminiClientSaysComesThrough(t *testing.T) {
	r := read(t, stream, client)
	body, x := open(t, r)
	sameJSON(t, strings.Replace(client, `{"role":"user","parts":[{"text":"You are."}]}`, `{"parts":[{"text":"You are."}]}`, 1), body)
	if x.Path != stream+"?alt=sse" {
		t.Error(x.Path)
	}
	for _, l := range x.Losses {
		if l.Path != "params.schema" {
			t.Error(l)
		}
	}
	if r.Model != "gemini-2.5-pro" || !r.Stream || r.Params.Effort != "medium" || r.Choice.Mode != utp.ChoiceRequired || r.Tools[3].Kind != utp.HostedTool {
		t.Errorf("%+v", r)
	}
	sameJSON(t, `{"type":"object","properties":{"n":{"type":["integer","null"],"format":"int64"},"level":{"type":"integer","enum":[1,2]}},"required":["n"]}`, string(r.Tools[0].Schema))
	results := append(r.Messages[3].Results(), r.Messages[3].Results()...)
	if results[0].Text() != `{"files":["a"]}` || results[1].Status != utp.StatusFailed || results[1].Text() != "no" {
		t.Errorf("%+v", results)
	}
}

// Protocol buffers take each name in two spellings; old clients leave out ids and roles.
func TestOtherSpellings(t *testing.T) {
	r := read(t, "/v1beta/models/m:generateContent", `{"system_instruction":"Be brief.","contents":[{"parts":[{"text":"Hi"}]},
	 {"role":"model","parts":[{"function_call":{"name":"f","args":{"a":1}}},{"function_call":{"name":"f"}}]},
	 {"role":"function","parts":[{"function_response":{"name":"f","response":{"output":"one"}}},{"function_response":{"name":"f","response":{"result":"two"}}}]}],
	 "tools":[{"function_declarations":[{"name":"f"}]}],"generation_config":{"max_output_tokens":5,"thinking_config":{"thinking_level":"low"}}}`)
	if r.Stream || *r.Params.MaxTokens != 5 || r.Params.Effort != "low" || r.Messages[0].Text() != "Be brief." || len(r.Tools) != 1 {
		t.Errorf("%+v", r)
	}
	var losses []string
	ordered := history.Order(r.Messages, nil, func(path, what, _ string) { losses = append(losses, path+" "+what) })
	if len(losses) > 0 || ordered[3].Results()[0].Text() != "one" || ordered[4].Results()[0].Text() != "two" || ordered[3].Results()[0].CallID == "" {
		t.Errorf("%+v %v", ordered, losses)
	}
}

// A client that read a stream sends the text back in its pieces, with the empty
// one of the last chunk, and signatures with an empty text or, the Go SDK, none.
// The AI SDK wraps results in an object of its own.
func TestWhatClientsSendBack(t *testing.T) {
	r := read(t, "/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"a"},{"text":"b"}]},
	 {"role":"model","parts":[{"text":"Let me "},{"text":"look."},{"functionCall":{"id":"c","name":"f","args":{}}},{"text":""}]},
	 {"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"name":"f","content":"one"}}},
	  {"functionResponse":{"id":"d","name":"f","response":{"name":"g","content":"two"}}}]}]}`)
	if got := r.Messages[1].Parts; len(r.Messages[0].Parts) != 2 || len(got) != 2 || r.Messages[1].Text() != "Let me look." {
		t.Errorf("%+v", r.Messages)
	}
	if pieces := read(t, "/v1beta/models/m:generateContent", `{"contents":[{"role":"model","parts":[{"text":"Let me "}]},{"role":"model","parts":[{"text":"look."}]},
	 {"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"model","parts":[{"text":""}]},{"role":"user","parts":[{"text":"Go."}]}]}`); len(pieces.Messages) != 2 || pieces.Messages[0].Text() != "Let me look." || len(pieces.Messages[0].Parts) != 2 {
		t.Errorf("%+v", pieces.Messages)
	}
	signed := read(t, "/v1beta/models/m:generateContent", `{"contents":[{"role":"model","parts":[{"text":"Hm","thought":true},{"thought":true,"thoughtSignature":"c2ln"},{"text":"Yes."},{"thoughtSignature":"c2lnMg=="}]}]}`)
	want := []utp.Part{utp.Think{Text: "Hm", Signature: "c2ln", Provider: "gemini"}, utp.Text{Text: "Yes."}, utp.Text{Extra: []byte(`{"gemini":{"thoughtSignature":"c2lnMg=="}}`)}}
	if diff := cmp.Diff(want, signed.Messages[0].Parts); diff != "" {
		t.Error(diff)
	}
	if got := r.Messages[2].Results(); len(got) != 2 || got[0].Text() != "one" || got[1].Text() != `{"name":"g","content":"two"}` {
		t.Errorf("%+v", got)
	}
}

func TestChoice(t *testing.T) {
	r := utp.Request{Tools: []utp.Tool{{Name: "f"}, {Name: "7.b"}}}
	for _, c := range []struct {
		choice utp.Choice
		want   string
	}{
		{utp.Choice{}, ""},
		{utp.Choice{Mode: utp.ChoiceNone}, `{"mode":"NONE"}`},
		{utp.Choice{Mode: utp.ChoiceRequired}, `{"mode":"ANY"}`},
		{utp.Choice{Mode: utp.ChoiceNamed, Name: "7.b"}, `{"mode":"ANY","allowedFunctionNames":["_7_b"]}`},
		{utp.Choice{Mode: utp.ChoiceRequired, Allowed: []string{"f", "7.b"}}, `{"mode":"ANY","allowedFunctionNames":["f","_7_b"]}`},
		{utp.Choice{Allowed: []string{"f"}}, `{"mode":"VALIDATED","allowedFunctionNames":["f"]}`},
	} {
		r.Choice = c.choice
		got, _ := open(t, &r)
		if has := strings.Contains(got, "toolConfig"); !strings.Contains(got, c.want) || has != (c.want != "") {
			t.Errorf("%+v: %s", c, got)
		}
	}
	r.Tools = nil
	if got, _ := open(t, &r); strings.Contains(got, "toolConfig") {
		t.Errorf("a choice without tools: %s", got)
	}
}

// Of two calls where one was asked for, the second is reported and not made.
func TestOneCallAtATime(t *testing.T) {
	_, x := open(t, &utp.Request{Tools: []utp.Tool{{Name: "f"}}, Choice: utp.Choice{Parallel: ptr(false)}})
	reply, err := x.Read([]byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`), nil)
	if err != nil || len(reply.Calls()) != 1 || len(reply.Problems) != 1 || len(x.Losses) != 1 {
		t.Errorf("%+v %v %v", reply, err, x.Losses)
	}
	if body, _, err := (gemini.Front{}).Whole(&utp.Request{}, reply, wire.Stamp{}); err != nil {
		t.Errorf("%s %v", body, err)
	}
}

func TestThinkingAsTheModelTakesIt(t *testing.T) {
	for _, c := range []struct{ model, effort, want string }{
		{"gemini-2.5-flash", "high", `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.5-flash", "none", `"thinkingConfig":{"includeThoughts":false,"thinkingBudget":0}`},
		{"gemini-2.5-pro", "none", `"thinkingBudget":128`},
		{"gemini-2.5-flash", "max", `"thinkingBudget":24576`},
		{"gemini-3-pro-preview", "medium", `"thinkingLevel":"HIGH"`},
		{"gemini-3-flash", "minimal", `"thinkingLevel":"MINIMAL"`},
		{"gemini-3-pro-preview", "none", `"includeThoughts":false,"thinkingLevel":"LOW"`},
		{"gemini-2.0-flash", "high", `{"contents":[]}`},
		{"gemini-3-pro-preview", "", `{"contents":[]}`},
	} {
		if got, _ := open(t, &utp.Request{Model: c.model, Params: utp.Params{Effort: c.effort}}); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s", c.model, c.effort, got)
		}
	}
}

func TestParams(t *testing.T) {
	p := utp.Params{Seed: ptr(int64(1 << 40)), Stop: []string{"1", "2", "3", "4", "5", "6"}, Context: ptr(4096), Schema: []byte(`{"type":"object","properties":{"a":{"type":["string","null"]}}}`)}
	got, x := open(t, &utp.Request{Model: "m", Params: p})
	sameJSON(t, `{"contents":[],"generationConfig":{"stopSequences":["1","2","3","4","5"],"responseMimeType":"application/json",
	 "responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}}}`, got)
	if len(x.Losses) != 3 {
		t.Errorf("%v", x.Losses)
	}
	y, err := gemini.Back{JSONSchema: true}.Open(&utp.Request{Params: p, Tools: []utp.Tool{{Name: "f", Schema: p.Schema}}})
	if err != nil || !strings.Contains(string(y.Body), `"responseJsonSchema":{"type":"object"`) || !strings.Contains(string(y.Body), `"parametersJsonSchema":{"type":"object"`) {
		t.Errorf("%s %v", y.Body, err)
	}
}

func TestVertex(t *testing.T) {
	c := utp.Call{ID: "a", Name: "f"}
	r := utp.Request{Model: "publishers/google/models/gemini-2.5-pro", Messages: []utp.Message{
		utp.NewText(utp.RoleUser, "?"), {Role: utp.RoleAssistant, Parts: []utp.Part{c}}, {Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "x")}}}}
	x, err := gemini.Back{Vertex: true}.Open(&r)
	if err != nil || strings.Contains(string(x.Body), `"id"`) || x.Path != "/publishers/google/models/gemini-2.5-pro:generateContent" {
		t.Errorf("%s %s %v", x.Path, x.Body, err)
	}
}

// A client that did not ask for server-sent events gets one JSON array.
func TestStreamAsArray(t *testing.T) {
	r, _, err := gemini.Front{}.Read(wire.HTTPRequest{Path: stream, Body: []byte(`{"contents":[]}`)})
	if err != nil {
		t.Fatal(err)
	}
	front := gemini.Front{}
	for _, failure := range []error{nil, wire.ErrCut} {
		w, framing := front.Writer(r, wire.Stamp{}), front.Framing(r)
		var body []byte
		evs := []utp.Event{{Kind: utp.EventText, Text: "One "}, {Kind: utp.EventText, Text: "two."}}
		if failure == nil {
			evs = append(evs, utp.Event{Kind: utp.EventFinish, Part: 1})
		}
		for _, e := range evs {
			for _, f := range w.Write(e) {
				body = framing.Append(body, f)
			}
		}
		for _, f := range w.Close(failure) {
			body = framing.Append(body, f)
		}
		var chunks []struct{ Error *struct{ Code int } }
		if err := json.Unmarshal(body, &chunks); err != nil || len(chunks) != 3 || (chunks[2].Error != nil) != (failure != nil) {
			t.Errorf("%v: %s", err, body)
		}
		if failure == nil {
			_, x := open(t, &utp.Request{})
			if reply, err := x.Read(body, nil); err != nil || reply.Text() != "One two." {
				t.Errorf("%+v %v", reply, err)
			}
		}
	}
}

// Reasoning of others comes back from a client as it was, also in pieces.
func TestAnothersReasoningComesBack(t *testing.T) {
	think := utp.Think{Text: "Hm. So.", Signature: "c2ln", Provider: "anthropic", Model: "claude-opus-4-1"}
	about := think
	about.Text = ""
	w := gemini.Front{}.Writer(&utp.Request{}, wire.Stamp{})
	var parts []json.RawMessage
	for _, e := range []utp.Event{{Kind: utp.EventThink, Text: "Hm. "}, {Kind: utp.EventThink, Text: "So."}, {Kind: utp.EventPartEnd, Value: about}} {
		for _, f := range w.Write(e) {
			var j struct {
				Candidates []struct {
					Content struct{ Parts []json.RawMessage }
				}
			}
			if err := json.Unmarshal(f.Data, &j); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, j.Candidates[0].Content.Parts...)
		}
	}
	history, err := json.Marshal(parts)
	if err != nil || len(parts) != 3 {
		t.Fatal(err, len(parts))
	}
	r := read(t, stream, `{"contents":[{"role":"model","parts":`+string(history)+`}]}`)
	if diff := cmp.Diff([]utp.Part{think}, r.Messages[0].Parts); diff != "" {
		t.Error(diff)
	}
}

func TestErrors(t *testing.T) {
	status, body := gemini.Front{}.Error(&wire.Error{Status: 429, Message: "Quota.", RetryAfter: 34500 * time.Millisecond})
	want := `{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`
	if status != 429 || string(body) != want {
		t.Errorf("%d %s", status, body)
	}
	_, x := open(t, &utp.Request{})
	_, err := x.Read(body, nil)
	if f := wire.FaultOf(err); f.Kind != wire.RateLimited || f.RetryAfter != 34500*time.Millisecond {
		t.Errorf("%v %+v", err, f)
	}
	if status, body := (gemini.Front{}).Error(&wire.InputError{Path: "contents", Offset: -1, Want: "an array"}); status != 400 || !strings.Contains(string(body), "INVALID_ARGUMENT") {
		t.Errorf("%d %s", status, body)
	}
}

// What Gemini says beside its reply, and what only it knows, stays.
func TestRepliesKeepWhatOnlyGeminiKnows(t *testing.T) {
	const body = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm.","thought":true,"thoughtSignature":"dGhpbms="},{"text":"So."},{"text":"","thoughtSignature":"dGV4dA=="},
	 {"executableCode":{"language":"PYTHON","code":"1"}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"functionCall":{"id":"a","name":"f","args":{"x":1}},"thoughtSignature":"Y2FsbA=="}]},
	 "finishReason":"STOP","groundingMetadata":{"x":1},"index":0}],"usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":3,"candidatesTokenCount":5,"thoughtsTokenCount":4,"totalTokenCount":16},"modelVersion":"gemini-3-pro","responseId":"r"}`
	r := &utp.Request{Model: "gemini-3-pro"}
	_, x := open(t, r)
	reply, err := x.Read([]byte(body), nil)
	if err != nil || reply.Usage != (utp.Usage{Input: 4, CacheRead: 3, Output: 5, Reasoning: 4}) {
		t.Fatal(err, reply.Usage)
	}
	got, losses, err := gemini.Front{}.Whole(r, reply, wire.Stamp{})
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	sameJSON(t, body, string(got))
	// In the next turn each signature stands on the part that it came on.
	next, _ := open(t, &utp.Request{Model: "gemini-3-pro", Messages: []utp.Message{utp.NewText(utp.RoleUser, "?"), reply.Message}})
	for _, s := range []string{`"args":{"x":1}},"thoughtSignature":"Y2FsbA=="`, `{"text":"","thoughtSignature":"dGV4dA=="}`, `"thought":true,"thoughtSignature":"dGhpbms="`} {
		if !strings.Contains(next, s) {
			t.Errorf("%s is missing in %s", s, next)
		}
	}
}

// A call that Gemini could not read is its own error, and nothing that passes
// for a reply.
func TestMalformedCall(t *testing.T) {
	_, x := open(t, &utp.Request{})
	reply, err := x.Read([]byte(`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"call:f{"}]}`), nil)
	if err != nil || reply.Stop != utp.StopBadCall {
		t.Fatal(reply, err)
	}
	if body, _, err := (gemini.Front{}).Whole(&utp.Request{}, reply, wire.Stamp{}); err == nil {
		t.Errorf("%s", body)
	}
}

func TestCountAndModels(t *testing.T) {
	x, err := gemini.Back{}.Count(read(t, stream, client))
	if err != nil || x.Path != "/v1beta/models/gemini-2.5-pro:countTokens" || !strings.HasPrefix(string(x.Body), `{"generateContentRequest":{"model":"models/gemini-2.5-pro",`) {
		t.Errorf("%+v %v", x, err)
	}
	if r := read(t, x.Path, string(x.Body)); len(r.Messages) != 5 || r.Model != "gemini-2.5-pro" {
		t.Errorf("%+v", r)
	}
	if n, err := gemini.ReadCount(gemini.CountReply(42)); n != 42 || err != nil {
		t.Error(n, err)
	}
	body := gemini.Front{}.Models([]wire.Model{{ID: "a", Chat: true, Context: 1000, Think: ptr(true)}, {ID: "embed"}})
	got, err := gemini.Models(body)
	if err != nil || len(got) != 1 || got[0].ID != "a" || got[0].Context != 1000 || !*got[0].Think || !got[0].Chat {
		t.Errorf("%s %v", body, err)
	}
	if _, err := gemini.Models([]byte("<html>")); err == nil {
		t.Error("HTML passed for a list of models")
	}
}

// Fields of tomorrow inside of a call or a response go where they came from, and
// to others are a loss.
func TestFieldsInsideOfACall(t *testing.T) {
	const inside = `"functionCall":{"id":"a","name":"w","args":{},"willContinue":false}`
	body := `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{` + inside + `,"later":1}]},
	 {"role":"user","parts":[{"functionResponse":{"id":"a","name":"w","response":{"result":"x"},"scheduling":"SILENT"}}]}]}`
	r, losses, err := gemini.Front{}.Read(wire.HTTPRequest{Path: "/v1beta/models/gemini-2.5-pro:generateContent", Body: []byte(body)})
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	x, err := gemini.Back{}.Open(r)
	if err != nil || len(x.Losses) > 0 {
		t.Fatal(err, x.Losses)
	}
	sameJSON(t, body, string(x.Body))
	reply, err := x.Read([]byte(`{"candidates":[{"content":{"role":"model","parts":[{`+inside+`,"later":1,"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, _, err := gemini.Front{}.Whole(r, reply, wire.Stamp{})
	for _, want := range []string{inside, `"later":1`, `"thoughtSignature":"c2ln"`} {
		if err != nil || strings.Count(string(answer), want) != 1 || !json.Valid(answer) {
			t.Errorf("%s %v: want %s once", answer, err, want)
		}
	}
}
