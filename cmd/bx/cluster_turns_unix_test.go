//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// said is what a replica answers with status 200.
func (r *replica) said(t *testing.T, path, key, body string) (http.Header, []byte) {
	t.Helper()
	q, err := http.NewRequest(http.MethodPost, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+key)
	q.Header.Set("Content-Type", "application/json")
	resp, err := caller.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s, %v", path, resp.Status, text, err)
	}
	return resp.Header, text
}

// Each turn of a conversation is answered by another replica.
func TestClusterAnswersAnyTurn(t *testing.T) {
	for _, redis := range []bool{false, true} {
		c := newCluster(t, redis, true, "")
		key, id := c.key(t, "k", fleet.Amount{}), ""
		for turn := range 6 {
			body := fmt.Sprintf(`{"model":"m","input":"Turn %d.","previous_response_id":%q}`, turn, id)
			if id == "" {
				body = `{"model":"m","input":"Turn 0."}`
			}
			_, text := c.replicas[turn%3].said(t, "/v1/responses", key, body)
			var said struct{ ID string }
			if json.Unmarshal(text, &said) != nil || !strings.Contains(string(text), fmt.Sprintf("%d messages", 2*turn+1)) {
				t.Fatalf("redis %v, turn %d: %s", redis, turn, text)
			}
			id = said.ID
		}
	}
}

// sealed are the providers that want to see their reasoning again, signed or
// encrypted, as their models give it.
var sealed = map[string]struct {
	front   wire.Front
	thought utp.Think
}{
	"anthropic": {anthropic.Front{}, utp.Think{Text: "Hm.", Signature: "c2VhbA==", Provider: "anthropic", Model: "m"}},
	"gemini":    {gemini.Front{}, utp.Think{Signature: "c2VhbA==", Provider: "gemini", Model: "m"}},
	"responses": {responses.Front{}, utp.Think{Text: "Hm.", Signature: "c2VhbA==", ItemID: "rs_1", Provider: "responses", Model: "m"}},
}

// What a provider has signed of its reasoning it sees again, whichever replica the next
// turns of a client come to that has no place for it.
func TestClusterKeepsSeals(t *testing.T) {
	for _, redis := range []bool{false, true} {
		models, more := map[string]*fake.API{}, "[[routes]]\nmatch = [\"m\"]\nto = [\"up\"]\n"
		for api, s := range sealed {
			models[api] = &fake.API{Front: s.front, Framing: wire.SSE, Say: func(_ int, q *utp.Request) []utp.Event {
				if slices.ContainsFunc(q.Messages, func(m utp.Message) bool { return m.Role == utp.RoleAssistant }) {
					return []utp.Event{{Kind: utp.EventText, Text: "Done."}, {Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopEnd}}}
				}
				call := utp.Call{ID: "call_1", Name: "list_cities", Args: []byte(`{}`), Source: utp.SourceNative}
				return []utp.Event{{Kind: utp.EventWhole, Value: s.thought}, {Kind: utp.EventWhole, Part: 1, Value: call}, {Kind: utp.EventFinish, Part: 2, End: &utp.End{Stop: utp.StopTool}}}
			}}
			up := httptest.NewServer(models[api])
			t.Cleanup(up.Close)
			more += fmt.Sprintf("[[routes]]\nmatch = [%q]\nto = [%q]\n[backends.%s]\nprovider = %q\nurl = %q\n", api, api+"/m", api, api, up.URL)
		}
		c := newCluster(t, redis, true, more)
		key := c.key(t, "k", fleet.Amount{})
		for api, model := range models {
			const tools = `"tools":[{"type":"function","function":{"name":"list_cities","parameters":{"type":"object","properties":{}}}}]`
			talk := `{"role":"user","content":"All."}`
			_, text := c.replicas[0].said(t, "/v1/chat/completions", key, fmt.Sprintf(`{"model":%q,%s,"messages":[%s]}`, api, tools, talk))
			var said struct {
				Choices []struct {
					Message struct {
						Calls []struct {
							ID       string          `json:"id"`
							Function json.RawMessage `json:"function"`
						} `json:"tool_calls"`
					}
				}
			}
			if err := json.Unmarshal(text, &said); err != nil || len(said.Choices) != 1 || len(said.Choices[0].Message.Calls) != 1 || strings.Contains(string(text), "c2VhbA==") {
				t.Fatalf("%s: %s, %v", api, text, err)
			}
			first := said.Choices[0].Message.Calls[0]
			talk += fmt.Sprintf(`,{"role":"assistant","tool_calls":[{"id":%q,"type":"function","function":%s}]},{"role":"tool","tool_call_id":%q,"content":"Rome"}`, first.ID, first.Function, first.ID)
			for turn := 1; turn < 6; turn++ {
				c.replicas[turn%3].said(t, "/v1/chat/completions", key, fmt.Sprintf(`{"model":%q,%s,"messages":[%s]}`, api, tools, talk))
				talk += `,{"role":"assistant","content":"Done."},{"role":"user","content":"And?"}`
			}
			for turn, q := range model.Asked()[1:] {
				seals := 0
				for _, m := range q.Messages {
					for _, p := range m.Parts {
						if th, ok := p.(utp.Think); ok && th.Signature == "c2VhbA==" {
							seals++
						}
					}
				}
				if seals != 1 {
					t.Errorf("redis %v, %s, turn %d: the provider sees %d of its 1 seals", redis, api, turn+2, seals)
				}
			}
		}
	}
}

// A conversation keeps the form of its tools, also at replicas that have learned that
// another one is better.
func TestClusterKeepsLearnedForms(t *testing.T) {
	examined := func(best, other string) string {
		asked := strings.Repeat(fmt.Sprintf(`{"form":%q,"probe":"call","verdict":"yes","due":true,"called":true},`, best), 9)
		return fmt.Sprintf(`{"v":1,"model":"m","server":"x","over":true,"tool_format":%q,"asked":[%s{"form":%q,"probe":"call","verdict":"yes","due":true,"called":true},{"form":%q,"probe":"call","verdict":"no","due":true,"called":true}]}`, best, asked, other, other)
	}
	for _, redis := range []bool{false, true} {
		c := newCluster(t, redis, true, "[[routes]]\nmatch = [\"learned\"]\nto = [\"up/m\"]\ntool_format = \"learned\"\n")
		for i, r := range c.replicas {
			r.kill()
			home := t.TempDir()
			file := filepath.Join(home, "data", "bx", "doctor", "m.json")
			text := examined("react", "hermes")
			if i == 0 {
				text = examined("hermes", "react")
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r.env = environment(home)
			r.start(t)
		}
		key := c.key(t, "k", fleet.Amount{})
		form := func(at int, question string, turns int) string {
			talk := fmt.Sprintf(`{"role":"user","content":%q}`, question)
			for range turns {
				talk += `,{"role":"assistant","content":"Well."},{"role":"user","content":"Go on."}`
			}
			h, _ := c.replicas[at].said(t, "/v1/chat/completions", key, `{"model":"learned","messages":[`+talk+`],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]}`)
			name, _, _ := strings.Cut(h.Get("X-Bx-Form"), ":")
			return name
		}
		for turn := range 6 {
			if got := form(turn%3, "One.", turn); got != "hermes" {
				t.Errorf("redis %v, turn %d: told in %q, it began in hermes", redis, turn+1, got)
			}
			if got := form((turn+1)%3, "Two.", turn); got != "react" {
				t.Errorf("redis %v, turn %d: told in %q, it began in react", redis, turn+1, got)
			}
		}
	}
}
