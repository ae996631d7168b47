package openai_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

func read(t *testing.T, body string) *utp.Request {
	t.Helper()
	r, losses, err := openai.Front{}.Read(wire.HTTPRequest{Method: "POST", Path: "/v1/chat/completions", Body: []byte(body)})
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	return r
}

func open(t *testing.T, s openai.Server, r *utp.Request) (string, []wire.Loss) {
	t.Helper()
	x, err := openai.Back{Server: s}.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(x.Body), x.Losses
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

// As OpenAI's own SDK can write them, with fields of tomorrow.
const client = `{"model":"gpt-4.1","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},"max_completion_tokens":900,"temperature":0.5,"top_p":0.9,"seed":9007199254740993,
 "stop":["\n\n","END"],"reasoning_effort":"low","verbosity":"low","service_tier":"flex","metadata":{"a":"b"},"store":true,"prompt_cache_key":"k","user":"u","logit_bias":{"50256":-100},"logprobs":true,"top_logprobs":2,
 "messages":[
  {"role":"developer","content":"Be brief.","name":"boss"},
  {"role":"user","name":"ann","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"high"}},
   {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},
   {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}},{"type":"file","file":{"file_id":"file-1"}},{"type":"hologram","x":1}]},
  {"role":"assistant","content":null,"audio":{"id":"audio_1"},"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"n\":9007199254740993}"}},
   {"id":"call_2","type":"custom","custom":{"name":"patch","input":"*** Begin\n"}}]},
  {"role":"tool","tool_call_id":"call_1","content":"one"},
  {"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]},
  {"role":"assistant","content":[{"type":"text","text":"Well."},{"type":"refusal","refusal":"No."}]},
  {"role":"user","content":"Go on."}],
 "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false},"strict":true},"cache_control":{"type":"ephemeral"}},
  {"type":"custom","custom":{"name":"patch","description":"p","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /x/"}}}}],
 "tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"patch"}}]}},
 "parallel_tool_calls":false,
 "response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}}}`

// contract: F-01 F-03 F-11
func TestWhatAClientSaysComesThrough(t *testing.T) {
	r := read(t, client)
	body, losses := open(t, openai.OpenAI, r)
	sameJSON(t, client, body)
	if len(losses) > 0 {
		t.Error(losses)
	}
	p := r.Params
	if *p.MaxTokens != 900 || *p.Seed != 9007199254740993 || p.Effort != "low" || p.User != "u" || len(p.Stop) != 2 || string(p.Schema) != `{"type":"object"}` {
		t.Errorf("%+v", p)
	}
	c := r.Choice
	if c.Mode != utp.ChoiceRequired || strings.Join(c.Allowed, " ") != "f patch" || *c.Parallel {
		t.Errorf("%+v", c)
	}
	if m := r.Messages[0]; m.Role != utp.RoleSystem || m.Text() != "Be brief." {
		t.Errorf("%+v", m)
	}
	calls := r.Messages[2].Calls()
	if string(calls[0].Args) != `{"n":9007199254740993}` || calls[1].Kind != utp.CustomCall || calls[1].RawArgs != "*** Begin\n" {
		t.Errorf("%+v", calls)
	}
	if res := r.Messages[4].Results()[0]; res.Name != "patch" || res.Text() != "two" || res.Status != utp.StatusOK {
		t.Errorf("%+v", res)
	}
}

// The old form: functions, function_call and messages of the role function.
//
// contract: F-01
func TestFunctionsOfOldClients(t *testing.T) {
	r := read(t, `{"model":"m","functions":[{"name":"f","description":"d","parameters":{"type":"object"}},{"name":"g"}],"function_call":{"name":"f"},
	 "messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}},{"role":"function","name":"f","content":"ERROR: no"}]}`)
	if len(r.Tools) != 2 || r.Tools[0].Name != "f" || string(r.Tools[0].Schema) != `{"type":"object"}` || r.Choice.Mode != utp.ChoiceNamed || r.Choice.Name != "f" || *r.Choice.Parallel {
		t.Errorf("%+v %+v", r.Tools, r.Choice)
	}
	if c := r.Messages[1].Calls(); len(c) != 1 || string(c[0].Args) != `{"a":1}` {
		t.Errorf("%+v", c)
	}
	if res := r.Messages[2].Results(); len(res) != 1 || res[0].Name != "f" || res[0].Status != utp.StatusFailed || res[0].Text() != "no" {
		t.Errorf("%+v", res)
	}
	body, losses := open(t, openai.Any, r)
	for _, s := range []string{`"tool_calls":[{"id":"call_1_0","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`, `"tool_call_id":"call_1_0"`, `"content":"ERROR: no"`,
		`"tools":[{"type":"function","function":{"name":"f"`} {
		if !strings.Contains(body, s) {
			t.Errorf("%s is missing in %s", s, body)
		}
	}
	if strings.Contains(body, "functions") || len(losses) > 0 && losses[0].Path != "choice.allowed" {
		t.Error(body, losses)
	}
	call := utp.Call{ID: "x", Name: "f", Args: []byte(`{"a":2}`)}
	reply := utp.Reply{Message: utp.Message{Parts: []utp.Part{call}}, End: utp.End{Stop: utp.StopTool}}
	whole, _, err := openai.Front{}.Whole(r, reply, wire.Stamp{ID: "c"})
	if want := `"message":{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":2}"},"refusal":null},"finish_reason":"function_call","logprobs":null`; err != nil || !strings.Contains(string(whole), want) {
		t.Errorf("%s (%v)", whole, err)
	}
	w := openai.Front{}.Writer(r, wire.Stamp{ID: "c"})
	var stream string
	for _, e := range utp.Replay(reply) {
		for _, f := range w.Write(e) {
			stream += string(f.Data) + "\n"
		}
	}
	for _, s := range []string{`"delta":{"function_call":{"name":"f","arguments":""}}`, `"delta":{"function_call":{"arguments":"{\"a\":2}"}}`, `"finish_reason":"function_call"`} {
		if !strings.Contains(stream, s) || strings.Contains(stream, "tool_calls") {
			t.Errorf("%s is missing in\n%s", s, stream)
		}
	}
}

func TestToolChoices(t *testing.T) {
	for in, want := range map[string]utp.Choice{
		`"auto"`: {}, `null`: {}, `"none"`: {Mode: utp.ChoiceNone}, `"required"`: {Mode: utp.ChoiceRequired}, `"any"`: {Mode: utp.ChoiceRequired}, `{"type":"any"}`: {Mode: utp.ChoiceRequired},
		`{"type":"function","function":{"name":"f"}}`: {Mode: utp.ChoiceNamed, Name: "f"}, `{"type":"function","name":"f"}`: {Mode: utp.ChoiceNamed, Name: "f"}, `{"type":"tool","name":"f"}`: {Mode: utp.ChoiceNamed, Name: "f"},
		`{"type":"custom","custom":{"name":"f"}}`: {Mode: utp.ChoiceNamed, Name: "f"},
		`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`:              {Allowed: []string{"f"}},
		`{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"custom","custom":{"name":"f"}},{"name":"g"}]}}`: {Mode: utp.ChoiceRequired, Allowed: []string{"f", "g"}},
	} {
		r := read(t, `{"messages":[],"tool_choice":`+in+`,"tools":[{"type":"function","function":{"name":"f"}},{"name":"g","parameters":{"type":"object"}}]}`)
		if diff := cmp.Diff(want, r.Choice); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
		if len(r.Tools) != 2 || r.Tools[1].Name != "g" {
			t.Errorf("%+v", r.Tools)
		}
	}
}

// contract: F-03
func TestMessagesAsClientsWriteThem(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"a bare image", `{"role":"user","content":[{"type":"image_url","image_url":"data:image/png;base64,AAAA"}]}`, `{"role":"user","parts":[{"type":"blob","mime":"image/png","data":"AAAA"}]}`},
		{"parts of the Responses API", `{"role":"user","content":[{"type":"input_text","text":"x"}]}`, `{"role":"user","parts":[{"type":"text","text":"x"}]}`},
		{"no content", `{"role":"assistant"}`, `{"role":"assistant","parts":[]}`},
		{"arguments that are an object", `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]}`, `{"role":"assistant","parts":[{"type":"call","id":"a","name":"f","arguments":{"x":1},"source":"native"}]}`},
		{"arguments that are no JSON", `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{x"}}]}`, `{"role":"assistant","parts":[{"type":"call","id":"a","name":"f","raw_arguments":"{x","source":"native"}]}`},
		{"empty arguments", `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]}`, `{"role":"assistant","parts":[{"type":"call","id":"a","name":"f","source":"native"}]}`},
		{"an error object", `{"role":"tool","tool_call_id":"a","content":"{\"error\":\"no\"}"}`, `{"role":"tool","parts":[{"type":"result","call_id":"a","status":"error","parts":[{"type":"text","text":"{\"error\":\"no\"}"}]}]}`},
		{"an id of ours", `{"role":"tool","tool_call_id":"utp_functions-2Ef-3A0","content":"x"}`, `{"role":"tool","parts":[{"type":"result","call_id":"functions.f:0","status":"ok","parts":[{"type":"text","text":"x"}]}]}`},
		{"a refusal", `{"role":"assistant","refusal":"No."}`, `{"role":"assistant","parts":[{"type":"text","text":"No.","extra":{"openai":{"refusal":true}}}]}`},
		{"reasoning as DeepSeek's clients send it back", `{"role":"assistant","reasoning_content":"Hm.","content":"x"}`, `{"role":"assistant","parts":[{"type":"think","text":"Hm.","extra":{"openai":{"mark":{"field":"reasoning_content"}}}},{"type":"text","text":"x"}]}`},
		{"reasoning as OpenRouter's do", `{"role":"assistant","reasoning":"Hm.","content":"x"}`, `{"role":"assistant","parts":[{"type":"think","text":"Hm.","extra":{"openai":{"mark":{"field":"reasoning"}}}},{"type":"text","text":"x"}]}`},
	} {
		r := read(t, `{"messages":[`+c.message+`]}`)
		got, err := json.Marshal(r.Messages[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) { sameJSON(t, c.want, string(got)) })
	}
}

// Reasoning that another provider signed goes to the client sealed, and comes
// back as it was, beside reasoning without a seal.
func TestSealedReasoningComesBack(t *testing.T) {
	thinks := []utp.Part{utp.Think{Text: "Plain."}, utp.Think{Text: "Signed.", Signature: "c2ln", Provider: "anthropic", Model: "m"}, utp.Think{Signature: "x", Redacted: true, Provider: "anthropic"}, utp.Think{Text: "More."}}
	reply := utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: append(thinks, utp.Text{Text: "x"})}}
	body, losses, err := openai.Front{}.Whole(&utp.Request{}, reply, wire.Stamp{ID: "c", Model: "m"})
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	var j struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(body, &j); err != nil {
		t.Fatal(err)
	}
	r := read(t, `{"messages":[`+string(j.Choices[0].Message)+`]}`)
	want := append([]utp.Part(nil), reply.Parts...)
	for _, i := range []int{0, 3} {
		p := want[i].(utp.Think)
		p.Extra = []byte(`{"openai":{"mark":{"field":"reasoning_content"}}}`)
		want[i] = p
	}
	if diff := cmp.Diff(want, r.Messages[0].Parts); diff != "" {
		t.Error(diff)
	}
}

// What belongs to a call comes with its beginning, where the AI SDK looks for it,
// else behind its arguments in a piece that has all fields of one: the AI SDK
// refuses a call without a function.
func TestWhatBelongsToACallComesInAPieceOfIt(t *testing.T) {
	r := read(t, `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f"}}]}`)
	call := utp.Call{ID: "c", Name: "f", Args: []byte(`{}`), Extra: []byte(`{"gemini":{"thoughtSignature":"c2ln"}}`)}
	pieces := func(events ...utp.Event) (all []string) {
		w := openai.Front{}.Writer(r, wire.Stamp{ID: "c"})
		for _, e := range events {
			for _, f := range w.Write(e) {
				all = append(all, string(f.Data))
			}
		}
		return all[1:] // the role is first
	}
	const beside = `"extra_content":{"google":{"thought_signature":"c2ln"}}}`
	whole := pieces(utp.Event{Kind: utp.EventWhole, Value: call})
	if !strings.Contains(whole[0], `{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""},`+beside) || strings.Contains(whole[len(whole)-1], "google") {
		t.Errorf("%s", whole)
	}
	late := pieces(utp.Event{Kind: utp.EventCallStart, Call: &utp.Call{ID: "c", Name: "f"}}, utp.Event{Kind: utp.EventCallEnd, Call: &call})
	if !strings.Contains(late[len(late)-1], `{"index":0,"function":{"arguments":""},`+beside) {
		t.Errorf("%s", late)
	}
}

// What Gemini signed goes to clients where Google's own surface has it, beside
// what else belongs to the call, and comes back as it was.
func TestThoughtSignaturesStandWhereGoogleHasThem(t *testing.T) {
	for _, c := range []struct{ extra, want, lost string }{
		{`{"gemini":{"thoughtSignature":"c2ln"}}`, `{"google":{"thought_signature":"c2ln"}}`, ""},
		{`{"gemini":{"thoughtSignature":"c2ln","x":1},"anthropic":{"y":2}}`, `{"google":{"thought_signature":"c2ln"},"utp":{"gemini":{"x":1},"anthropic":{"y":2}}}`, "y"},
		{`{"anthropic":{"y":2}}`, `{"utp":{"anthropic":{"y":2}}}`, "y"},
		{`{"openai":{"extra_content":{"google":{"thought_signature":"c2ln","more":1}}}}`, `{"google":{"thought_signature":"c2ln","more":1}}`, "extra_content"},
	} {
		call := utp.Call{ID: "c", Name: "f", Args: []byte(`{}`), Source: utp.SourceNative, Extra: []byte(c.extra)}
		body, _, err := openai.Front{}.Whole(&utp.Request{}, utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{call}}}, wire.Stamp{ID: "c", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		var j struct {
			Choices []struct {
				Message json.RawMessage
			}
		}
		if err := json.Unmarshal(body, &j); err != nil || !strings.Contains(string(body), `"extra_content":`+c.want) {
			t.Fatalf("%s %v", body, err)
		}
		r := read(t, `{"model":"gemini-3-pro","messages":[{"role":"user","content":"x"},`+string(j.Choices[0].Message)+`,{"role":"tool","tool_call_id":"c","content":"ok"}]}`)
		x, err := gemini.Back{}.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if signed := strings.Contains(string(x.Body), `"thoughtSignature":"c2ln"`); signed != strings.Contains(c.want, "google") {
			t.Errorf("%s: %s", c.extra, x.Body)
		}
		if len(x.Losses) > 0 != (c.lost != "") || c.lost != "" && !strings.HasSuffix(x.Losses[0].Path, "."+c.lost) {
			t.Errorf("%s: %v", c.extra, x.Losses)
		}
		again, losses := open(t, openai.Any, r)
		if google, _, _ := strings.Cut(c.want, `,"utp"`); strings.Contains(c.want, "google") && (!strings.Contains(again, google) || c.lost == "" && len(losses) > 0) {
			t.Errorf("%s: %s %v", c.extra, again, losses)
		}
	}
}

// A stream has counts only if its client asked for them.
func TestUsageIsGivenToWhoAsks(t *testing.T) {
	for body, want := range map[string]bool{`{"messages":[]}`: false, `{"messages":[],"stream_options":{"include_usage":true}}`: true, `{"messages":[],"stream_options":{}}`: false} {
		w := openai.Front{}.Writer(read(t, body), wire.Stamp{ID: "c"})
		var got bool
		for _, e := range []utp.Event{{Kind: utp.EventText, Text: "x"}, {Kind: utp.EventFinish, End: &utp.End{Usage: utp.Usage{Input: 60, CacheRead: 40, Output: 5, Reasoning: 2}}}} {
			for _, f := range w.Write(e) {
				got = got || strings.Contains(string(f.Data), `"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":2}}`)
			}
		}
		if got != want {
			t.Errorf("%s: counts %v", body, got)
		}
	}
}

// contract: Z-09
func TestErrorsAsOpenAIWritesThem(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{&wire.InputError{Path: "messages[0].role", Offset: 7, Want: "a role"}, 400, `{"error":{"message":"messages[0].role: offset 7: want a role","type":"invalid_request_error","param":"messages[0].role","code":null}}`},
		{&wire.Error{Status: 429, Type: "rate_limit_error", Message: "slow", RetryAfter: time.Second}, 429, `{"error":{"message":"slow","type":"rate_limit_error","param":null,"code":null}}`},
		{&wire.Error{Status: 429, Code: "insufficient_quota", Message: "pay"}, 429, `{"error":{"message":"pay","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
		{&wire.Error{Status: 400, Message: "prompt is too long: 9 > 8"}, 400, `{"error":{"message":"prompt is too long: 9 \u003e 8","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}`},
		{wire.ErrCut, 502, `{"error":{"message":"the stream ended before the reply was complete","type":"server_error","param":null,"code":null}}`},
		{&wire.Error{Status: 401, Message: "bad key sk-abcdefgh"}, 401, `{"error":{"message":"bad key sk-…","type":"authentication_error","param":null,"code":null}}`},
	} {
		status, body := openai.Front{}.Error(c.err)
		if status != c.status {
			t.Errorf("%v: status %d", c.err, status)
		}
		sameJSON(t, c.want, string(body))
	}
}

func TestFrontListsModels(t *testing.T) {
	got := openai.Front{}.Models([]wire.Model{{ID: "m", Chat: true, Owner: "me", Created: 5, Context: 8192}, {ID: "embed"}})
	sameJSON(t, `{"object":"list","data":[{"id":"m","object":"model","created":5,"owned_by":"me","context_length":8192}]}`, string(got))
	sameJSON(t, `{"object":"list","data":[]}`, string(openai.Front{}.Models(nil)))
}

// Kimi K2 gets the ids that it was trained on, whatever made the calls.
func TestKimiCountsItsCalls(t *testing.T) {
	call := func(id, name string) utp.Part { return utp.Call{ID: id, Name: name, Args: []byte(`{}`)} }
	result := func(id string) utp.Message {
		return utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.Result{CallID: id, Parts: []utp.Part{utp.Text{Text: id}}}}}
	}
	r := &utp.Request{Model: "moonshotai/Kimi-K2-Instruct", Messages: []utp.Message{
		{Role: utp.RoleAssistant, Parts: []utp.Part{call("toolu_1", "ls"), call("toolu_2", "a.b")}}, result("toolu_2"), result("toolu_1"),
		{Role: utp.RoleAssistant, Parts: []utp.Part{call("toolu_1", "ls")}}, result("toolu_1"),
	}}
	got, _ := open(t, openai.Any, r)
	var ids []string
	for _, m := range regexp.MustCompile(`"(?:id|tool_call_id)":"([^"]*)"(?:,"content":"([^"]*)")?`).FindAllStringSubmatch(got, -1) {
		ids = append(ids, strings.TrimSuffix(m[1]+" "+m[2], " "))
	}
	want := []string{"functions.ls:0", "functions.a_b:1", "functions.ls:0 toolu_1", "functions.a_b:1 toolu_2", "functions.ls:2", "functions.ls:2 toolu_1"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, got)
	}
	if c := r.Messages[0].Calls()[0]; c.ID != "toolu_1" {
		t.Errorf("the request was changed: %v", c)
	}
	r.Model = "kimi-latest"
	if got, _ := open(t, openai.Any, r); !strings.Contains(got, `"toolu_1"`) {
		t.Errorf("%s", got)
	}
}

// What we do not know of a choice reaches a client of the same API, whole and
// streamed: Azure's content_filter_results, OpenRouter's native_finish_reason.
func TestUnknownFieldsOfAChoice(t *testing.T) {
	const own = `"native_finish_reason":"STOP","content_filter_results":{"hate":{"filtered":false}}`
	r := &utp.Request{Model: "m"}
	x, err := openai.Back{}.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	said, err := x.Read([]byte(`{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop",`+own+`}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, losses, err := openai.Front{}.Whole(r, said, wire.Stamp{ID: "x"})
	if err != nil || len(losses) > 0 || strings.Count(string(whole), `"logprobs":null,`+own+`}],`) != 1 {
		t.Errorf("%s (%v, %v)", whole, losses, err)
	}
	reader, writer := x.Reader(nil), openai.Front{}.Writer(r, wire.Stamp{ID: "x"})
	var stream string
	for _, data := range []string{`{"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null,"content_filter_results":{}}]}`,
		`{"id":"1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop",` + own + `}]}`, "[DONE]"} {
		for _, e := range reader.Feed(wire.Frame{Data: []byte(data)}) {
			for _, f := range writer.Write(e) {
				stream += string(f.Data) + "\n"
			}
		}
	}
	if strings.Count(stream, `"finish_reason":"stop",`+own+`}]`) != 1 || strings.Count(stream, "content_filter") != 1 {
		t.Error(stream)
	}
}
