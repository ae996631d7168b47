package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

func ptr[T any](v T) *T { return &v }

func open(t *testing.T, r *utp.Request) (body string, x *wire.Exchange) {
	t.Helper()
	x, err := responses.Back{}.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(x.Body), x
}

func read(t *testing.T, body string) *utp.Request {
	t.Helper()
	r, _, err := responses.Front{}.Read(wire.HTTPRequest{Path: "/v1/responses", Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
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

// As Codex writes them, with fields of tomorrow.
const client = `{"model":"gpt-5-codex","instructions":"You are Codex.","stream":true,"store":false,"include":["reasoning.encrypted_content"],
 "prompt_cache_key":"k","service_tier":"auto","user":"u","parallel_tool_calls":true,"max_output_tokens":900,
 "reasoning":{"effort":"high","summary":"auto","context":"auto"},"text":{"verbosity":"low"},
 "input":[
  {"type":"message","role":"developer","content":[{"type":"input_text","text":"Rules."},{"type":"input_text","text":"More."}]},
  {"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"high"},{"type":"input_file","file_id":"file_1"}]},
  {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"ZW5j"},
  {"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Reading."}]},
  {"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","name":"shell","arguments":"{\"n\":9007199254740993}"},
  {"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"call_2","name":"apply_patch","input":"*** Begin Patch"},
  {"type":"function_call","call_id":"call_3","name":"add","namespace":"crm","arguments":"{}"},
  {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},
  {"type":"function_call_output","call_id":"call_1","output":"ERROR: no"},
  {"type":"custom_tool_call_output","call_id":"call_2","output":"Done"},
  {"type":"function_call_output","call_id":"call_3","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://x/y.png"}]},
  {"type":"message","role":"user","content":"Go on."}],
 "tools":[
  {"type":"function","name":"shell","description":"Runs.","strict":false,"parameters":{"type":"object","properties":{"n":{"type":"integer"}}}},
  {"type":"function","name":"left","parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}},
  {"type":"function","name":"strict","strict":true,"parameters":{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}},
  {"type":"custom","name":"apply_patch","description":"Patches.","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
  {"type":"namespace","name":"crm","description":"Customers.","tools":[{"type":"function","name":"add","strict":false,"parameters":{"type":"object","properties":{}},"defer_loading":true},{"type":"function","name":"del","strict":false,"parameters":{"type":"object","properties":{}}}]},
  {"type":"web_search"},{"type":"mcp","server_label":"a"},{"type":"mcp","server_label":"b"}],
 "tool_choice":{"type":"mcp","server_label":"a"}}`

// contract: F-08
func TestWhatAResponsesClientSaysComesThrough(t *testing.T) {
	r := read(t, client)
	body, x := open(t, r)
	sameJSON(t, client, body)
	if len(x.Losses) > 0 {
		t.Error(x.Losses)
	}
	var names []string
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "shell left strict apply_patch crm__add crm__del web_search mcp mcp_2" {
		t.Error(got)
	}
	calls := r.Messages[3].Calls()
	if len(calls) != 3 || calls[1].Kind != utp.CustomCall || calls[2].Name != "crm__add" || string(calls[0].Args) != `{"n":9007199254740993}` {
		t.Errorf("%+v", calls)
	}
	if res := r.Messages[4].Results()[0]; res.Status != utp.StatusFailed || res.Text() != "no" || res.Name != "shell" {
		t.Errorf("%+v", res)
	}
}

func TestChoice(t *testing.T) {
	r := utp.Request{Tools: []utp.Tool{{Name: "f"}, {Name: "a.b"}, {Name: "p", Kind: utp.CustomTool}}}
	for _, c := range []struct {
		choice utp.Choice
		want   string
	}{
		{utp.Choice{}, ""},
		{utp.Choice{Mode: utp.ChoiceNone}, `"tool_choice":"none"`},
		{utp.Choice{Mode: utp.ChoiceRequired, Parallel: ptr(false)}, `"tool_choice":"required","parallel_tool_calls":false`},
		{utp.Choice{Mode: utp.ChoiceNamed, Name: "a.b"}, `"tool_choice":{"type":"function","name":"a_b"}`},
		{utp.Choice{Mode: utp.ChoiceNamed, Name: "p"}, `"tool_choice":{"type":"custom","name":"p"}`},
		{utp.Choice{Mode: utp.ChoiceRequired, Allowed: []string{"f", "p"}}, `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"custom","name":"p"}]}`},
	} {
		r.Choice = c.choice
		got, _ := open(t, &r)
		if has := strings.Contains(got, "tool_choice"); !strings.Contains(got, c.want) || has != (c.want != "") {
			t.Errorf("%+v: %s", c, got)
		}
		if back := read(t, got); c.choice.Name != "a.b" {
			if diff := cmp.Diff(c.choice, back.Choice); diff != "" {
				t.Error(diff)
			}
		}
	}
	if r := read(t, `{"input":"x","tool_choice":"any"}`); r.Choice.Mode != utp.ChoiceRequired {
		t.Error("any is not required")
	}
}

// A call of a tool in a namespace comes back under the tool's full name, and is
// written to a client under both of its names.
func TestNamespaces(t *testing.T) {
	r := read(t, client)
	_, x := open(t, r)
	reply, err := x.Read([]byte(`{"object":"response","status":"completed","output":[{"type":"function_call","call_id":"a","namespace":"crm","name":"del","arguments":"{}"}]}`), nil)
	if err != nil || reply.Calls()[0].Name != "crm__del" {
		t.Fatal(err, reply)
	}
	body, _, err := responses.Front{}.Whole(r, reply, wire.Stamp{ID: "resp_1"})
	if err != nil || !strings.Contains(string(body), `"namespace":"crm","name":"del"`) {
		t.Errorf("%s %v", body, err)
	}
}

// A call that another server made of a function for a free text tool is a free
// text call to the client, whole and streamed.
func TestCustomCalls(t *testing.T) {
	r := read(t, client)
	reply := utp.Reply{Message: utp.Message{Parts: []utp.Part{utp.Call{ID: "a", Name: "apply_patch", Args: []byte(`{"input":"*** \"x\""}`)}}}}
	body, _, err := responses.Front{}.Whole(r, reply, wire.Stamp{ID: "resp_1"})
	if err != nil || !strings.Contains(string(body), `"type":"custom_tool_call","status":"completed","call_id":"a","name":"apply_patch","input":"*** \"x\""`) {
		t.Errorf("%s %v", body, err)
	}
	w := responses.Front{}.Writer(r, wire.Stamp{ID: "resp_1"})
	var names []string
	for _, e := range append(utp.Replay(reply), utp.Event{Kind: utp.EventFinish}) {
		for _, f := range w.Write(e) {
			names = append(names, strings.TrimPrefix(f.Event, "response."))
		}
	}
	if got := strings.Join(names, " "); got != "created in_progress output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done completed" {
		t.Error(got)
	}
}

func TestWhatNeedsAStoreIsRefused(t *testing.T) {
	for _, body := range []string{
		`{"input":"x","previous_response_id":"resp_1"}`, `{"input":"x","conversation":"conv_1"}`, `{"input":"x","background":true}`,
		`{"input":[{"type":"item_reference","id":"rs_1"}]}`,
	} {
		if _, _, err := (responses.Front{}).Read(wire.HTTPRequest{Body: []byte(body)}); err == nil || !strings.Contains(err.Error(), "stored here") {
			t.Errorf("%s: %v", body, err)
		}
		r, _, err := responses.Front{Stored: true}.Read(wire.HTTPRequest{Body: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		x, err := responses.Back{}.Open(r)
		if err != nil || !strings.Contains(string(x.Body), "_1") && !strings.Contains(string(x.Body), `"background":true`) {
			t.Errorf("%s: %s %v", body, x.Body, err)
		}
	}
}

func TestParams(t *testing.T) {
	got, x := open(t, &utp.Request{Model: "gpt-4.1", Params: utp.Params{Temperature: ptr(0.5), TopK: ptr(5), Stop: []string{"x"}, Effort: "none", Schema: []byte(`{"type":"object"}`)}})
	for _, s := range []string{`"temperature":0.5`, `"reasoning":{"effort":"none"}`, `"text":{"format":{"type":"json_schema","name":"reply","schema":{"type":"object"},"strict":false}}`} {
		if !strings.Contains(got, s) {
			t.Errorf("%s is missing in %s", s, got)
		}
	}
	if len(x.Losses) != 2 {
		t.Errorf("%v", x.Losses)
	}
	if r := read(t, got); string(r.Params.Schema) != `{"type":"object"}` || r.Params.Effort != "none" {
		t.Errorf("%+v", r.Params)
	}
	if got, _ := open(t, &utp.Request{Params: utp.Params{Schema: []byte("{}")}}); !strings.Contains(got, `{"format":{"type":"json_object"}}`) {
		t.Error(got)
	}
	if r := read(t, `{"input":"x","text":{"format":{"type":"text"}}}`); r.Params.Schema != nil {
		t.Errorf("%s", r.Params.Schema)
	}
}

func TestReasoningGoesBackToItsModel(t *testing.T) {
	for _, c := range []struct {
		think utp.Think
		model string
		want  string
	}{
		{utp.Think{Text: "Hm.", Signature: "ZW5j", ItemID: "rs_1", Provider: "responses", Model: "gpt-5-2025-08-07"}, "gpt-5", `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"ZW5j"}`},
		{utp.Think{Signature: "ZW5j", Provider: "responses", Model: "gpt-5"}, "gpt-4.1", ""},
		{utp.Think{Text: "Hm.", Provider: "responses"}, "gpt-5", ""},
		{utp.Think{Text: "Hm.", Provider: "responses", Extra: []byte(`{"responses":{"in_content":true}}`)}, "gpt-oss", `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}`},
		{utp.Think{Text: "Hm.", Signature: "c2ln", Provider: "anthropic"}, "gpt-5", ""},
	} {
		got, x := open(t, &utp.Request{Model: c.model, Messages: []utp.Message{{Role: utp.RoleAssistant, Parts: []utp.Part{c.think}}}})
		if c.want == "" {
			c.want = `"input":[]`
		}
		if !strings.Contains(got, c.want) || (len(x.Losses) > 0) != (c.want == `"input":[]`) {
			t.Errorf("%+v: %s %v", c.think, got, x.Losses)
		}
	}
}

// Reasoning of others comes back from a client as it was.
func TestAnothersReasoningComesBack(t *testing.T) {
	think := utp.Think{Text: "Hm.", Signature: "c2ln", Provider: "anthropic", Model: "claude-opus-4-1"}
	body, _, err := responses.Front{}.Whole(&utp.Request{}, utp.Reply{Message: utp.Message{Parts: []utp.Part{think}}}, wire.Stamp{ID: "resp_1"})
	if err != nil {
		t.Fatal(err)
	}
	var j struct{ Output json.RawMessage }
	if err := json.Unmarshal(body, &j); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(utp.Part(think), read(t, `{"input":`+string(j.Output)+`}`).Messages[0].Parts[0]); diff != "" {
		t.Error(diff)
	}
}

func TestErrors(t *testing.T) {
	status, body := responses.Front{}.Error(&wire.InputError{Path: "input[3].type", Offset: 7, Want: "the type of an item"})
	if status != 400 || string(body) != `{"error":{"message":"input[3].type: offset 7: want the type of an item","type":"invalid_request_error","param":"input[3].type","code":null}}` {
		t.Errorf("%d %s", status, body)
	}
	status, body = responses.Front{}.Error(&wire.Error{Status: 400, Message: "maximum context length is 4"})
	if status != 400 || !strings.Contains(string(body), `"code":"context_length_exceeded"`) {
		t.Errorf("%d %s", status, body)
	}
	w := responses.Front{}.Writer(&utp.Request{}, wire.Stamp{ID: "resp_1"})
	frames := w.Close(&wire.Error{Status: 429, Message: "Slow down."})
	last := frames[len(frames)-1]
	if len(frames) != 3 || last.Event != "response.failed" || !strings.Contains(string(last.Data), `"error":{"code":"rate_limit_exceeded","message":"Slow down."}`) {
		t.Errorf("%s", last.Data)
	}
}

func TestStops(t *testing.T) {
	for stop, want := range map[utp.Stop]string{
		utp.StopEnd: `"status":"completed","error":null,"incomplete_details":null`, utp.StopLength: `"incomplete_details":{"reason":"max_output_tokens"}`,
		utp.StopFilter: `"incomplete_details":{"reason":"content_filter"}`, utp.StopPause: `"status":"completed"`,
	} {
		body, _, err := responses.Front{}.Whole(&utp.Request{}, utp.Reply{End: utp.End{Stop: stop}}, wire.Stamp{ID: "resp_1"})
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s %v", stop, body, err)
		}
		_, x := open(t, &utp.Request{})
		if reply, err := x.Read(body, nil); err != nil || reply.Stop != stop && stop != utp.StopPause {
			t.Errorf("%s: %+v %v", stop, reply, err)
		}
	}
	if _, _, err := (responses.Front{}).Whole(&utp.Request{}, utp.Reply{End: utp.End{Stop: utp.StopBadCall}}, wire.Stamp{}); err == nil {
		t.Error("a bad call passed for a reply")
	}
}

func TestCountAndModels(t *testing.T) {
	x, err := responses.Back{}.Count(read(t, client))
	if err != nil || x.Path != "/v1/responses/input_tokens" || strings.Contains(string(x.Body), `"store"`) || strings.Contains(string(x.Body), "max_output") {
		t.Errorf("%+v %v", x, err)
	}
	if n, err := responses.ReadCount(responses.CountReply(42)); n != 42 || err != nil {
		t.Error(n, err)
	}
	body := responses.Front{}.Models([]wire.Model{{ID: "a", Chat: true, Created: 5, Owner: "me"}, {ID: "embed"}})
	if got, err := responses.Models(body); err != nil || len(got) != 1 || got[0].ID != "a" || got[0].Created != 5 || got[0].Owner != "me" {
		t.Errorf("%s %v", body, err)
	}
	if _, err := responses.Models([]byte("<html>")); err == nil {
		t.Error("HTML passed for a list of models")
	}
}

const grouped = `{"model":"gpt-5","input":"Hi","tools":[
 {"type":"namespace","name":"ns","description":"d","tools":[{"type":"function","name":"search","strict":true,
  "parameters":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}},"required":["q"]}}]},
 {"type":"image_generation"},{"type":"mcp","server_label":"docs"},{"type":"mcp","server_label":"mail"},{"type":"function","name":"g"}],"tool_choice":`

// A choice names a tool in a namespace by its name there, and one of the
// provider's own by its type.
func TestAChoiceAmongGroupedAndHostedTools(t *testing.T) {
	for choice, allowed := range map[string]string{
		`{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"search"},{"type":"image_generation"},{"type":"mcp","server_label":"mail"}]}`: "ns__search image_generation mcp_2",
		`{"type":"function","name":"search"}`: "",
	} {
		r := read(t, grouped+choice+"}")
		if got := strings.Join(r.Choice.Allowed, " "); got != allowed || allowed == "" && r.Choice.Name != "ns__search" {
			t.Errorf("%s: %+v", choice, r.Choice)
		}
		body, _ := open(t, r)
		var out struct {
			Choice json.RawMessage `json:"tool_choice"`
		}
		if err := json.Unmarshal([]byte(body), &out); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, choice, string(out.Choice))
	}
}

// What a strict schema makes of a tool's arguments is undone, also in a namespace.
func TestStrictArgumentsInANamespace(t *testing.T) {
	_, x := open(t, read(t, grouped+`"auto"}`))
	reply, err := x.Read([]byte(`{"object":"response","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"c","namespace":"ns","name":"search","arguments":"{\"q\":\"x\",\"n\":null}"}]}`), nil)
	if err != nil || len(reply.Calls()) != 1 || reply.Calls()[0].Name != "ns__search" || string(reply.Calls()[0].Args) != `{"q":"x"}` {
		t.Errorf("%+v %v", reply, err)
	}
}
