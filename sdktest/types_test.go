package sdktest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	backanthropic "github.com/unifiedtoolprotocol/utp/wire/anthropic"
	backgemini "github.com/unifiedtoolprotocol/utp/wire/gemini"
	backollama "github.com/unifiedtoolprotocol/utp/wire/ollama"
	backopenai "github.com/unifiedtoolprotocol/utp/wire/openai"
	backresponses "github.com/unifiedtoolprotocol/utp/wire/responses"
)

// geminiRequest is the body of generateContent, of which the SDK has the pieces.
type geminiRequest struct {
	Contents          []*genai.Content        `json:"contents,omitempty"`
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

// backs are with the vendors' types for what they write.
var backs = map[string]struct {
	back    wire.Back
	request func() any
	part    string // what the vendor's type holds only in part
}{
	"openai":    {backopenai.Back{Server: backopenai.OpenAI}, func() any { return new(openai.ChatCompletionNewParams) }, ""},
	"responses": {backresponses.Back{}, func() any { return new(responses.ResponseNewParams) }, ""},
	"anthropic": {backanthropic.Back{}, func() any { return new(anthropic.MessageNewParams) }, ""},
	"gemini":    {backgemini.Back{}, func() any { return new(geminiRequest) }, ""},
	"ollama":    {backollama.Back{}, func() any { return new(api.ChatRequest) }, "parameters"},
}

// What a Back writes is read into the vendor's own types, which write the same.
func TestTheTypesHoldWhatTheBacksWrite(t *testing.T) {
	files, err := filepath.Glob(conversations + "/*/utp.json")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d conversations (%v)", len(files), err)
	}
	for provider, b := range backs {
		for _, file := range files {
			name := filepath.Base(filepath.Dir(file))
			t.Run(provider+"/"+name, func(t *testing.T) {
				c := load(t, name)
				x, err := b.back.Open(&c.Request)
				if err != nil {
					t.Fatal(err)
				}
				body := bytes.ReplaceAll(x.Body, []byte(anySignature), []byte("c2tpcA=="))
				v := b.request()
				if err := json.Unmarshal(body, v); err != nil {
					t.Fatalf("%v\n%s", err, body)
				}
				again, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(essence(value(body), b.part), essence(value(again), b.part)); diff != "" {
					t.Errorf("after the SDK's types (-written +again):\n%s", diff)
				}
			})
		}
	}
}

// anySignature is Google's word for a call of another model. It is base64 with
// the other alphabet, which the server reads and the Go SDK does not.
const anySignature = "skip_thought_signature_validator"

// essence takes out of a request what the SDKs write in another way, or beside
// the types: stream, nulls, empty arguments, and a content that is one text; and
// a choice of one tool, which OpenAI's SDK cannot read though it writes it.
func essence(v any, part string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = essence(v[i], part)
		}
	case map[string]any:
		for k, field := range v {
			args, _ := field.(map[string]any)
			text, isText := field.(string)
			switch {
			case field == nil, k == "stream", k == part, k == "args" && len(args) == 0:
				delete(v, k)
			case k == "tool_choice" && namesTool(field):
				delete(v, k)
			case isText && (k == "content" || k == "system"):
				v[k] = []any{map[string]any{"type": "text", "text": text}}
			default:
				v[k] = essence(field, part)
			}
		}
	}
	return v
}

func namesTool(choice any) bool {
	m, _ := choice.(map[string]any)
	return m["type"] == "function"
}

func TestTheTypesNameATool(t *testing.T) {
	r := hello()
	r.Tools, r.Choice = []utp.Tool{{Name: "f"}}, utp.Choice{Mode: utp.ChoiceNamed, Name: "f"}
	for provider, want := range map[string]any{
		"openai":    openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "f"}),
		"responses": responses.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &responses.ToolChoiceFunctionParam{Name: "f"}},
	} {
		x, err := backs[provider].back.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(want)
		if got := object(x.Body)["tool_choice"]; err != nil || !cmp.Equal(value(b), got) {
			t.Errorf("%s: %v, want %s", provider, got, b)
		}
	}
}

// The types leave out what they do not know: the test above can fail.
func TestTheTypesDropWhatTheyDoNotKnow(t *testing.T) {
	for name, b := range backs {
		v := b.request()
		if err := json.Unmarshal([]byte(`{"surely_unknown":1}`), v); err != nil {
			t.Fatal(name, err)
		}
		if again, err := json.Marshal(v); err != nil || bytes.Contains(again, []byte("surely_unknown")) {
			t.Errorf("%s: %s (%v)", name, again, err)
		}
	}
}

// What the Front of an API without a strict SDK writes has nothing that the
// vendor's types do not.
func TestTheTypesHoldWhatTheFrontsWrite(t *testing.T) {
	for _, name := range carried {
		c := load(t, name)
		for provider, reply := range map[string]func() any{
			"gemini": func() any { return new(genai.GenerateContentResponse) },
			"ollama": func() any { return new(api.ChatResponse) },
		} {
			stamp := wire.Stamp{ID: "id_1", Unix: 1787306400}
			body, _, err := fronts[provider].Whole(&c.Request, c.Reply, stamp)
			if err != nil {
				t.Fatal(err)
			}
			writer := fronts[provider].Writer(&c.Request, stamp)
			frames := []wire.Frame{{Data: body}}
			for _, e := range utp.Replay(c.Reply) {
				frames = append(frames, writer.Write(e)...)
			}
			for _, f := range append(frames, writer.Close(nil)...) {
				strict(t, provider+"/"+name, f.Data, reply())
			}
		}
	}
}

// strict reads into v, and what v then writes has to be the same.
func strict(t *testing.T, name string, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Errorf("%s: %v\n%s", name, err, data)
		return
	}
	again, err := json.Marshal(v)
	if diff := cmp.Diff(essence(zeroless(value(data)), ""), essence(zeroless(value(again)), "")); err != nil || diff != "" {
		t.Errorf("%s: %v (-written +again):\n%s", name, err, diff)
	}
}

// zeroless takes out zeros and empty texts, which Go's types leave out.
func zeroless(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = zeroless(v[i])
		}
	case map[string]any:
		for k, field := range v {
			if field == "" || field == 0.0 || field == false {
				delete(v, k)
			} else {
				v[k] = zeroless(field)
			}
		}
	}
	return v
}
