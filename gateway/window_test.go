package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
)

// overlong is what each API's clients know a prompt by that is too long.
var overlong = map[string][]string{
	"openai":    {`"code":"context_length_exceeded"`, `"type":"invalid_request_error"`},
	"responses": {`"code":"context_length_exceeded"`, `"type":"invalid_request_error"`},
	"anthropic": {`"type":"invalid_request_error"`, "prompt is too long"},
	"gemini":    {`"status":"INVALID_ARGUMENT"`, "input token count", `"code":400`},
	"ollama":    {`{"error":"`, "context length"},
}

func saysOverlong(t *testing.T, a api, resp *http.Response, body string) {
	t.Helper()
	if resp.StatusCode != 400 {
		t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
	}
	for _, want := range overlong[a.name] {
		if !strings.Contains(body, want) {
			t.Errorf("%s: %s lacks %s", a.name, body, want)
		}
	}
}

// The server's own refusal of a prompt reaches the client in its own form.
func TestContextErrorOfTheServerIsPassedOn(t *testing.T) {
	for _, refused := range []string{
		"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
	} {
		url := start(t, refusal(400, refused, ""), backend.Config{Provider: "openai"})
		for _, a := range apis {
			for _, stream := range []bool{false, true} {
				resp, body := a.post(t, url, offer(stream))
				if saysOverlong(t, a, resp, body); !strings.Contains(body, "9000") || !strings.Contains(body, "8192") {
					t.Errorf("%s: the figures are lost: %s", a.name, body)
				}
			}
		}
	}
}

// A prompt that does not fit is sent whole, with a warning; only one with more
// than four characters for each token of the window is refused unsent.
func TestOnlyAHopelessPromptIsRefusedUnsent(t *testing.T) {
	const window = 8192
	for _, a := range apis {
		m := hello(apiNamed("ollama"))
		url := start(t, m, backend.Config{Provider: "ollama", NumCtx: window})
		for length, sent := range map[int]bool{3 * window: true, 5 * window: false} {
			m.Begin(m.Say)
			q := offer(false)
			text := strings.Repeat("is a ", length/5)
			q.Messages = []utp.Message{utp.NewText(utp.RoleUser, text)}
			resp, body := a.post(t, url, q)
			switch {
			case !sent:
				if saysOverlong(t, a, resp, body); len(m.Asked()) > 0 {
					t.Errorf("%s: %d characters were sent to a window of %d", a.name, length, window)
				}
			case resp.StatusCode != 200 || len(m.Asked()) != 1 || m.Asked()[0].Messages[0].Text() != text:
				t.Errorf("%s: HTTP %d, asked %d times: %s", a.name, resp.StatusCode, len(m.Asked()), body)
			case !strings.Contains(resp.Header.Get("X-Bx-Warning"), "may be cut off"):
				t.Errorf("%s: X-Bx-Warning: %q", a.name, resp.Header.Get("X-Bx-Warning"))
			}
		}
	}
}

// An image is no text: its bytes do not count, nor does a long prompt that fits.
func TestWhatFitsIsSentHoweverLong(t *testing.T) {
	m := hello(apiNamed("ollama"))
	url := start(t, m, backend.Config{Provider: "ollama", NumCtx: 8192})
	for name, part := range map[string]utp.Part{
		"an image": utp.Blob{MIME: "image/png", Data: make([]byte, 200_000)},
		"spaces":   utp.Text{Text: strings.Repeat(strings.Repeat(" ", 76)+"end\n", 600)},
	} {
		m.Begin(m.Say)
		q := offer(false)
		q.Messages = []utp.Message{{Role: utp.RoleUser, Parts: []utp.Part{utp.Text{Text: "What is it?"}, part}}}
		if resp, body := apis[0].post(t, url, q); resp.StatusCode != 200 || len(m.Asked()) != 1 {
			t.Errorf("%s: HTTP %d: %s", name, resp.StatusCode, body)
		}
	}
}

// What a server cut in silence is told in a header.
func TestPromptCutByTheServerIsTold(t *testing.T) {
	cut := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"model":"m","message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop","prompt_eval_count":8192,"eval_count":1}` + "\n"))
	})
	url := start(t, cut, backend.Config{Provider: "ollama", NumCtx: 8192})
	resp, body := apis[0].post(t, url, offer(false))
	if said := resp.Header.Get("X-Bx-Warning"); resp.StatusCode != 200 || !strings.Contains(said, "read 8192 tokens of the prompt") {
		t.Errorf("HTTP %d, X-Bx-Warning: %q: %s", resp.StatusCode, said, body)
	}
}
