package gateway_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// target is a model that says its name.
func target(t *testing.T, name, provider string) (gateway.Target, *fake.API) {
	t.Helper()
	m := newModel(apiNamed(provider), func(_ int, q *utp.Request) []utp.Event {
		return says("This is " + name + " as " + q.Model + ".")
	})
	return behind(t, name, provider, m), m
}

// behind is a target that leads to a handler.
func behind(t *testing.T, name, provider string, h http.Handler) gateway.Target {
	t.Helper()
	up := httptest.NewServer(h)
	t.Cleanup(up.Close)
	c, err := backend.New(backend.Config{Provider: provider, URL: up.URL, Retries: -1, OnlyOffered: true, HTTP: up.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Target{Name: name, Backend: c, Retries: -1}
}

func ids() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprint(n.Add(1)) }
}

func TestRoutes(t *testing.T) {
	a, _ := target(t, "a", "openai")
	b, _ := target(t, "b", "ollama")
	alias := a
	alias.Model = "qwen3:8b"
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{
		{Match: []string{"claude-*", "gpt-4o"}, To: []gateway.Target{alias}},
		{Match: []string{"org/*-instruct"}, To: []gateway.Target{b}},
		{Match: []string{"llama3"}, To: []gateway.Target{b}},
	}})
	for name, want := range map[string]string{
		"claude-opus-4":        "This is a as qwen3:8b.",
		"gpt-4o":               "This is a as qwen3:8b.",
		"org/model/x-instruct": "This is b as org/model/x-instruct.",
		"llama3:latest":        "This is b as llama3:latest.",
		"gpt-4o-mini":          "",
		"xclaude-3":            "",
	} {
		for _, front := range apis {
			q := offer(false)
			q.Model = name
			reply, err := front.ask(t, url, q)
			switch {
			case want == "" && (err == nil || !strings.Contains(err.Error(), "404") || !strings.Contains(err.Error(), "there is no model")):
				t.Errorf("%s, %s: %v, want no route", front.name, name, err)
			case want != "" && (err != nil || reply.Text() != want):
				t.Errorf("%s, %s: %q, %v, want %q", front.name, name, reply.Text(), err, want)
			}
		}
	}
}

// Z-16 in phases: another target is asked before the first event, never after.
//
// contract: Z-16
func TestFallbacks(t *testing.T) {
	good, _ := target(t, "good", "anthropic")
	for _, tt := range []struct {
		name string
		up   http.HandlerFunc
		want string // of the reply; "" is an error
	}{
		{"500", refusal(500, "broken", ""), "This is good as m."},
		{"429", refusal(429, "slow", ""), "This is good as m."},
		{"401: its key", refusal(401, "no", ""), "This is good as m."},
		{"404: no such model", refusal(404, "no model", ""), "This is good as m."},
		{"window too small", refusal(400, "maximum context length is 10", ""), "This is good as m."},
		{"cut before anything", stream("cut"), "This is good as m."},
		{"400: the request is wrong", refusal(400, "temperature is too hot", ""), ""},
		{"cut after text", stream(chunkText, "cut"), ""},
		{"cut in a call", stream(chunkCall, "cut"), ""},
		{"error after text", stream(chunkText, "data: {\"error\":{\"message\":\"x\"}}\n\n"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := behind(t, "bad", "openai", tt.up)
			url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{bad}, Else: []gateway.Target{good}}}})
			for _, front := range apis {
				tt := tt
				if tt.name == "cut in a call" && inOnePiece[front.name] { // its client has seen nothing
					tt.want = "This is good as m."
				}
				reply, err := front.ask(t, url, offer(true))
				if reply.Text() != tt.want && (tt.want != "" || err == nil) {
					t.Errorf("%s: %q, %v, want %q", front.name, reply.Text(), err, tt.want)
				}
				if tt.want == "" && (err == nil || strings.Contains(reply.Text(), "good")) {
					t.Errorf("%s: %q, %v: another target was asked", front.name, reply.Text(), err)
				}
			}
		})
	}
}

// A target that keeps failing is left alone, and tried again later.
func TestBreaker(t *testing.T) {
	asked, heal := 0, false
	bad := behind(t, "bad", "openai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r)
			return
		}
		if asked++; heal {
			stream(chunkText, chunkStop, done)(w, r)
			return
		}
		refusal(500, "broken", "")(w, r)
	}))
	good, _ := target(t, "good", "openai")
	c := &clock{}
	url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Routes: []gateway.Route{{To: []gateway.Target{bad}, Else: []gateway.Target{good}}}})
	ask := func() (who string) {
		resp, _ := apis[0].post(t, url, offer(true))
		return resp.Header.Get("X-Bx-Target")
	}
	for range 8 {
		if who := ask(); who != "good" {
			t.Fatalf("%q answered", who)
		}
	}
	if asked != 5 {
		t.Errorf("the broken target was asked %d times, want 5", asked)
	}
	if _, text := get(t, "GET", url+"/metrics", ""); !strings.Contains(text, `bx_target_left_alone{target="bad",model="m"} 1`) {
		t.Errorf("metrics:\n%s", text)
	}
	heal = true
	c.pass(20e9)
	if who := ask(); who != "bad" {
		t.Errorf("after the break %q answered", who)
	}
	if who := ask(); who != "bad" || asked != 7 {
		t.Errorf("%q answered, asked %d times", who, asked)
	}
}

// Conversations are spread by weight, and each stays where it began.
func TestWeights(t *testing.T) {
	a, ma := target(t, "a", "openai")
	b, mb := target(t, "b", "openai")
	a.Weight, b.Weight = 3, 1
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{a, b}}}})
	for i := range 80 {
		q := offer(false)
		q.Messages = []utp.Message{utp.NewText(utp.RoleUser, fmt.Sprintf("Question %d", i))}
		first, err := apis[0].ask(t, url, q)
		if err != nil {
			t.Fatal(err)
		}
		q.Messages = append(q.Messages, first.Message, utp.NewText(utp.RoleUser, "More."))
		if next, err := apis[0].ask(t, url, q); err != nil || next.Text() != first.Text() {
			t.Fatalf("the conversation moved from %q to %q, %v", first.Text(), next.Text(), err)
		}
	}
	if na, nb := len(ma.Asked()), len(mb.Asked()); na+nb != 160 || na < 90 || nb < 15 {
		t.Errorf("a was asked %d times and b %d", na, nb)
	}
}

func TestModels(t *testing.T) {
	a, _ := target(t, "a", "openai")
	b, _ := target(t, "b", "ollama")
	gone := behind(t, "gone", "openai", http.NotFoundHandler())
	alias := a
	alias.Model = "m"
	url := listen(t, gateway.Config{NewID: ids(), Version: "1.2.3", Routes: []gateway.Route{
		{Match: []string{"gpt-4o", "claude-*"}, To: []gateway.Target{alias}},
		{Match: []string{"m"}, To: []gateway.Target{b}}, {Match: []string{"x*"}, To: []gateway.Target{gone}}, {To: []gateway.Target{a}, Hidden: true},
	}})
	for _, tt := range []struct {
		path   string
		header []string
		want   []string // parts of the answer
	}{
		{"/v1/models", nil, []string{`"object":"list"`, `"id":"gpt-4o"`, `"id":"m"`}},
		{"/v1/models", []string{"anthropic-version", "2023-06-01"}, []string{`"type":"model"`, `"first_id":"gpt-4o"`}},
		{"/v1/models", []string{"x-goog-api-key", "x"}, []string{`"name":"models/gpt-4o"`}},
		{"/v1beta/models", nil, []string{`"name":"models/gpt-4o"`, `"generateContent"`}},
		{"/api/tags", nil, []string{`"name":"gpt-4o"`, `"model":"m"`}},
		{"/api/ps", nil, []string{`"models":[`}},
		{"/api/version", nil, []string{`{"version":"1.2.3"}`}},
		{"/v1/models/gpt-4o", nil, []string{`{"id":"gpt-4o","object":"model"`}},
		{"/v1beta/models/m", nil, []string{`{"name":"models/m"`}},
		{"/", nil, []string{"Ollama is running (this is bx serve"}},
	} {
		resp, body := get(t, "GET", url+tt.path, "", tt.header...)
		for _, want := range tt.want {
			if resp.StatusCode != 200 || !strings.Contains(body, want) {
				t.Errorf("%s %v: HTTP %d: %s, want %s", tt.path, tt.header, resp.StatusCode, body, want)
			}
		}
	}
	if resp, body := get(t, "GET", url+"/v1/models/nope", ""); resp.StatusCode != 404 {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
	if resp, _ := get(t, "HEAD", url+"/", ""); resp.StatusCode != 200 {
		t.Errorf("HEAD /: HTTP %d", resp.StatusCode)
	}
	for _, name := range []string{"m", "gpt-4o"} {
		if resp, body := get(t, "POST", url+"/api/show", `{"model":"`+name+`"}`); resp.StatusCode != 200 || !strings.Contains(body, `"tools"`) {
			t.Errorf("show %s: HTTP %d: %s", name, resp.StatusCode, body)
		}
	}
}

// A route that leads every name to one model lists that model, and the version is
// one that Ollama's clients take.
func TestModelsOfAnAlias(t *testing.T) {
	a, _ := target(t, "a", "openai")
	a.Model = "qwen3:8b"
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{a}}, {Match: []string{"claude-*"}, To: []gateway.Target{a}}}})
	for path, want := range map[string]string{"/v1/models": `"data":[{"id":"qwen3:8b"`, "/api/tags": `"name":"qwen3:8b"`, "/v1beta/models": `"name":"models/qwen3:8b"`, "/api/version": `{"version":"0.17.4"}`} {
		if _, body := get(t, "GET", url+path, ""); strings.Count(body, "qwen3:8b") > 3 || !strings.Contains(body, want) || strings.Contains(body, "claude") {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
}

// The lists tell how tools reach a model, and that every model takes them.
func TestOffers(t *testing.T) {
	no := false
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(apiNamed("ollama").front.Models([]wire.Model{{ID: "old", Chat: true, Tools: &no}, {ID: "new", Chat: true}}))
	}))
	defer up.Close()
	for tools, want := range map[string][2]string{"": {"prompted", "native"}, "native": {"native", "native"}, "none": {"none", "none"}} {
		c, err := backend.New(backend.Config{Provider: "ollama", URL: up.URL, Formats: []format.Layer{{Tools: tools}}})
		if err != nil {
			t.Fatal(err)
		}
		url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{{Backend: c}}}}})
		for i, name := range []string{"old", "new"} {
			if _, body := get(t, "GET", url+"/v1/models/"+name, ""); !strings.Contains(body, `"tools":"`+want[i]+`"`) {
				t.Errorf("%q: %s, want %s", tools, body, want[i])
			}
		}
		if _, body := get(t, "GET", url+"/api/tags", ""); tools == "" && strings.Count(body, `"tools"`) != 2 {
			t.Errorf("the capabilities: %s", body)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	a, _ := target(t, "a", "openai")
	heavy := a
	heavy.Weight = -1
	for want, c := range map[string]gateway.Config{
		"no route":         {NewID: ids()},
		"NewID is missing": {Routes: []gateway.Route{{To: []gateway.Target{a}}}},
		"leads nowhere":    {NewID: ids(), Routes: []gateway.Route{{}}},
		"has no backend":   {NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{{}}}}},
		"weight -1":        {NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{heavy}}}},
		`match "["`:        {NewID: ids(), Routes: []gateway.Route{{Match: []string{"["}, To: []gateway.Target{a}}}},
	} {
		if _, err := gateway.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	g, err := gateway.New(gateway.Config{NewID: ids(), Routes: []gateway.Route{{Match: []string{"old"}, To: []gateway.Target{a}}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	defer server.Close()
	models := func() string { _, body := get(t, "GET", server.URL+"/v1/models", ""); return body }
	if err := g.Reload(gateway.Config{NewID: ids()}); err == nil || !strings.Contains(models(), `"id":"old"`) {
		t.Errorf("a bad configuration: %v, models %s", err, models())
	}
	if err := g.Reload(gateway.Config{NewID: ids(), Routes: []gateway.Route{{Match: []string{"new"}, To: []gateway.Target{a}}}}); err != nil || !strings.Contains(models(), `"id":"new"`) {
		t.Errorf("a good one: %v, models %s", err, models())
	}
}

// What the gateway does not do itself goes to a backend of the client's API.
// anew is a backend that notes what may go out again where its server has closed
// the connection.
type anew struct {
	gateway.Backend
	may map[string]bool
}

func (a *anew) Forward(r *http.Request) (*http.Response, error) {
	a.may[r.URL.Path] = r.GetBody != nil
	return a.Backend.Forward(r)
}

// What may create something goes out once; embeddings and counts go out again
// where the backend has closed the connection.
func TestOnlyWhatCreatesNothingGoesOutAgain(t *testing.T) {
	to := behind(t, "up", "openai", embedder("openai"))
	a := &anew{to.Backend, map[string]bool{}}
	to.Backend, to.Model = a, "real"
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{to}}}})
	for path, body := range map[string]string{"/v1/embeddings": `{"model":"m","input":"x"}`, "/api/embed": `{"model":"m","input":"x"}`,
		"/v1/moderations": `{"input":"x"}`, "/v1/files": `{}`, "/v1/batches": `{}`} {
		get(t, "POST", url+path, body)
	}
	if want := map[string]bool{"/v1/embeddings": true, "/v1/moderations": true, "/v1/files": false, "/v1/batches": false}; !maps.Equal(a.may, want) {
		t.Errorf("%v, want %v", a.may, want)
	}
}

func TestPassThrough(t *testing.T) {
	type seen struct{ line, body, key, version string }
	var got []seen
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 1000)
		n, _ := r.Body.Read(b)
		got = append(got, seen{r.Method + " " + r.URL.RequestURI(), string(b[:n]), r.Header.Get("Authorization") + r.Header.Get("x-api-key") + r.Header.Get("x-goog-api-key"), r.Header.Get("anthropic-version")})
		w.Header().Set("X-Request-Id", "req_1")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/refused") {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"error":{"message":"bad key sk-backendskey12"}}`)
			return
		}
		fmt.Fprint(w, `{"ok":true}`)
	})
	up := httptest.NewServer(echo)
	defer up.Close()
	to := func(provider, model string) []gateway.Target {
		c, err := backend.New(backend.Config{Provider: provider, URL: up.URL, APIKey: "sk-backendskey12"})
		if err != nil {
			t.Fatal(err)
		}
		return []gateway.Target{{Backend: c, Model: model}}
	}
	routes := []gateway.Route{{Match: []string{"emb"}, To: to("openai", "text-embedding")}, {Match: []string{"claude"}, To: to("anthropic", "")},
		{Match: []string{"gem"}, To: to("gemini", "")}, {To: to("openai", "")}}
	reports := make(chan gateway.Report, 100)
	url := listen(t, gateway.Config{NewID: ids(), Routes: routes, Observe: func(r gateway.Report) { reports <- r }})
	const key = "Bearer sk-backendskey12"
	for _, tt := range []struct {
		method, path, body string
		want               seen
	}{
		{"POST", "/v1/embeddings", `{"model":"emb","input":[1.50,"<a>"]}`, seen{"POST /v1/embeddings", `{"input":[1.50,"<a>"],"model":"text-embedding"}`, key, ""}},
		{"POST", "/v1/completions", `{"model":"x","prompt":"p"}`, seen{"POST /v1/completions", `{"model":"x","prompt":"p"}`, key, ""}},
		{"GET", "/v1/files?limit=2&key=mine", "", seen{"GET /v1/files?limit=2", "", key, ""}},
		{"POST", "/v1/messages/batches", `{"requests":[]}`, seen{"POST /v1/messages/batches", `{"requests":[]}`, "sk-backendskey12", "2023-06-01"}},
		{"POST", "/v1/messages/count_tokens", `{"model":"claude","messages":[{"role":"user","content":"hi"}]}`, seen{"POST /v1/messages/count_tokens", `{"model":"claude","messages":[{"role":"user","content":"hi"}]}`, "sk-backendskey12", "2023-06-01"}},
		{"POST", "/v1beta/models/gem:embedContent", `{}`, seen{"POST /v1beta/models/gem:embedContent", `{}`, "sk-backendskey12", ""}},
	} {
		got = nil
		resp, body := get(t, tt.method, url+tt.path, tt.body, "Authorization", "Bearer mine", "Cookie", "c=d")
		if resp.StatusCode != 200 || body != `{"ok":true}` || resp.Header.Get("X-Request-Id") == "req_1" || resp.Header.Get("X-Bx-Id") == "" || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: HTTP %d: %s %v", tt.path, resp.StatusCode, body, resp.Header)
		}
		if !slices.Contains(got, tt.want) {
			t.Errorf("%s: the backend saw %+v, want %+v", tt.path, got, tt.want)
		}
	}
	if resp, body := get(t, "GET", url+"/v1/refused", ""); resp.StatusCode != 401 || strings.Contains(body, "backendskey") {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
	for path, want := range map[string]int{"/v2/x": 404, "/admin": 404, "/api/pull": 501, "/v1/../admin": 404, "//evil.example/v1/x": 404, "/v1/%2e%2e/admin": 400} {
		got = nil
		if resp, body := get(t, "GET", url+path, ""); resp.StatusCode != want || len(got) > 0 {
			t.Errorf("%s: HTTP %d, want %d: %s; the backend saw %v", path, resp.StatusCode, want, body, got)
		}
	}
	for _, want := range []struct {
		model, target string
		status        int
	}{{"emb", "openai", 200}, {"x", "openai", 200}, {"", "openai", 200}, {"", "anthropic", 200}, {"gem", "gemini", 200}, {"", "openai", 401}} {
		if r := <-reports; r.Route != want.model || r.Backend != want.target || r.Status != want.status {
			t.Errorf("%+v, want %v", r, want)
		}
	}
	alone := listen(t, gateway.Config{NewID: ids(), Routes: routes[1:2]})
	if resp, body := get(t, "POST", alone+"/v1/embeddings", `{"model":"claude"}`); resp.StatusCode != 501 || !strings.Contains(body, `{"error":{"message":`) {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
}

// What no backend can do is refused in the client's own form.
func TestWhatNobodyDoes(t *testing.T) {
	none, _ := target(t, "none", "responses") // has the paths of OpenAI alone
	some, _ := target(t, "some", "anthropic")
	for _, tt := range []struct {
		to         gateway.Target
		path, want string
	}{
		{some, "/v1/embeddings", `"type":"server_error"`},
		{some, "/v1/responses/resp_1/cancel", `"type":"server_error"`},
		{none, "/v1/messages/batches", `{"type":"error","error":{"type":"api_error"`},
		{none, "/v1beta/models/m:asyncBatchEmbedContent", `{"error":{"code":501,`},
		{some, "/v1beta/models/m:embedContent", `"status":"UNIMPLEMENTED"`},
		{some, "/api/embed", `{"error":"/api/embed is for`},
	} {
		url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{tt.to}}}})
		if resp, body := get(t, "POST", url+tt.path, `{"model":"m"}`); resp.StatusCode != 501 || !strings.Contains(body, tt.want) {
			t.Errorf("%s: HTTP %d: %s, want %s", tt.path, resp.StatusCode, body, tt.want)
		}
	}
}
