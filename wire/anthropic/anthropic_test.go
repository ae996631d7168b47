package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

func ptr[T any](v T) *T { return &v }

func open(t *testing.T, r *utp.Request) (body string, x *wire.Exchange) {
	t.Helper()
	x, err := anthropic.Back{}.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(x.Body), x
}

func read(t *testing.T, body string) *utp.Request {
	t.Helper()
	r, losses, err := anthropic.Front{}.Read(wire.HTTPRequest{Path: "/v1/messages", Body: []byte(body),
		Header: map[string][]string{"Anthropic-Beta": {"claude-code-20250219,interleaved-thinking-2025-05-14"}}})
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

// As Claude Code writes them, with fields of tomorrow.
const client = `{"model":"claude-sonnet-4-6","max_tokens":32000,"stream":true,"temperature":1,
 "system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1; cch=abc;"},
  {"type":"text","text":"You are Claude Code.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
 "messages":[
  {"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"file","file_id":"file_1"}}]},
  {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"redacted_thinking","data":"eA=="},
   {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},
   {"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"/a","n":9007199254740993},"caller":{"type":"direct"}},
   {"type":"tool_use","id":"toolu_2","name":"Read","input":{}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"no"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}],"is_error":true,"cache_control":{"type":"ephemeral"}},
   {"type":"tool_result","tool_use_id":"toolu_2","content":"yes"},{"type":"text","text":"<system-reminder>x</system-reminder>"}]},
  {"role":"system","content":"A system message among the others."},
  {"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="},"title":"a.pdf","context":"c","citations":{"enabled":true}}]}],
 "tools":[{"name":"Read","description":"Reads.","input_schema":{"type":"object","properties":{"file_path":{"type":"string"}}},"cache_control":{"type":"ephemeral"},"eager_input_streaming":true},
  {"type":"custom","name":"Two","input_schema":{"type":"object"},"strict":false},
  {"type":"web_search_20250305","name":"web_search","max_uses":5},{"type":"mcp_toolset","mcp_server_name":"s"}],
 "tool_choice":{"type":"auto","disable_parallel_tool_use":true},
 "thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high","task_budget":{"type":"tokens"}},
 "metadata":{"user_id":"u","team":"t"},"context_management":{"edits":[]},"service_tier":"auto"}`

// contract: F-04
func TestWhatAnAnthropicClientSaysComesThrough(t *testing.T) {
	r := read(t, client)
	body, x := open(t, r)
	sameJSON(t, client, body)
	if len(x.Losses) > 0 || x.Header["anthropic-beta"] != "claude-code-20250219,interleaved-thinking-2025-05-14" {
		t.Error(x.Losses, x.Header)
	}
	if r.Params.Effort != "high" || r.Params.User != "u" || *r.Choice.Parallel || r.Tools[2].Kind != utp.HostedTool || r.Tools[0].Kind != utp.FunctionTool {
		t.Errorf("%+v", r)
	}
	if got := r.Messages[0].Text(); got != "You are Claude Code." {
		t.Errorf("system %q: the billing header is for Anthropic alone", got)
	}
	for _, m := range r.Messages {
		for _, res := range m.Results() {
			if res.Name != "Read" || (res.CallID == "toolu_1") != (res.Status == utp.StatusFailed) {
				t.Errorf("%+v", res)
			}
		}
	}
}

func TestChoice(t *testing.T) {
	r := utp.Request{Model: "claude-sonnet-4-5", Tools: []utp.Tool{{Name: "f"}, {Name: "a.b"}}}
	for _, c := range []struct {
		choice utp.Choice
		effort string
		want   string
	}{
		{utp.Choice{}, "", ""},
		{utp.Choice{Mode: utp.ChoiceNone}, "", `"tool_choice":{"type":"none"}`},
		{utp.Choice{Mode: utp.ChoiceRequired, Parallel: ptr(true)}, "", `"tool_choice":{"type":"any","disable_parallel_tool_use":false}`},
		{utp.Choice{Mode: utp.ChoiceNamed, Name: "a.b"}, "", `"tool_choice":{"type":"tool","name":"a_b"}`},
		{utp.Choice{Parallel: ptr(false)}, "", `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`},
		{utp.Choice{Mode: utp.ChoiceNamed, Name: "a.b"}, "low", `"system":"Answer with a call of the tool a_b."`},
	} {
		r.Choice, r.Params.Effort = c.choice, c.effort
		got, _ := open(t, &r)
		if has := strings.Contains(got, "tool_choice"); !strings.Contains(got, c.want) || has != strings.Contains(c.want, "tool_choice") {
			t.Errorf("%+v: %s", c, got)
		}
	}
	r.Tools = nil
	if got, _ := open(t, &r); strings.Contains(got, "tool") {
		t.Errorf("a choice without tools: %s", got)
	}
}

func TestThinkingAsTheModelTakesIt(t *testing.T) {
	for _, c := range []struct {
		model, effort string
		max           *int
		has, not      string
	}{
		{"claude-sonnet-4-5", "high", nil, `"thinking":{"type":"enabled","budget_tokens":24576}`, "temperature"},
		{"claude-sonnet-4-5-20250929", "high", ptr(8000), `"budget_tokens":6000`, "temperature"},
		{"claude-opus-4-1", "low", ptr(1000), `"temperature":0.5`, "thinking"},
		{"claude-opus-4-6", "minimal", nil, `"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}`, "temperature"},
		{"claude-opus-4-8", "", nil, `"max_tokens":64000`, "temperature"},
		{"us.anthropic.claude-3-5-sonnet-20241022-v2:0", "high", nil, `"max_tokens":8192`, "thinking"},
		{"claude-sonnet-4-5", "none", nil, `"temperature":0.5`, "thinking"},
		{"claude-sonnet-4-5", "galactic", nil, `"temperature":0.5`, "thinking"},
		{"glm-4.6", "medium", nil, `"budget_tokens":10240`, "output_config"},
	} {
		got, x := open(t, &utp.Request{Model: c.model, Params: utp.Params{Effort: c.effort, MaxTokens: c.max, Temperature: ptr(0.5)}})
		if !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
			t.Errorf("%s %s: %s", c.model, c.effort, got)
		}
		if strings.Contains(c.not, "thinking") && c.effort != "none" && len(x.Losses) == 0 {
			t.Errorf("%s %s: no loss was reported", c.model, c.effort)
		}
	}
}

func TestParams(t *testing.T) {
	got, x := open(t, &utp.Request{Model: "m", Params: utp.Params{Temperature: ptr(1.7), Stop: []string{"\n", "END"}, Seed: ptr(int64(1)), Schema: []byte("{}"), User: "u"}})
	for _, s := range []string{`"temperature":1,`, `"stop_sequences":["END"]`, `"metadata":{"user_id":"u"}`} {
		if !strings.Contains(got, s) {
			t.Errorf("%s is missing in %s", s, got)
		}
	}
	if len(x.Losses) != 4 {
		t.Errorf("%v", x.Losses)
	}
}

// A signature goes back to the family of models that made it and to no other.
func TestSignaturesBelongToTheirModel(t *testing.T) {
	think := utp.Think{Text: "Hm.", Signature: "c2ln", Provider: "anthropic", Model: "claude-opus-4-1-20250805"}
	for model, kept := range map[string]bool{"claude-opus-4-1": true, "anthropic.claude-opus-4-1-20250805-v1:0": true, "claude-opus-4-1@20250805": true,
		"claude-sonnet-4-5": false, "claude-opus-4-5": false} {
		r := utp.Request{Model: model, Messages: []utp.Message{utp.NewText(utp.RoleUser, "?"), {Role: utp.RoleAssistant, Parts: []utp.Part{think, utp.Text{Text: "!"}}}, utp.NewText(utp.RoleUser, "?")}}
		got, x := open(t, &r)
		if strings.Contains(got, "c2ln") != kept || (len(x.Losses) > 0) == kept {
			t.Errorf("%s: %s %v", model, got, x.Losses)
		}
	}
}

// Reasoning of others reaches an Anthropic client with a seal for a signature,
// and comes back as it was.
func TestAnothersReasoningComesBack(t *testing.T) {
	for _, think := range []utp.Think{
		{Text: "Hm.", Provider: "responses", Model: "gpt-5", ItemID: "rs_1", Signature: "ZW5j"},
		{Text: "Hm.", Provider: "openai", Extra: []byte(`{"field":"reasoning_content"}`)},
		{Provider: "responses", Redacted: true, Signature: "ZW5j"},
		{Text: "Hm."},
	} {
		body, _, err := anthropic.Front{}.Whole(&utp.Request{Model: "m"}, utp.Reply{Message: utp.Message{Parts: []utp.Part{think, utp.Text{Text: "x"}}}}, wire.Stamp{})
		if err != nil {
			t.Fatal(err)
		}
		var j struct{ Content json.RawMessage }
		if err := json.Unmarshal(body, &j); err != nil {
			t.Fatal(err)
		}
		r := read(t, `{"model":"m","messages":[{"role":"assistant","content":`+string(j.Content)+`}]}`)
		if diff := cmp.Diff(utp.Part(think), r.Messages[0].Parts[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestPrefill(t *testing.T) {
	r := utp.Request{Model: "claude-sonnet-4-5", Messages: []utp.Message{utp.NewText(utp.RoleUser, "?"), utp.NewText(utp.RoleAssistant, "The answer is \n")}}
	if got, x := open(t, &r); !strings.Contains(got, `"The answer is"`) || len(x.Losses) != 1 {
		t.Errorf("%s %v", got, x.Losses)
	}
	r.Model = "claude-opus-4-6"
	if got, x := open(t, &r); strings.Contains(got, "answer") || len(x.Losses) != 1 {
		t.Errorf("%s %v", got, x.Losses)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{&wire.Error{Status: 429, Message: "Slow down, sk-ant-api03-abcdef!", RetryAfter: 3 * time.Second}, 429, `{"type":"error","error":{"type":"rate_limit_error","message":"Slow down, sk-…!"}}`},
		{&wire.Error{Status: 503, Message: "Busy"}, 529, `"overloaded_error"`},
		{&wire.Error{Type: "RESOURCE_EXHAUSTED", Message: "Quota"}, 429, `"rate_limit_error"`},
		{&wire.Error{Status: 500, Message: "the prompt is too long: 5 > 4"}, 400, `"invalid_request_error"`},
		{&wire.Error{Status: 401}, 401, `"authentication_error"`},
		{&wire.Error{Status: 404, Code: "model_not_found"}, 404, `"not_found_error"`},
		{&wire.InputError{Path: "messages[0].role", Offset: 7, Want: "user"}, 400, `messages[0].role: offset 7: want user`},
		{wire.ErrCut, 502, `"api_error"`},
		{&utp.Problem{Kind: utp.ProblemTruncated}, 502, `"api_error"`},
	} {
		status, body := anthropic.Front{}.Error(c.err)
		if status != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%v: %d %s", c.err, status, body)
		}
	}
	if f := wire.FaultOf(&wire.Error{Status: 429, RetryAfter: time.Second}); f.RetryAfter != time.Second {
		t.Error("the pause is lost")
	}
}

// A tool runner of the SDKs sends the new messages alone, and all of them when
// the error tells it that the conversation is not held here.
func TestThreadsAreRefused(t *testing.T) {
	for _, thread := range []string{`{"type":"create"}`, `{"type":"continue","previous_message_id":"msg_1"}`} {
		_, _, err := anthropic.Front{}.Read(wire.HTTPRequest{Body: []byte(`{"model":"m","messages":[],"thread":` + thread + `}`)})
		status, body := anthropic.Front{}.Error(err)
		if status != 400 || !strings.HasSuffix(string(body), `"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}}}`) {
			t.Errorf("%s: %d %s (%v)", thread, status, body, err)
		}
	}
	read(t, `{"model":"m","messages":[],"thread":null}`)
}

// A reply that is broken is no reply.
func TestWholeRefusesBrokenReplies(t *testing.T) {
	for _, r := range []utp.Reply{
		{Problems: []utp.Problem{{Kind: utp.ProblemMalformed, Name: "f"}}},
		{End: utp.End{Stop: utp.StopError}},
		{End: utp.End{Stop: utp.StopBadCall}},
		{Problems: []utp.Problem{{Kind: utp.ProblemTruncated}}, End: utp.End{Stop: utp.StopEnd}},
	} {
		if body, _, err := (anthropic.Front{}).Whole(&utp.Request{}, r, wire.Stamp{}); err == nil {
			t.Errorf("%+v: %s", r, body)
		}
	}
	cut := utp.Reply{Message: utp.NewText(utp.RoleAssistant, "So:"), Problems: []utp.Problem{{Kind: utp.ProblemTruncated}}, End: utp.End{Stop: utp.StopLength}}
	if body, _, err := (anthropic.Front{}).Whole(&utp.Request{}, cut, wire.Stamp{}); err != nil || !strings.Contains(string(body), `"max_tokens"`) {
		t.Errorf("%s %v", body, err)
	}
}

func TestCount(t *testing.T) {
	x, err := anthropic.Back{}.Count(read(t, client))
	if err != nil || x.Path != "/v1/messages/count_tokens" {
		t.Fatal(err, x)
	}
	for _, s := range []string{"max_tokens", `"stream"`, "temperature", "metadata"} {
		if strings.Contains(string(x.Body), s) {
			t.Errorf("%s is in %s", s, x.Body)
		}
	}
	if n, err := anthropic.ReadCount(anthropic.CountReply(42)); n != 42 || err != nil {
		t.Error(n, err)
	}
}

func TestModels(t *testing.T) {
	list := []wire.Model{{ID: "a", Chat: true, Context: 200000, Created: 1787306400}, {ID: "embed"}, {ID: "b", Chat: true}}
	body := anthropic.Front{}.Models(list)
	if !strings.Contains(string(body), `"first_id":"a","last_id":"b"`) || !strings.Contains(string(body), `"created_at":"2026-08-21T10:00:00Z"`) {
		t.Errorf("%s", body)
	}
	got, err := anthropic.Models(body)
	if err != nil || len(got) != 2 || got[0].ID != "a" || got[0].Context != 200000 || got[0].Created != 1787306400 {
		t.Errorf("%+v %v", got, err)
	}
	if got := (anthropic.Front{}).Models(nil); string(got) != `{"data":[],"has_more":false,"first_id":null,"last_id":null}` {
		t.Errorf("%s", got)
	}
	if _, err := anthropic.Models([]byte("<html>")); err == nil {
		t.Error("HTML passed for a list of models")
	}
}

// What Anthropic says beside its reply, and what only it knows, stays.
func TestRepliesKeepWhatOnlyAnthropicKnows(t *testing.T) {
	const body = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[
	 {"type":"text","text":"See [1].","citations":[{"type":"char_location","cited_text":"x"}]},
	 {"type":"redacted_thinking","data":"eA=="},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},
	 {"type":"tool_use","id":"toolu_1","name":"f","input":{},"caller":{"type":"direct"}}],
	 "stop_reason":"tool_use","stop_sequence":null,"container":{"id":"c"},
	 "usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":9,"output_tokens_details":{"thinking_tokens":4},"service_tier":"standard"}}`
	r := &utp.Request{Model: "claude-sonnet-4-5"}
	_, x := open(t, r)
	reply, err := x.Read([]byte(body), nil)
	if err != nil || reply.Usage != (utp.Usage{Input: 1, CacheWrite: 2, CacheRead: 3, Output: 5, Reasoning: 4}) {
		t.Fatal(err, reply.Usage)
	}
	got, losses, err := anthropic.Front{}.Whole(r, reply, wire.Stamp{})
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	sameJSON(t, body, string(got))
}

// Claude 4.1 and later refuse temperature beside top_p.
func TestTemperatureOrTopP(t *testing.T) {
	for model, both := range map[string]bool{"claude-sonnet-4-5": false, "claude-opus-4-1-20250805": false, "claude-sonnet-4-20250514": true, "claude-3-7-sonnet-latest": true, "glm-4.6": true} {
		got, x := open(t, &utp.Request{Model: model, Params: utp.Params{Temperature: ptr(0.5), TopP: ptr(0.9)}})
		if !strings.Contains(got, `"temperature":0.5`) || strings.Contains(got, "top_p") != both || len(x.Losses) > 0 == both {
			t.Errorf("%s: %s %v", model, got, x.Losses)
		}
	}
	if got, _ := open(t, &utp.Request{Model: "claude-sonnet-4-5", Params: utp.Params{TopP: ptr(0.9)}}); !strings.Contains(got, `"top_p":0.9`) {
		t.Errorf("top_p alone: %s", got)
	}
}

// Calls under way whose reasoning cannot be sent back turn a client's thinking off.
func TestThinkingIsOffWhereACallWasMadeWithout(t *testing.T) {
	for signature, on := range map[string]bool{"c2ln": true, codec.Seal(utp.Think{Provider: "gemini", Signature: "Zw=="}): false} {
		r, _, err := anthropic.Front{}.Read(wire.HTTPRequest{Body: []byte(`{"model":"claude-sonnet-4-5","max_tokens":5000,"temperature":0.5,"thinking":{"type":"enabled","budget_tokens":2048},"messages":[
		 {"role":"user","content":"Hi"},
		 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"` + signature + `"},{"type":"tool_use","id":"a","name":"f","input":{}}]},
		 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`)})
		if err != nil {
			t.Fatal(err)
		}
		got, x := open(t, r)
		if strings.Contains(got, "budget_tokens") != on || strings.Contains(got, "temperature") == on {
			t.Errorf("%s: %s %v", signature, got, x.Losses)
		}
		if told := slices.ContainsFunc(x.Losses, func(l wire.Loss) bool { return l.Path == "params.effort" }); told == on {
			t.Errorf("%s: %v", signature, x.Losses)
		}
	}
}

// The API refuses a message that ends in reasoning, and a text of white space.
func TestWhatAMessageCannotEndIn(t *testing.T) {
	think := utp.Think{Text: "hm", Signature: "c2ln", Provider: "anthropic"}
	user := utp.NewText(utp.RoleUser, "Hi")
	for _, c := range []struct {
		parts []utp.Part
		last  bool
		want  string
		lost  int
	}{
		{[]utp.Part{think, utp.Text{Text: "a"}, think, think}, false, `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"a"}]}`, 2},
		{[]utp.Part{think}, false, `{"role":"assistant","content":"(empty)"}`, 1},
		{[]utp.Part{utp.Text{Text: "a"}, utp.Text{Text: " \n"}}, false, `{"role":"assistant","content":"a"}`, 0},
		{[]utp.Part{utp.Text{Text: "a "}, think}, true, `{"role":"assistant","content":"a"}`, 2},
	} {
		r := &utp.Request{Model: "claude-sonnet-4-5", Messages: []utp.Message{user, {Role: utp.RoleAssistant, Parts: c.parts}, user}}
		if c.last {
			r.Messages = r.Messages[:2]
		}
		if got, x := open(t, r); !strings.Contains(got, c.want) || len(x.Losses) != c.lost {
			t.Errorf("%v: %s %v", c.parts, got, x.Losses)
		}
	}
}

// That a tool is one of the client's own, and a field that says nothing, are no
// losses, and go back to Anthropic as they came.
func TestWhatSaysNothingIsNoLoss(t *testing.T) {
	r := read(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a","citations":null}]}],"tools":[{"type":"custom","name":"f","input_schema":{"type":"object"}}]}`)
	x, err := openai.Back{}.Open(r)
	if err != nil || len(x.Losses) != 1 || x.Losses[0].Path != "anthropic-beta" {
		t.Errorf("%v %v", err, x.Losses)
	}
	if got, _ := open(t, r); !strings.Contains(got, `"type":"custom"`) || !strings.Contains(got, `"citations":null`) {
		t.Errorf("%s", got)
	}
}
