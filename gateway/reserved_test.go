package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/price"
)

// answer is what a backend says to one request.
type answer struct {
	status int
	body   string
}

func plainly(text string) answer {
	return answer{200, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":` + text + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":3}}`}
}

// Each request to a backend has a reservation of its own before it is sent, whatever
// it is sent for, and all of them are settled once.
func TestEachRequestIsReservedBeforeItIsSent(t *testing.T) {
	busy, limited429 := answer{503, `{"error":{"message":"busy"}}`}, answer{429, `{"error":{"message":"slow down"}}`}
	const offers = `{"model":"m","max_tokens":10,"tool_choice":"required","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"Hi."}]}`
	const result = `{"model":"m","max_tokens":10,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"Hi."},
		{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"x"}]}`
	vectors := answer{200, `{"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":10,"total_tokens":10}}`}
	twoKeys := func(_ *testing.T, to gateway.Target, _ http.Handler) gateway.Route {
		to.Keys = []gateway.Key{{Name: "a", Backend: to.Backend}, {Name: "b", Backend: to.Backend}}
		return gateway.Route{To: []gateway.Target{to}}
	}
	for _, tt := range []struct {
		name, path, body string
		says             []answer
		tokens           int64 // settled
		more             func(t *testing.T, to gateway.Target, up http.Handler) gateway.Route
	}{
		{"whole", "/v1/chat/completions", limited, []answer{plainly(`"Hello."`)}, 13, nil},
		{"a call that is missing", "/v1/chat/completions", offers, []answer{plainly(`"No."`), plainly(`"{\"name\":\"f\",\"arguments\":{}}"`)}, 26, nil},
		{"a result answered with nothing", "/v1/chat/completions", result, []answer{plainly(`""`), plainly(`"Good."`)}, 26, nil},
		{"the same once more", "/v1/chat/completions", limited, []answer{busy, busy, plainly(`"Hello."`)}, 13, func(_ *testing.T, to gateway.Target, _ http.Handler) gateway.Route {
			to.Retries = 2
			return gateway.Route{To: []gateway.Target{to}}
		}},
		{"without what is refused", "/v1/chat/completions", strings.Replace(limited, "{", `{"top_p":0.5,`, 1), []answer{{400, `{"error":{"message":"Unsupported parameter: 'top_p' is not supported with this model.","type":"invalid_request_error","param":"top_p","code":"unsupported_parameter"}}`}, plainly(`"Hello."`)}, 13, nil},
		{"a fallback", "/v1/chat/completions", limited, []answer{busy, plainly(`"Hello."`)}, 13, func(t *testing.T, to gateway.Target, up http.Handler) gateway.Route {
			return gateway.Route{To: []gateway.Target{to}, Else: []gateway.Target{behind(t, "other", "openai", up)}}
		}},
		{"an empty reply before a fallback", "/v1/chat/completions", limited, []answer{plainly(`""`), plainly(`"Hello."`)}, 26, func(t *testing.T, to gateway.Target, up http.Handler) gateway.Route {
			return gateway.Route{To: []gateway.Target{to}, Else: []gateway.Target{behind(t, "other", "openai", up)}}
		}},
		{"another key", "/v1/chat/completions", limited, []answer{limited429, plainly(`"Hello."`)}, 13, twoKeys},
		{"embeddings", "/v1/embeddings", `{"model":"m","input":"a"}`, []answer{vectors}, 10, nil},
		{"embeddings of another API", "/api/embed", `{"model":"m","input":"a"}`, []answer{vectors}, 10, nil},
		{"what passes through", "/v1/completions", `{"model":"m","prompt":"a","max_tokens":5}`, []answer{{200, `{"usage":{"prompt_tokens":10,"completion_tokens":3}}`}}, 13, nil},
		{"another key for what passes through", "/v1/completions", `{"model":"m","prompt":"a","max_tokens":5}`, []answer{limited429, {200, `{"usage":{"prompt_tokens":10,"completion_tokens":3}}`}}, 13, twoKeys},
		{"another key for embeddings of another API", "/api/embed", `{"model":"m","input":"a"}`, []answer{limited429, vectors}, 10, twoKeys},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
			var came atomic.Int64
			up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/v1/") {
					http.NotFound(w, r) // what the server is
					return
				}
				n := int(came.Add(1))
				var open int
				all := b.entries(t)
				for _, e := range all {
					if e.Ending == fleet.Open {
						open++
					}
				}
				if len(all) != n || open == 0 {
					t.Errorf("request %d: %d reservations, of which %d are open", n, len(all), open)
				}
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.says[min(n, len(tt.says))-1].status)
				_, _ = io.WriteString(w, tt.says[min(n, len(tt.says))-1].body)
			})
			to := behind(t, "up", "openai", up)
			conf := gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{to}}}}
			if tt.more != nil {
				conf.Routes = []gateway.Route{tt.more(t, to, up)}
			}
			b.into(&conf)
			resp, text := get(t, "POST", listen(t, conf)+tt.path, tt.body, "Authorization", b.bearer())
			if resp.StatusCode != http.StatusOK || int(came.Load()) != len(tt.says) {
				t.Errorf("%s after %d requests: %s", resp.Status, came.Load(), text)
			}
			var sum int64
			for i, e := range b.entries(t) {
				sum += e.Amount.Tokens
				want := fleet.Settled
				if tt.says[i].status != http.StatusOK {
					want = fleet.Refused
				}
				if e.Ending != want {
					t.Errorf("request %d: %+v", i+1, e)
				}
			}
			if sum != tt.tokens || b.reserved(t) != (fleet.Amount{}) {
				t.Errorf("%d tokens are settled, want %d; %+v stay reserved", sum, tt.tokens, b.reserved(t))
			}
		})
	}
}
