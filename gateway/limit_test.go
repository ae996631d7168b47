package gateway_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

func explained(c *gateway.Config) { c.Explain = true }

// A call that the output limit cuts, native or in text, ends a reply in "length",
// whole and streamed: text and usage stay, what a stream has shown of the call is
// left as it is, and there is no call to run.
func TestOutputLimitInACall(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":7,"completion_tokens":30,"total_tokens":37}`
	chunk := func(delta, finish, more string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]` + more + "}\n\n"
	}
	long := strings.Repeat("x", 600)
	const text, native = `"Let me look."`, `[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Pa"}}]`
	markup := `"Let me look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"` + long
	for _, tt := range []struct {
		name, message string // the message of a whole reply
		chunks        string
	}{
		{"native", `{"role":"assistant","content":` + text + `,"tool_calls":` + native + `}`,
			chunk(`{"role":"assistant","content":`+text+`}`, "null", "") + chunk(`{"tool_calls":`+native+`}`, "null", "") + chunk("{}", `"length"`, ","+usage) + done},
		{"native without a word", `{"role":"assistant","content":null,"tool_calls":` + native + `}`,
			chunk(`{"tool_calls":`+native+`}`, "null", "") + chunk("{}", `"length"`, ","+usage) + done},
		{"in text", `{"role":"assistant","content":` + markup + `"}`, chunk(`{"role":"assistant","content":`+markup+`"}`, "null", "") + chunk("{}", `"length"`, ","+usage) + done},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.Header.Get("Accept"), "event-stream") {
					stream(tt.chunks)(w, r)
					return
				}
				say("application/json", `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":`+tt.message+`,"finish_reason":"length"}],`+usage+`}`)(w, r)
			})
			whole := start(t, up, backend.Config{Provider: "openai", Retries: -1, Formats: natively}, explained)
			streamed := start(t, stream(tt.chunks), backend.Config{Provider: "openai", Retries: -1, Formats: natively}, explained)
			for _, front := range apis {
				for url, live := range map[string]bool{whole: false, streamed: true} {
					resp, body := front.post(t, url, offer(live))
					reply, err := front.read(t, offer(live), resp, body)
					if err != nil || reply.Stop != utp.StopLength || len(reply.Calls()) > 0 || reply.Usage.Prompt() != 7 || reply.Usage.Completion() != 30 {
						t.Errorf("%s, stream %v: %v, stop %q, calls %+v, usage %+v: %s", front.name, live, err, reply.Stop, reply.Calls(), reply.Usage, body)
					}
					if why := cmp.Or(resp.Header.Get("X-Bx-Problem"), resp.Trailer.Get("X-Bx-Problem")); why != "truncated" {
						t.Errorf("%s, stream %v: X-Bx-Problem %q", front.name, live, why)
					}
					if said := strings.Contains(reply.Text(), "Let me look."); said == strings.Contains(tt.name, "without") {
						t.Errorf("%s, stream %v: text %q", front.name, live, reply.Text())
					}
				}
			}
		})
	}
}
