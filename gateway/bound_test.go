package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

// A limit that no number of the ledger can hold is above every budget, and not below it.
func TestHugeLimitsAreRefused(t *testing.T) {
	const most = "9223372036854775807"
	for _, tt := range []struct{ name, path, body string }{
		{"chat", "/v1/chat/completions", `{"model":"m","max_tokens":` + most + `,"messages":[{"role":"user","content":"Hi."}]}`},
		{"dear", "/v1/chat/completions", `{"model":"m","max_tokens":4000000000000000,"messages":[{"role":"user","content":"Hi."}]}`},
		{"responses", "/v1/responses", `{"model":"m","max_output_tokens":` + most + `,"input":"Hi."}`},
		{"completions", "/v1/completions", `{"model":"m","max_tokens":` + most + `,"prompt":"Hi."}`},
		{"answers", "/v1/completions", `{"model":"m","max_tokens":4611686018427387904,"n":4,"prompt":"Hi."}`},
	} {
		for unit, day := range map[string]fleet.Amount{"money": {Money: 100 * price.Unit}, "tokens": {Tokens: 100000}} {
			t.Run(tt.name+", "+unit, func(t *testing.T) {
				b := books(t, fleet.Budget{fleet.Day: day}, nil)
				m := costly(apis[0], utp.Usage{Input: 5, Output: 5})
				url := start(t, m, backend.Config{Provider: "openai"}, b.into)
				if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
					t.Fatal(resp.Status, text) // something is used, so that sums may be above what a number holds
				}
				resp, text := get(t, "POST", url+tt.path, tt.body, "Authorization", b.bearer())
				if resp.StatusCode != http.StatusTooManyRequests || len(m.Asked()) != 1 {
					t.Errorf("%s, asked %d times: %s", resp.Status, len(m.Asked()), text)
				}
				if n := b.reserved(t); n != (fleet.Amount{}) {
					t.Errorf("%+v stay reserved", n)
				}
			})
		}
	}
}

// A model that costs nothing may be asked for a reply of any length, and the ledger
// goes on to count.
func TestHugeLimitsOfAFreeModel(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: price.Unit}}, nil)
	url := start(t, costly(apis[0], utp.Usage{Input: 5, Output: 5}), backend.Config{Provider: "openai"}, b.into)
	for range 3 {
		body := strings.NewReplacer(`"m"`, `"free"`, `:10,`, `:9223372036854775807,`).Replace(limited)
		if resp, text := get(t, "POST", url+"/v1/chat/completions", body, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, text)
		}
	}
	for _, e := range b.entries(t) {
		if e.Ending != fleet.Settled || e.Amount != (fleet.Amount{Requests: 1, Tokens: 10}) || e.Most.Tokens < 10 {
			t.Errorf("%+v", e)
		}
	}
}

// Servers read the names of fields with or without regard to case: another spelling
// changes neither the model that a key pays for nor the length of its reply.
func TestFieldsInAnotherSpelling(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: price.Unit}}, nil)
	asked := 0
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked++
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"text":"x"}],"data":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	})
	url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, b.into)
	for _, tt := range []struct{ path, body, field string }{
		{"/v1/completions", `{"model":"dear","Model":"m","prompt":"a","max_tokens":5}`, "Model"},
		{"/v1/completions", `{"model":"m","MODEL":"dear","prompt":"a","max_tokens":5}`, "MODEL"},
		{"/v1/embeddings", `{"model":"dear","MODEL":"m","input":"a"}`, "MODEL"},
		{"/api/embed", `{"model":"dear","MODEL":"m","input":"a"}`, "MODEL"},
		{"/v1/completions", `{"model":"m","prompt":"a","max_tokens":100000,"Max_Tokens":5}`, "Max_Tokens"},
		{"/v1/chat/completions", strings.Replace(limited, "{", `{"Max_Tokens":100000,`, 1), "Max_Tokens"},
		{"/api/chat", `{"model":"m","OPTIONS":{"num_predict":-1},"messages":[{"role":"user","content":"Hi."}]}`, "OPTIONS"},
		{"/v1/responses", `{"model":"m","input":"a","max_output_tokens":5,"background":true,"Background":false}`, "background"},
		{"/v1/responses", `{"model":"m","input":"a","max_output_tokens":5,"conversation":"c","CONVERSATION":null}`, "conversation"},
	} {
		resp, text := get(t, "POST", url+tt.path, tt.body, "Authorization", b.bearer())
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, tt.field) {
			t.Errorf("%s: %s %s", tt.body, resp.Status, text)
		}
	}
	if asked > 0 {
		t.Errorf("the backend was asked %d times", asked)
	}
}

// A client of Ollama's API that says that its reply has no limit gets the one that its
// budget pays for.
func TestNoLimitOfOllamaIsNone(t *testing.T) {
	for _, api := range []string{"ollama", "openai"} {
		b := books(t, fleet.Budget{fleet.Day: {Tokens: 100000}}, nil)
		var sent string
		up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/show") {
				sent = string(body)
			}
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
		})
		url := start(t, up, backend.Config{Provider: api, Retries: -1}, b.into)
		get(t, "POST", url+"/api/chat", `{"model":"m","stream":false,"options":{"num_predict":-1,"mirostat":1},"messages":[{"role":"user","content":"Hi."}]}`, "Authorization", b.bearer())
		if strings.Contains(sent, "-1") || !strings.Contains(sent, "8192") || (api == "ollama") != strings.Contains(sent, "mirostat") {
			t.Errorf("sent: %s", sent)
		}
	}
}

// Each of several prompts has a reply of its own, and each of several replies its limit.
func TestEveryPromptHasAReply(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 1000 * price.Unit}}, nil)
	up := say("application/json", `{"choices":[{"text":"x"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, b.into)
	for i, tt := range []struct {
		body    string
		replies int
	}{
		{`{"model":"m","prompt":"a","max_tokens":5}`, 1},
		{`{"model":"m","prompt":["a","b","c"],"max_tokens":5}`, 3},
		{`{"model":"m","prompt":["a","b","c"],"n":2,"best_of":4,"max_tokens":5}`, 12},
		{`{"model":"m","prompt":[[1,2],[3,4]],"max_tokens":5}`, 2},
		{`{"model":"m","prompt":[1,2,3],"max_tokens":5}`, 1},
		{`{"model":"m","prompt":[],"max_tokens":5}`, 1},
	} {
		if resp, text := get(t, "POST", url+"/v1/completions", tt.body, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, text)
		}
		if is := b.entries(t)[i].Most.Tokens; is != int64(len(tt.body)+5*tt.replies) {
			t.Errorf("%s: %d tokens are reserved, want %d", tt.body, is, len(tt.body)+5*tt.replies)
		}
	}
}

// Counts that no request can have neither bring a budget anything nor come to more than
// the ledger can add up.
func TestCountsThatCannotBe(t *testing.T) {
	const requests = 12
	for _, count := range []string{"-1000", "900000000000000"} {
		b := books(t, nil, nil)
		up := say("application/json", `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"text":"x","message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":`+count+`,"completion_tokens":`+count+`}}`)
		url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, b.into)
		for i := range requests {
			path, body := "/v1/chat/completions", limited
			if i%2 == 1 {
				path, body = "/v1/completions", `{"model":"m","prompt":"a","max_tokens":5}`
			}
			_, _ = get(t, "POST", url+path, body, "Authorization", b.bearer())
		}
		all := b.entries(t)
		for n := 0; n < 400 && len(all) < requests; n++ { // without a budget they are booked a moment later
			time.Sleep(25 * time.Millisecond)
			all = b.entries(t)
		}
		for _, e := range all {
			if e.Amount.Tokens <= 0 || e.Amount.Money <= 0 {
				t.Errorf("%s: %+v", count, e)
			}
		}
		now, err := b.Windows(t.Context(), b.key, time.Now())
		if err != nil || len(all) != requests {
			t.Fatalf("%s: %d of %d are booked, %v", count, len(all), requests, err)
		}
		for _, w := range now {
			if w.Per == fleet.Day && w.Subject.Kind == "key" && (w.Settled.Money <= 0 || w.Settled.Requests != requests) {
				t.Errorf("%s: %+v", count, w)
			}
		}
	}
}

// Of several candidates one reaches the client, and so one is asked for and paid.
func TestOneCandidate(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
	var sent string
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":5}}`)
	})
	url := start(t, up, backend.Config{Provider: "gemini", Retries: -1}, b.into)
	resp, text := get(t, "POST", url+"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Hi."}]}],"generationConfig":{"maxOutputTokens":10,"candidateCount":8,"responseLogprobs":true}}`, "X-Goog-Api-Key", b.key.ID)
	var config struct {
		Config map[string]any `json:"generationConfig"`
	}
	if err := json.Unmarshal([]byte(sent), &config); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, text, sent)
	}
	if _, has := config.Config["candidateCount"]; has || config.Config["responseLogprobs"] != true {
		t.Errorf("sent: %s", sent)
	}
}

// The limit that a request gets fits behind all bytes of its prompt, of which JSON has
// more than the text.
func TestALimitFitsBehindJSON(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Tokens: 6000}}, nil)
	m := costly(apis[0], utp.Usage{Input: 10, Output: 10})
	url := start(t, m, backend.Config{Provider: "openai"}, b.into)
	resp, text := get(t, "POST", url+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"`+strings.Repeat(`\n`, 2000)+`"}]}`, "Authorization", b.bearer())
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, text)
	}
	if n := *m.Asked()[0].Params.MaxTokens; n < 1000 || n > 2000 {
		t.Errorf("the limit is %d", n)
	}
}

// A budget of requests alone bounds no reply.
func TestABudgetOfRequestsBoundsNoReply(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Requests: 2}}, nil)
	var sent []string
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			sent = append(sent, string(body))
		}
		say("application/json", `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"text":"x","message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)(w, r)
	})
	url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, b.into)
	for i, tt := range []struct{ path, body string }{
		{"/v1/chat/completions", strings.Replace(limited, `"max_tokens":10,`, "", 1)}, {"/v1/completions", `{"model":"m","prompt":"a"}`}, {"/v1/completions", `{"model":"m","prompt":"b"}`},
	} {
		if resp, text := get(t, "POST", url+tt.path, tt.body, "Authorization", b.bearer()); (resp.StatusCode == http.StatusOK) != (i < 2) {
			t.Errorf("request %d: %s %s", i+1, resp.Status, text)
		}
	}
	if all := strings.Join(sent, "\n"); len(sent) != 2 || strings.Contains(all, "max_") {
		t.Errorf("sent: %s", all)
	}
}

// A file of which the request has only the address is in the bound, and so is a small
// one, of which providers count more tokens than it has bytes.
func TestFilesAreInTheBound(t *testing.T) {
	for url, want := range map[string]int64{"https://example.com/a.png": 36 << 10, "data:image/png;base64,iVBORw0KGgo=": 4 << 10} {
		b := books(t, fleet.Budget{fleet.Day: {Tokens: 1e6}}, nil)
		at := start(t, costly(apis[0], utp.Usage{Input: 10, Output: 10}), backend.Config{Provider: "openai"}, b.into)
		body := `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"` + url + `"}}]}]}`
		if resp, text := get(t, "POST", at+"/v1/chat/completions", body, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, text)
		}
		if most := b.entries(t)[0].Most.Tokens; most < want || most > want+1000 {
			t.Errorf("%s: %d tokens are reserved, want %d and those of the text", url, most, want)
		}
	}
}
