package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// fronts by the names of their APIs, and where their requests go.
var fronts = map[string]struct {
	front wire.Front
	path  string
}{
	"anthropic": {anthropic.Front{}, "/v1/messages"}, "gemini": {gemini.Front{}, "/v1beta/models/m:generateContent"},
	"ollama": {ollama.Front{}, "/api/chat"}, "openai": {openai.Front{}, "/v1/chat/completions"}, "responses": {responses.Front{}, "/v1/responses"},
}

// fromClient reads a client's request.
func fromClient(t *testing.T, api, body string) *utp.Request {
	t.Helper()
	f := fronts[api]
	r, _, err := f.front.Read(wire.HTTPRequest{Method: "POST", Path: f.path, Body: []byte(body)})
	if err != nil {
		t.Fatalf("%s: %v", api, err)
	}
	return r
}

// asks writes a request and gives the body by its fields, and what was lost of it.
func asks(t *testing.T, b wire.Back, r *utp.Request) (map[string]json.RawMessage, []string) {
	t.Helper()
	x, err := b.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(x.Body, &body); err != nil {
		t.Fatal(err)
	}
	var lost []string
	for _, l := range x.Losses {
		lost = append(lost, l.Path+": "+l.What+": "+l.Why)
	}
	return body, lost
}

const (
	chat   = `{"model":"m","messages":[{"role":"user","content":"x"}],`
	closed = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	open   = `{"type":"object","properties":{"a":{"type":"string"}}}`
)

// A schema keeps its name and its strictness on its way between OpenAI's two APIs,
// and is strict there for clients of an API that holds every answer to its schema.
func TestStrictAndNameOfASchemaCross(t *testing.T) {
	chatFormat := func(schema string) string {
		return chat + `"response_format":{"type":"json_schema","json_schema":{"name":"nm","description":"d","strict":true,"schema":` + schema + `}}}`
	}
	text := func(schema string) string {
		return `{"model":"m","input":"x","text":{"format":{"type":"json_schema","name":"nm","description":"d","strict":true,"schema":` + schema + `}}}`
	}
	claude := func(schema string) string {
		return chat + `"max_tokens":9,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`
	}
	for _, c := range []struct {
		api, body string
		to        wire.Back
		field     string
		want      string
		lost      string
	}{
		{"openai", chatFormat(closed), responses.Back{}, "text", `{"format":{"type":"json_schema","name":"nm","description":"d","schema":` + closed + `,"strict":true}}`, ""},
		{"openai", chatFormat(open), responses.Back{}, "text", `{"format":{"type":"json_schema","name":"nm","description":"d","schema":` + open + `,"strict":false}}`, "params.schema_strict: dropped"},
		{"responses", text(closed), openai.Back{}, "response_format", `{"type":"json_schema","json_schema":{"name":"nm","description":"d","schema":` + closed + `,"strict":true}}`, ""},
		{"anthropic", claude(closed), openai.Back{Server: openai.OpenAI}, "response_format", `{"type":"json_schema","json_schema":{"name":"reply","schema":` + closed + `,"strict":true}}`, ""},
		{"anthropic", claude(open), openai.Back{}, "response_format", `{"type":"json_schema","json_schema":{"name":"reply","schema":` + open + `}}`, "params.schema_strict: dropped"},
		{"anthropic", claude(closed), responses.Back{}, "text", `{"format":{"type":"json_schema","name":"reply","schema":` + closed + `,"strict":true}}`, ""},
		{"openai", chatFormat(open), openai.Back{}, "response_format", `{"type":"json_schema","json_schema":{"name":"nm","description":"d","strict":true,"schema":` + open + `}}`, ""},
		{"openai", chatFormat(closed), anthropic.Back{}, "output_config", `{"format":{"type":"json_schema","schema":` + closed + `}}`, "params.schema_name: dropped"},
	} {
		body, lost := asks(t, c.to, fromClient(t, c.api, c.body))
		if string(body[c.field]) != c.want {
			t.Errorf("%s to %T: %s, want %s", c.api, c.to, body[c.field], c.want)
		}
		if told := strings.Join(lost, "\n"); c.lost == "" && told != "" || !strings.Contains(told, c.lost) {
			t.Errorf("%s to %T: losses %q, want %q", c.api, c.to, told, c.lost)
		}
	}
}

// Penalties reach every API that has them, and no loss says that only one has what
// others have too.
func TestPenaltiesReachWhoHasThem(t *testing.T) {
	r := fromClient(t, "openai", chat+`"presence_penalty":0.5,"frequency_penalty":-0.5}`)
	for _, c := range []struct {
		to           wire.Back
		field, wants string
	}{
		{gemini.Back{}, "generationConfig", `{"presencePenalty":0.5,"frequencyPenalty":-0.5}`},
		{ollama.Back{}, "options", `{"presence_penalty":0.5,"frequency_penalty":-0.5}`},
		{openai.Back{}, "presence_penalty", "0.5"},
	} {
		if body, lost := asks(t, c.to, r); string(body[c.field]) != c.wants || len(lost) > 0 {
			t.Errorf("%T: %s, losses %q", c.to, body[c.field], lost)
		}
	}
	for _, to := range []wire.Back{anthropic.Back{}, responses.Back{}} {
		if _, lost := asks(t, to, r); len(lost) != 2 || strings.Contains(strings.Join(lost, " "), "only openai") {
			t.Errorf("%T: %q", to, lost)
		}
	}
	for api, body := range map[string]string{
		"gemini": `{"contents":[],"generationConfig":{"presencePenalty":0.5,"frequencyPenalty":-0.5}}`,
		"ollama": chat + `"options":{"presence_penalty":0.5,"frequency_penalty":-0.5}}`,
	} {
		if body, lost := asks(t, openai.Back{}, fromClient(t, api, body)); string(body["presence_penalty"]) != "0.5" || string(body["frequency_penalty"]) != "-0.5" || len(lost) > 0 {
			t.Errorf("%s: %s, losses %q", api, body, lost)
		}
	}
}

// What several APIs have is not said to be one's alone, and what OpenAI's two APIs
// have alike goes from one to the other.
func TestNoLossSaysThatOnlyOneHasWhatOthersHave(t *testing.T) {
	const fields = `"logprobs":true,"top_logprobs":2,"service_tier":"flex","metadata":{"a":"b"},"prompt_cache_key":"k","verbosity":"low","store":true,"logit_bias":{"1":2}}`
	r := fromClient(t, "openai", chat+fields)
	body, lost := asks(t, responses.Back{}, r)
	for _, field := range []string{"service_tier", "metadata", "prompt_cache_key"} {
		if body[field] == nil {
			t.Errorf("%s is gone", field)
		}
	}
	if want := []string{"logprobs", "top_logprobs", "verbosity", "store", "logit_bias"}; len(lost) != len(want) {
		t.Errorf("losses %q, want of %q", lost, want)
	}
	for _, to := range []wire.Back{responses.Back{}, ollama.Back{}, gemini.Back{}, anthropic.Back{}} {
		_, lost := asks(t, to, r)
		has := map[string][]string{"responses.Back": {"top_logprobs", "verbosity", "store"}, "ollama.Back": {"logprobs", "top_logprobs"},
			"gemini.Back": {"logprobs"}, "anthropic.Back": {"metadata", "service_tier"}}[fmt.Sprintf("%T", to)]
		for _, field := range has {
			if slices.Contains(lost, field+": dropped: only openai has it") {
				t.Errorf("%T has %s too: %q", to, field, lost)
			}
		}
		if !slices.Contains(lost, "logit_bias: dropped: only openai has it") {
			t.Errorf("%T: %q", to, lost)
		}
	}
	back := fromClient(t, "responses", `{"model":"m","input":"x","service_tier":"flex","metadata":{"a":"b"}}`)
	if body, lost := asks(t, openai.Back{Server: openai.OpenAI}, back); body["service_tier"] == nil || body["metadata"] == nil || len(lost) > 0 {
		t.Errorf("%s, losses %q", body, lost)
	}
	if body, lost := asks(t, openai.Back{}, back); body["metadata"] != nil || len(lost) != 2 { // of another vendor
		t.Errorf("%s, losses %q", body, lost)
	}
}

// JSON of any form is asked for in words where only a schema holds the model to it.
func TestAnyJSONIsAskedForOfAnthropic(t *testing.T) {
	r := fromClient(t, "openai", `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"x"}],"response_format":{"type":"json_object"}}`)
	body, lost := asks(t, anthropic.Back{}, r)
	if !strings.Contains(string(body["system"]), "Answer with one JSON object") || len(lost) != 1 || !strings.Contains(lost[0], "params.schema: asked for in the system prompt") {
		t.Errorf("%s, losses %q", body["system"], lost)
	}
}

// A choice of a tool that is not offered is the client's mistake, and says where.
func TestAChoiceOfAToolThatIsNotOfferedIsRefused(t *testing.T) {
	for api, c := range map[string]struct{ body, at string }{
		"openai":    {chat + `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"g"}}}`, "tool_choice"},
		"responses": {`{"input":"x","tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"g"}}`, "tool_choice"},
		"anthropic": {chat + `"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"g"}}`, "tool_choice"},
		"gemini": {`{"contents":[],"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}}}`,
			"toolConfig.functionCallingConfig.allowedFunctionNames"},
	} {
		f := fronts[api]
		_, _, err := f.front.Read(wire.HTTPRequest{Method: "POST", Path: f.path, Body: []byte(c.body)})
		var input *wire.InputError
		if !errors.As(err, &input) || input.Path != c.at || !strings.Contains(err.Error(), "not g") {
			t.Errorf("%s: %v", api, err)
		}
		if status, _ := f.front.Error(err); status != 400 {
			t.Errorf("%s: status %d", api, status)
		}
	}
	// In a request of our own it is left to the model, which is told.
	r := &utp.Request{Model: "m", Messages: []utp.Message{utp.NewText(utp.RoleUser, "x")}, Tools: []utp.Tool{{Name: "f"}}, Choice: utp.Choice{Mode: utp.ChoiceNamed, Name: "g"}}
	for _, to := range []wire.Back{openai.Back{}, responses.Back{}, anthropic.Back{}, gemini.Back{}, ollama.Back{}} {
		if body, lost := asks(t, to, r); body["tools"] == nil || !slices.Contains(lost, "choice.mode: left to the model: g is not offered") {
			t.Errorf("%T: %s, losses %q", to, body, lost)
		}
	}
}

// How closely an image is looked at is said by both of OpenAI's APIs, and told as
// lost to others.
func TestTheDetailOfAnImageCrosses(t *testing.T) {
	chatImage := `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"high"}}]}]}`
	input := `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"}]}]}`
	if body, lost := asks(t, responses.Back{}, fromClient(t, "openai", chatImage)); !strings.Contains(string(body["input"]), `"detail":"high"`) || len(lost) > 0 {
		t.Errorf("%s, losses %q", body["input"], lost)
	}
	if body, lost := asks(t, openai.Back{}, fromClient(t, "responses", input)); !strings.Contains(string(body["messages"]), `"detail":"low"`) || len(lost) > 0 {
		t.Errorf("%s, losses %q", body["messages"], lost)
	}
	for _, to := range []wire.Back{anthropic.Back{}, gemini.Back{}, ollama.Back{}} {
		if _, lost := asks(t, to, fromClient(t, "openai", chatImage)); len(lost) != 1 || !strings.HasPrefix(lost[0], "messages[0].parts[0].detail: dropped") {
			t.Errorf("%T: %q", to, lost)
		}
	}
}

// The id of a person's device goes to the vendor that it was made for alone, and
// no name of a user is longer than the server takes.
func TestAUserIsNoDeviceAndShort(t *testing.T) {
	device := `{\"device_id\":\"d0d0\",\"account_uuid\":\"\",\"session_id\":\"5e55\"}`
	older := "user_" + strings.Repeat("ab", 32) + "_account__session_5e55"
	claude := func(user string) *utp.Request {
		return fromClient(t, "anthropic", chat+`"max_tokens":9,"metadata":{"user_id":"`+user+`"}}`)
	}
	for _, user := range []string{device, older} {
		r := claude(user)
		var before string
		for _, to := range []wire.Back{openai.Back{}, openai.Back{Server: openai.OpenAI}, responses.Back{}} {
			body, lost := asks(t, to, r)
			got := string(body["user"]) + string(body["safety_identifier"])
			if len(got) != 34 || strings.ContainsAny(got, "_{") || before != "" && got != before {
				t.Errorf("%T: %s after %s", to, got, before)
			}
			if before = got; !slices.ContainsFunc(lost, func(l string) bool { return strings.HasPrefix(l, "params.user: sent as a hash") }) {
				t.Errorf("%T: %q", to, lost)
			}
		}
		if body, lost := asks(t, anthropic.Back{}, r); string(body["metadata"]) != `{"user_id":"`+user+`"}` || len(lost) > 0 {
			t.Errorf("to its own API: %s, %q", body["metadata"], lost)
		}
	}
	for n, same := range map[int]bool{64: true, 65: false} {
		long := strings.Repeat("é", n)
		for _, r := range []*utp.Request{fromClient(t, "openai", chat+`"user":"`+long+`"}`), fromClient(t, "openai", chat+`"safety_identifier":"`+long+`"}`),
			fromClient(t, "responses", `{"input":"x","user":"`+long+`"}`), fromClient(t, "responses", `{"input":"x","safety_identifier":"`+long+`"}`)} {
			for _, to := range []wire.Back{openai.Back{}, responses.Back{}} {
				body, _ := asks(t, to, r)
				if whole := fmt.Sprintf("%s", body); strings.Contains(whole, long) != same {
					t.Errorf("%T, %d: %s", to, n, whole)
				}
			}
		}
	}
	if _, lost := asks(t, anthropic.Back{}, fromClient(t, "openai", chat+`"user":"`+strings.Repeat("x", 300)+`"}`)); len(lost) != 1 {
		t.Errorf("%q", lost)
	}
}
