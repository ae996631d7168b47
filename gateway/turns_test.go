package gateway_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// responseID is the id of a response, whole or streamed.
func responseID(t *testing.T, body string) string {
	t.Helper()
	_, rest, found := strings.Cut(body, `"id":"resp_`)
	id, _, _ := strings.Cut(rest, `"`)
	if !found || id == "" {
		t.Fatalf("no id in %s", body)
	}
	return "resp_" + id
}

// TestPreviousResponse continues conversations by the id of their last reply.
func TestPreviousResponse(t *testing.T) {
	for _, back := range apis {
		for _, stream := range []string{"false", "true"} {
			m := newModel(back, func(turn int, _ *utp.Request) []utp.Event {
				if turn == 1 {
					return says("", utp.Call{ID: "call_7", Name: "get_weather", Args: json.RawMessage(`{"city":"Paris"}`)})
				}
				return says("It rains.")
			})
			url := start(t, m, backend.Config{Provider: back.name}, func(c *gateway.Config) { c.NewID = ids() })
			const tool = `"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]`
			ask := func(body string) string {
				resp, text := get(t, "POST", url+"/v1/responses", `{"model":"m","stream":`+stream+`,`+tool+`,`+body+`}`)
				if resp.StatusCode != 200 {
					t.Fatalf("%s, stream %s: HTTP %d: %s", back.name, stream, resp.StatusCode, text)
				}
				return text
			}
			first := ask(`"instructions":"Be brief.","input":"What is the weather?"`)
			_, rest, _ := strings.Cut(first, `"call_id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			second := ask(`"instructions":"Be kind.","previous_response_id":"` + responseID(t, first) + `","input":[{"type":"function_call_output","call_id":"` + id + `","output":"12 degrees"}]`)
			ask(`"previous_response_id":"` + responseID(t, second) + `","input":"Thanks."`)
			ask(`"previous_response_id":"` + responseID(t, first) + `","input":[{"type":"function_call_output","call_id":"` + id + `","output":"another branch"}]`)

			says := textOf(m.Asked()[2])
			for _, want := range []string{"What is the weather?", "12 degrees", "It rains.", "Thanks."} {
				if strings.Count(says, want) != 1 {
					t.Errorf("%s, stream %s: the third request has %q %d times: %s", back.name, stream, want, strings.Count(says, want), says)
				}
			}
			if second := textOf(m.Asked()[1]); !strings.Contains(second, "Be kind.") || strings.Contains(second, "Be brief.") {
				t.Errorf("%s: instructions: %s", back.name, second)
			}
			if fourth := textOf(m.Asked()[3]); !strings.Contains(fourth, "another branch") || strings.Contains(fourth, "12 degrees") {
				t.Errorf("%s: a branch: %s", back.name, fourth)
			}
		}
	}
}

func TestPreviousResponseThatIsNotThere(t *testing.T) {
	m := hello(apis[0])
	url := start(t, m, backend.Config{Provider: "openai"}, func(c *gateway.Config) {
		c.NewID = ids()
		for _, name := range []string{"alice", "bob"} {
			c.Clients = append(c.Clients, gateway.Client{Name: name, Key: sha256.Sum256([]byte(name))})
		}
	})
	ask := func(who, body string) (int, string) {
		resp, text := get(t, "POST", url+"/v1/responses", `{"model":"m",`+body+`}`, "x-api-key", who)
		return resp.StatusCode, text
	}
	_, kept := ask("alice", `"input":"Hi."`)
	_, unkept := ask("alice", `"input":"Hi.","store":false`)
	for _, tt := range []struct {
		who, body string
		want      int
	}{
		{"alice", `"input":"More.","previous_response_id":"` + responseID(t, kept) + `"`, 200},
		{"bob", `"input":"More.","previous_response_id":"` + responseID(t, kept) + `"`, 404},
		{"alice", `"input":"More.","previous_response_id":"` + responseID(t, unkept) + `"`, 404},
		{"alice", `"input":"More.","previous_response_id":"resp_none"`, 404},
		{"alice", `"input":"More.","conversation":"conv_1"`, 400},
		{"alice", `"input":"More.","background":true`, 400},
		{"alice", `"input":"More.","background":"yes"`, 400},
		{"alice", `"input":"More.","previous_response_id":5`, 400},
		{"alice", `"input":"More.","store":"no"`, 400},
	} {
		if got, text := ask(tt.who, tt.body); got != tt.want {
			t.Errorf("%s, %s: HTTP %d: %s", tt.who, tt.body, got, text)
		}
	}
}

// What is kept is the key's and not the name's: a key that is made anew under a name has
// nothing of the one before, one of the file that is only called otherwise keeps its own.
func TestConversationsAreTheKeysAndNotTheNames(t *testing.T) {
	b := books(t, nil, nil)
	named := func(name, key string) gateway.Client {
		return gateway.Client{Name: name, Key: sha256.Sum256([]byte(key))}
	}
	var conf gateway.Config
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) {
		c.Clients = []gateway.Client{named("alice", "a1")}
		conf = *c
	})
	renamed := conf
	renamed.Clients = []gateway.Client{named("carol", "a1"), named("alice", "a2")}
	after := listen(t, renamed)
	ask := func(url, key, previous string) (int, string) {
		t.Helper()
		resp, text := get(t, "POST", url+"/v1/responses", fmt.Sprintf(`{"model":"m","input":"Hi.","previous_response_id":%q}`, previous), "Authorization", "Bearer "+key)
		return resp.StatusCode, text
	}
	create := func(id, name string) {
		t.Helper()
		if err := b.CreateKey(t.Context(), "operator", fleet.Key{ID: id, Name: name, Created: time.Now()}, sha256.Sum256([]byte(id))); err != nil {
			t.Fatal(err)
		}
	}
	create("first", "ci")
	_, text := ask(url, "first", "")
	team := responseID(t, text)
	_, text = ask(url, "a1", "")
	own := responseID(t, text)
	if err := b.DeleteKey(t.Context(), "operator", "first", time.Now()); err != nil {
		t.Fatal(err)
	}
	create("second", "ci")
	for _, tt := range []struct {
		url, key, previous string
		want               int
	}{{url, "second", team, 404}, {url, "a1", team, 404}, {after, "a1", own, 200}, {after, "a2", own, 404}, {after, "second", own, 404}} {
		if got, text := ask(tt.url, tt.key, tt.previous); got != tt.want {
			t.Errorf("%s asks for %s: %d, want %d: %s", tt.key, tt.previous, got, tt.want, text)
		}
	}
}

// What is kept is bounded, and the oldest goes first.
func TestKeptIsBounded(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.NewID, c.Limits.Kept = ids(), 100<<10 })
	var all []string
	for range 10 {
		_, text := get(t, "POST", url+"/v1/responses", `{"model":"m","input":"`+strings.Repeat("long ", 5000)+`"}`)
		all = append(all, responseID(t, text))
	}
	for i, want := range map[int]int{0: 404, 9: 200} {
		if resp, _ := get(t, "POST", url+"/v1/responses", `{"model":"m","input":"x","previous_response_id":"`+all[i]+`"}`); resp.StatusCode != want {
			t.Errorf("response %d: HTTP %d, want %d", i, resp.StatusCode, want)
		}
	}
}

// What a provider must see again of a call comes back to it, though the client's
// API has no place for it.
func TestSignaturesComeBack(t *testing.T) {
	for _, front := range []string{"openai", "ollama"} {
		for _, back := range []string{"anthropic", "gemini", "responses"} {
			for _, stream := range []bool{false, true} {
				m := newModel(apiNamed(back), func(turn int, q *utp.Request) []utp.Event {
					if turn > 1 {
						return says("Done.")
					}
					think := utp.Think{Signature: "c2lnbmF0dXJl", Provider: back, Model: "m"}
					evs := []utp.Event{{Kind: utp.EventThink, Text: "Hm."}, {Kind: utp.EventPartEnd, Value: think}}
					for _, e := range says("", utp.Call{ID: "call_1", Name: "get_weather", Args: json.RawMessage(`{"city":"Paris"}`)}) {
						e.Part++
						evs = append(evs, e)
					}
					return evs
				})
				url := start(t, m, backend.Config{Provider: back})
				q := offer(stream)
				reply, err := apiNamed(front).ask(t, url, q)
				if err != nil || len(reply.Calls()) != 1 {
					t.Fatalf("%s in front of %s: %+v, %v", front, back, reply, err)
				}
				c := reply.Calls()[0]
				c.Extra = nil
				q.Messages = append(q.Messages, utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}},
					utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.Result{CallID: c.ID, Name: c.Name, Status: utp.StatusOK, Parts: []utp.Part{utp.Text{Text: "12"}}}}})
				if _, err := apiNamed(front).ask(t, url, q); err != nil {
					t.Fatal(err)
				}
				sent, err := json.Marshal(m.Asked()[1].Messages)
				if err != nil || !strings.Contains(string(sent), "c2lnbmF0dXJl") {
					t.Errorf("%s in front of %s, stream %v: the signature did not come back: %s", front, back, stream, sent)
				}
			}
		}
	}
}

// What is kept of calls is bounded too, and each client's is its own.
func TestSignaturesAreBoundedAndTheClientsOwn(t *testing.T) {
	n := 0
	m := newModel(apiNamed("gemini"), func(int, *utp.Request) []utp.Event {
		n++
		id, seal := fmt.Sprintf("call_%d", n), fmt.Sprintf("c2VhbDAwM%02d=", n)
		evs := []utp.Event{{Kind: utp.EventWhole, Value: utp.Think{Signature: seal, Provider: "gemini", Model: "m"}}}
		for _, e := range says("", utp.Call{ID: id, Name: "get_weather", Args: json.RawMessage(`{"city":"Paris"}`)}) {
			e.Part++
			evs = append(evs, e)
		}
		return evs
	})
	url := start(t, m, backend.Config{Provider: "gemini"}, func(c *gateway.Config) {
		c.NewID, c.Limits.Kept = ids(), 8<<10
		for _, name := range []string{"alice", "bob"} {
			c.Clients = append(c.Clients, gateway.Client{Name: name, Key: sha256.Sum256([]byte(name))})
		}
	})
	var calls []utp.Call
	for range 20 {
		resp, body := apis[0].post(t, url, offer(false), "x-api-key", "alice")
		reply, err := apis[0].read(t, offer(false), resp, body)
		if err != nil || len(reply.Calls()) != 1 {
			t.Fatalf("%+v, %v", reply, err)
		}
		c := reply.Calls()[0]
		c.Extra = nil
		calls = append(calls, c)
	}
	for _, tt := range []struct {
		who  string
		call int
		want bool
	}{{"alice", 19, true}, {"bob", 19, false}, {"alice", 0, false}} {
		q, c := offer(false), calls[tt.call]
		q.Messages = append(q.Messages, utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}}, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "12")}})
		m.Begin(m.Say)
		apis[0].post(t, url, q, "x-api-key", tt.who)
		sent, err := json.Marshal(m.Asked()[0].Messages)
		if err != nil {
			t.Fatal(err)
		}
		if seal := fmt.Sprintf("c2VhbDAwM%02d=", tt.call+1); strings.Contains(string(sent), seal) != tt.want {
			t.Errorf("%s, call %d: the seal comes back: %v, want %v: %s", tt.who, tt.call, !tt.want, tt.want, sent)
		}
	}
}

// TestParallelCallsOfOllamasAPIGoInOneLine: what one text block or one frame of a
// server holds, and a call that comes alone goes out before the next one is there.
func TestParallelCallsOfOllamasAPIGoInOneLine(t *testing.T) {
	oslo := `{"function":{"name":"get_weather","arguments":{"city":"Oslo"}}}`
	bergen := `{"function":{"name":"get_weather","arguments":{"city":"Bergen"}}}`
	for name, c := range map[string]struct {
		messages []string
		want     int // lines with calls
	}{
		"a frame":      {[]string{`"content":"","tool_calls":[` + oslo + `,` + bergen + `]`}, 1},
		"two frames":   {[]string{`"content":"","tool_calls":[` + oslo + `]`, `"content":"","tool_calls":[` + bergen + `]`}, 2},
		"a text block": {[]string{`"content":"<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Oslo\"}}\n</tool_call>\n<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Bergen\"}}\n</tool_call>\n"`}, 1}, // the line ends, so nothing is waited for
	} {
		sent := make(chan bool)
		up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/chat" {
				_, _ = io.WriteString(w, `{"models":[],"capabilities":["completion","tools"]}`)
				return
			}
			for i, m := range c.messages {
				if i > 0 {
					<-sent // the client has the call before this one
				}
				fmt.Fprintf(w, `{"model":"m","message":{"role":"assistant",%s},"done":false}`+"\n", m)
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`+"\n")
		})
		url := start(t, up, backend.Config{Provider: "ollama"})
		resp, err := http.Post(url+"/api/chat", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Weather?"}],"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		lines, calls := 0, 0
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if n := strings.Count(s.Text(), `"name":"get_weather"`); n > 0 {
				lines, calls = lines+1, calls+n
				if lines < len(c.messages) {
					sent <- true
				}
			}
		}
		resp.Body.Close()
		if lines != c.want || calls != 2 {
			t.Errorf("%s: %d calls in %d lines, want 2 in %d", name, calls, lines, c.want)
		}
	}
}
