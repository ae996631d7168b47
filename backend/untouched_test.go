package backend_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// A request in an API's own form goes out byte for byte as its codec writes
// it: no word is added to a prompt, a placeholder stays, and the tools stand in
// their field alone.
//
// contract: CON-42 N-24
func TestANativeRequestIsUntouched(t *testing.T) {
	tool := search
	tool.Description = "Looks for walruses."
	first := question(tool)
	first.Messages[0] = utp.NewText(utp.RoleSystem, "Be brief.\n{{tools}}\n{{tools}\nAlways.")
	second := after(first, utp.Reply{Message: utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{
		utp.Text{Text: "I look."}, utp.Call{ID: "call_1", Name: tool.Name, Args: []byte(`{"query":"auth"}`)}}}})
	for provider, codec := range map[string]wire.Back{
		backend.OpenAI: openai.Back{}, backend.Responses: responses.Back{}, backend.Anthropic: anthropic.Back{}, backend.Gemini: gemini.Back{},
	} {
		for name, q := range map[string]*utp.Request{"first": first, "second": second} {
			want := *q
			want.Model, want.Stream = "m", true
			x, err := codec.Open(&want)
			if err != nil {
				t.Fatal(err)
			}
			got := posted(t, provider, q)
			if got != string(x.Body) {
				t.Errorf("%s, %s request:\nsent  %s\ncodec %s", provider, name, got, x.Body)
			}
			if strings.Count(got, "walruses") != 1 || !strings.Contains(got, "{{tools}}") {
				t.Errorf("%s, %s request: the tools stand elsewhere too: %s", provider, name, got)
			}
		}
	}
}

// posted is the body of the request that a client sends.
func posted(t *testing.T, provider string, q *utp.Request) (body string) {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = string(b)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer h.Close()
	c, err := backend.New(backend.Config{Provider: provider, URL: h.URL, Model: "m", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reply(c, q); err == nil {
		t.Fatal("the server refuses, and nobody says so")
	}
	return body
}

// A tool declared with the types of programs reaches every API, and a prompt, in
// JSON Schema's.
//
// contract: F-15
func TestSimpleTypesBecomeJSONSchema(t *testing.T) {
	tool := search
	tool.Schema = []byte(`{"type":"object","properties":{"ratio":{"type":"float"},"tags":{"type":"list[str]"}}}`)
	for _, provider := range backend.Providers() {
		got := posted(t, provider, question(tool))
		if strings.Contains(strings.ToLower(got), "float") || strings.Contains(got, "list[") || !strings.Contains(strings.ToLower(got), `"items":{"type":"string"}`) {
			t.Errorf("%s: %s", provider, got)
		}
	}
	if string(tool.Schema) != `{"type":"object","properties":{"ratio":{"type":"float"},"tags":{"type":"list[str]"}}}` {
		t.Error("the caller's tool was changed")
	}
}
