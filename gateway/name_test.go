package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

// library is an Ollama that has these models, of which the first is in memory. A
// model answers with its own name.
type library struct {
	mu     sync.Mutex
	models []string
	lists  atomic.Int32
	loads  []string // "m load", "m unload"
}

func (l *library) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.models = append(l.models, name)
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var in struct {
		Model     string
		Stream    *bool
		Messages  []any
		Prompt    string
		KeepAlive any `json:"keep_alive"`
	}
	_ = json.Unmarshal(body, &in)
	switch r.URL.Path {
	case ollama.TagsPath:
		l.lists.Add(1)
		l.list(w, l.models)
	case ollama.RunningPath:
		l.list(w, l.models[:1])
	default:
		l.answer(w, r.URL.Path, in.Model, len(in.Messages) == 0 && in.Prompt == "", in.KeepAlive)
	}
}

func (l *library) list(w io.Writer, models []string) {
	out := []string{}
	for _, m := range models {
		out = append(out, fmt.Sprintf(`{"name":%q,"model":%[1]q,"size":1e9,"digest":"0123456789ab%x","modified_at":"2026-08-21T10:00:00Z","expires_at":"2026-08-21T11:00:00Z","details":{"family":"x"}}`, m, m))
	}
	fmt.Fprintf(w, `{"models":[%s]}`, strings.Join(out, ","))
}

func (l *library) answer(w http.ResponseWriter, path, model string, empty bool, keep any) {
	has := false
	for _, m := range l.models {
		has = has || m == model || m == model+":latest"
	}
	switch {
	case !has:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"model '%s' not found"}`, model)
	case path == ollama.ShowPath:
		tools := ""
		if !strings.Contains(model, "plain") {
			tools = `,"tools","thinking"`
		}
		fmt.Fprintf(w, `{"capabilities":["completion"%s],"license":"MIT","model_info":{"x.context_length":4096}}`, tools)
	case empty:
		reason := "load"
		if keep == 0.0 {
			reason = "unload"
		}
		l.loads = append(l.loads, model+" "+reason)
		fmt.Fprintf(w, `{"model":%q,"done":true,"done_reason":%q}`, model, reason)
	default:
		fmt.Fprintf(w, `{"model":%q,"message":{"role":"assistant","content":"I am %s."},"done":true,"done_reason":"stop"}`, model, model)
	}
}

func newLibrary(models ...string) *library { return &library{models: models} }

// ownRoute is the route of a gateway without a file.
func ownRoute(t *testing.T, l http.Handler) gateway.Route {
	t.Helper()
	to := behind(t, "", "ollama", l)
	to.Own = true
	return gateway.Route{To: []gateway.Target{to}}
}

const whoAreYou = `{"model":%q,"messages":[{"role":"user","content":"Who are you?"}]}`

func whois(t *testing.T, url, model string) (answer, asked string) {
	t.Helper()
	resp, body := get(t, "POST", url+"/v1/chat/completions", fmt.Sprintf(whoAreYou, model))
	return body, resp.Header.Get("X-Bx-Model")
}

// TestANameIsNeverAnsweredByAnotherModel: a model goes by its name with and
// without ":latest", in every API, and what is installed later is found. Another
// name leads to the model that was chosen, which a header and the log say.
func TestANameIsNeverAnsweredByAnotherModel(t *testing.T) {
	l := newLibrary("tiny-hermes:latest", "tiny-plain:latest", "qwen3:8b", "hf.co/org/m:latest")
	stands := &clock{at: time.Unix(1787306400, 0)}
	c := gateway.Config{NewID: ids(), Routes: []gateway.Route{ownRoute(t, l)}, Now: stands.now}
	log, text := logged(slog.LevelInfo)
	log(&c)
	url := listen(t, c)
	for name, want := range map[string]string{"tiny-plain": "tiny-plain:latest", "tiny-plain:latest": "tiny-plain:latest", "qwen3:8b": "qwen3:8b",
		"hf.co/org/m": "hf.co/org/m:latest", "qwen3": "tiny-hermes:latest", "qwen3:latest": "tiny-hermes:latest", "claude-opus-4": "tiny-hermes:latest"} {
		if body, asked := whois(t, url, name); asked != want || !strings.Contains(body, "I am "+want) {
			t.Errorf("%s: %s by %q, want %s", name, body, asked, want)
		}
	}
	for _, front := range apis {
		q := offer(false)
		q.Model = "tiny-plain"
		if reply, err := front.ask(t, url, q); err != nil || !strings.Contains(reply.Text(), "I am tiny-plain:latest.") {
			t.Errorf("%s: %q, %v", front.name, reply.Text(), err)
		}
	}
	seen(t, "the log", "model=claude-opus-4 asked=tiny-hermes:latest", text)
	if strings.Contains(text(), "model=tiny-plain asked") {
		t.Errorf("the log: %s", text())
	}

	l.add("newmodel:latest")
	stands.pass(3 * time.Second)
	for _, name := range []string{"newmodel", "newmodel:latest"} {
		if body, _ := whois(t, url, name); !strings.Contains(body, "I am newmodel:latest.") {
			t.Errorf("%s: %s", name, body)
		}
	}
	if _, body := get(t, "GET", url+"/v1/models", ""); !strings.Contains(body, `"id":"newmodel:latest"`) {
		t.Errorf("the list: %s", body)
	}
}

// TestAnUnknownNameListsAtMostEveryTwoSeconds: and requests that come at the same
// time share the question.
func TestAnUnknownNameListsAtMostEveryTwoSeconds(t *testing.T) {
	l, stands := newLibrary("m:latest"), &clock{at: time.Unix(1787306400, 0)}
	url := listen(t, gateway.Config{NewID: func() string { return "id" }, Routes: []gateway.Route{ownRoute(t, l)}, Now: stands.now})
	for range 3 {
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { whois(t, url, "claude-x") })
		}
		wg.Wait()
		whois(t, url, "m")
		stands.pass(1500 * time.Millisecond)
	}
	if n := l.lists.Load(); n != 2 { // at 0 and at 3 s
		t.Errorf("%d lists, want 2", n)
	}
}

// TestAServerThatHangsHoldsUpNobodyElse: a name that one server has is asked of no
// other a second time.
func TestAServerThatHangsHoldsUpNobodyElse(t *testing.T) {
	asked := atomic.Int32{}
	away := behind(t, "away", "ollama", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	there := behind(t, "there", "ollama", newLibrary("m:latest"))
	stands := &clock{at: time.Unix(1787306400, 0)}
	url := listen(t, gateway.Config{NewID: ids(), Now: stands.now, Routes: []gateway.Route{{Listed: true, To: []gateway.Target{away}}, {Listed: true, To: []gateway.Target{there}}}})
	for range 3 {
		if body, _ := whois(t, url, "m"); !strings.Contains(body, "I am m:latest.") && !strings.Contains(body, "I am m.") {
			t.Error(body)
		}
		stands.pass(time.Minute)
	}
	if n := asked.Load(); n > 2 { // its two lists, once
		t.Errorf("the other server was asked %d times", n)
	}
}

// TestAFileRoutesAlike: with a file, too, a name that a server has is answered by
// itself where a route takes every name; what a route names is what it says.
func TestAFileRoutesAlike(t *testing.T) {
	l := newLibrary("a:latest", "b:latest")
	to := behind(t, "local", "ollama", l)
	a, pinned, plain := to, to, to
	a.Model, a.Own = "a", true
	pinned.Model = "b"
	for _, c := range []struct {
		routes []gateway.Route
		want   map[string]string // "": no model of this name
	}{
		{[]gateway.Route{{To: []gateway.Target{a}}}, map[string]string{"b": "b:latest", "b:latest": "b:latest", "claude": "a"}},
		{[]gateway.Route{{Match: []string{"claude-*", "a"}, To: []gateway.Target{pinned}}, {To: []gateway.Target{plain}}}, map[string]string{"claude-3": "b", "a:latest": "b", "b": "b"}},
		{[]gateway.Route{{Listed: true, To: []gateway.Target{plain}}}, map[string]string{"b": "b", "a:latest": "a:latest", "claude": ""}},
	} {
		url := listen(t, gateway.Config{NewID: ids(), Routes: c.routes})
		for name, want := range c.want {
			body, _ := whois(t, url, name)
			if want == "" && !strings.Contains(body, `there is no model \"claude\"`) || want != "" && !strings.Contains(body, "I am "+want+".") {
				t.Errorf("%s: %s, want %s", name, body, want)
			}
		}
	}
}

// TestUnknownNamesAreAnsweredInShort: a 404 tells near names, never a hidden one
// and never the whole list; a body without a model is a 400.
func TestUnknownNamesAreAnsweredInShort(t *testing.T) {
	a, _ := target(t, "a", "openai")
	var routes []gateway.Route
	for i := range 300 {
		routes = append(routes, gateway.Route{Match: []string{fmt.Sprintf("model-%d", i)}, To: []gateway.Target{a}, Hidden: i%2 == 1})
	}
	url := listen(t, gateway.Config{NewID: ids(), Routes: routes})
	resp, body := get(t, "POST", url+"/v1/chat/completions", fmt.Sprintf(whoAreYou, "modell-1"))
	if resp.StatusCode != 404 || len(body) > 300 || !strings.Contains(body, "did you mean model-") || strings.Contains(body, "model-1,") {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
	for path, body := range map[string]string{"/v1/chat/completions": `{"messages":[{"role":"user","content":"hi"}]}`, "/v1/messages": `{"max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1/responses": `{"input":"hi"}`, "/api/chat": `{"messages":[{"role":"user","content":"hi"}]}`} {
		if resp, said := get(t, "POST", url+path, body); resp.StatusCode != 400 || !strings.Contains(said, "model") {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, said)
		}
	}
}

// TestAGatewayWithoutABackend starts, says why there is none, and takes a route
// when one comes.
func TestAGatewayWithoutABackend(t *testing.T) {
	c := gateway.Config{NewID: ids(), Absent: "there is no model to serve yet: start Ollama"}
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	down := httptest.NewServer(g)
	t.Cleanup(down.Close)
	url := down.URL
	if !g.Waiting() {
		t.Error("it does not wait")
	}
	for path, body := range map[string]string{"/v1/chat/completions": fmt.Sprintf(whoAreYou, "m"), "/v1/embeddings": `{"model":"m","input":"x"}`, "/api/chat": fmt.Sprintf(whoAreYou, "m")} {
		if resp, said := get(t, "POST", url+path, body); resp.StatusCode != 503 || !strings.Contains(said, "there is no model to serve yet") {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, said)
		}
	}
	if resp, body := get(t, "GET", url+"/readyz", ""); resp.StatusCode != 503 || !strings.Contains(body, `"reason":"there is no model to serve yet: start Ollama"`) {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
	c.Routes, c.Absent = []gateway.Route{ownRoute(t, newLibrary("m:latest"))}, ""
	if err := g.Reload(c); err != nil || g.Waiting() {
		t.Error(err, g.Waiting())
	}
	if body, _ := whois(t, url, "m"); !strings.Contains(body, "I am m:latest.") {
		t.Error(body)
	}
}

// TestReadinessSaysWhy: each backend that does not answer is named with its reason.
func TestReadinessSaysWhy(t *testing.T) {
	c, err := backend.New(backend.Config{Provider: "ollama", URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{{Name: "local", Backend: c, Own: true}}}}})
	if resp, body := get(t, "GET", url+"/readyz", ""); resp.StatusCode != 503 || !strings.Contains(body, `"local":"cannot reach Ollama at http://127.0.0.1:1`) {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
}

// TestLoadAndUnloadReachOllama: preload and unload of Ollama's API go to the
// server for the routed model; a model that is not there is a 404, also at servers
// that load nothing.
func TestLoadAndUnloadReachOllama(t *testing.T) {
	l := newLibrary("m:latest")
	alias := behind(t, "", "ollama", l)
	alias.Model = "m"
	other, _ := target(t, "other", "openai") // lists "m"
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{
		{Match: []string{"alias"}, To: []gateway.Target{alias}}, {Match: []string{"x/*"}, To: []gateway.Target{other}}, ownRoute(t, l)}})
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/api/chat", `{"model":"m","messages":[],"keep_alive":0}`, 200, `"done_reason":"unload"`},
		{"/api/generate", `{"model":"m","keep_alive":0}`, 200, `"done_reason":"unload"`},
		{"/api/generate", `{"model":"m","prompt":""}`, 200, `"done_reason":"load"`},
		{"/api/chat", `{"model":"alias"}`, 200, `"done_reason":"load"`},
		{"/api/chat", `{"model":"nosuch"}`, 404, `there is no model \"nosuch\"`},
		{"/api/show", `{"model":"nosuch"}`, 404, `there is no model \"nosuch\"`},
		{"/api/chat", `{"model":"x/nosuch"}`, 404, `there is no model \"x/nosuch\"`},
	} {
		if resp, body := get(t, "POST", url+c.path, c.body); resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: HTTP %d: %s, want %d with %s", c.path, c.body, resp.StatusCode, body, c.status, c.want)
		}
	}
	if got := strings.Join(l.loads, ", "); got != "m:latest unload, m:latest unload, m:latest load, m load" {
		t.Errorf("Ollama saw %s", got)
	}
	for path, body := range map[string]string{"/v1/chat/completions": `{"model":"m","messages":[]}`, "/v1/messages": `{"model":"m","max_tokens":5,"messages":[]}`,
		"/v1/responses": `{"model":"m","input":[]}`, "/v1beta/models/m:generateContent": `{"contents":[]}`} {
		if resp, said := get(t, "POST", url+path, body); resp.StatusCode != 400 || !strings.Contains(said, "at least one message") {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, said)
		}
	}
}

// TestOllamasProgram: what "ollama list", "ps", "show" and "run" ask before
// anything else.
func TestOllamasProgram(t *testing.T) {
	other, _ := target(t, "other", "openai")
	for name, route := range map[string]gateway.Route{"ollama": ownRoute(t, newLibrary("m:latest")), "openai": {To: []gateway.Target{other}}} {
		url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{route}})
		var list struct {
			Models []struct {
				Name     string
				Digest   string
				Modified time.Time `json:"modified_at"`
			}
		}
		_, body := get(t, "GET", url+"/api/tags", "")
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Models) != 1 || len(list.Models[0].Digest) < 12 || list.Models[0].Modified.Year() < 2026 {
			t.Errorf("%s: %v: %s", name, err, body)
		}
		_, body = get(t, "GET", url+"/api/ps", "")
		if err := json.Unmarshal([]byte(body), &list); err != nil || name == "ollama" && !strings.Contains(body, `"expires_at":"2026-08-21T11:00:00Z"`) {
			t.Errorf("%s: %v: %s", name, err, body)
		}
		if resp, body := get(t, "POST", url+"/api/show", `{"model":"m"}`); resp.StatusCode != 200 || !strings.Contains(body, `"capabilities":["completion","tools"`) {
			t.Errorf("%s: HTTP %d: %s", name, resp.StatusCode, body)
		}
		if resp, body := get(t, "GET", url+"/", ""); resp.StatusCode != 200 || !strings.HasPrefix(body, "Ollama is running") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// TestWrongMethodsStayHere: a path that the gateway has takes its own methods and
// goes to no backend with another; the error has the API's form.
func TestWrongMethodsStayHere(t *testing.T) {
	asked := atomic.Int32{}
	to := behind(t, "up", "openai", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{to}}}})
	for _, c := range []struct{ method, path, allow, want string }{
		{"GET", "/v1/messages", "POST", `{"type":"error"`},
		{"GET", "/v1/chat/completions", "POST", `{"error":{"message":"/v1/chat/completions is for POST, not for GET"`},
		{"OPTIONS", "/v1/chat/completions", "POST", `{"error":`},
		{"DELETE", "/v1/responses/resp_1", "POST", `{"error":`},
		{"PUT", "/api/chat", "POST", `{"error":"`},
	} {
		resp, body := get(t, c.method, url+c.path, "")
		if resp.StatusCode != 405 || resp.Header.Get("Allow") != c.allow || !strings.HasPrefix(body, c.want) {
			t.Errorf("%s %s: HTTP %d, Allow %q: %s", c.method, c.path, resp.StatusCode, resp.Header.Get("Allow"), body)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the backend saw %d requests", n)
	}
}

// TestPathsWithoutTheVersion: a client whose base address lacks /v1 is served.
func TestPathsWithoutTheVersion(t *testing.T) {
	a, _ := target(t, "a", "openai")
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{a}}}})
	for path, body := range map[string]string{"/chat/completions": fmt.Sprintf(whoAreYou, "m"), "/responses": `{"model":"m","input":"hi"}`,
		"/messages": `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`} {
		if resp, said := get(t, "POST", url+path, body); resp.StatusCode != 200 || !strings.Contains(said, "This is a as m.") {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, said)
		}
	}
	if resp, body := get(t, "GET", url+"/models", ""); resp.StatusCode != 200 || !strings.Contains(body, `"object":"list"`) {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
}

// TestAModelInGooglesForm: Google's SDKs for Python ask /v1/models/NAME.
func TestAModelInGooglesForm(t *testing.T) {
	a, _ := target(t, "a", "openai")
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{a}}}})
	if _, body := get(t, "GET", url+"/v1/models/m", "", "x-goog-api-key", "x"); !strings.HasPrefix(body, `{"name":"models/m"`) {
		t.Error(body)
	}
}

// TestTokensOfARenamedModel are counted by the backend where it has the client's
// API.
func TestTokensOfARenamedModel(t *testing.T) {
	for api, c := range map[string]struct{ path, body, want string }{
		"anthropic": {"/v1/messages/count_tokens", `{"model":"alias","messages":[{"role":"user","content":"hi"}]}`, `/v1/messages/count_tokens {"messages":[{"role":"user","content":"hi"}],"model":"real"}`},
		"gemini":    {"/v1beta/models/alias:countTokens", `{"contents":[{"parts":[{"text":"hi"}]}]}`, `/v1beta/models/real:countTokens {"contents":[{"parts":[{"text":"hi"}]}]}`},
	} {
		saw := ""
		to := behind(t, "up", api, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			saw = r.URL.Path + " " + string(body)
			_, _ = io.WriteString(w, `{"counted":1}`)
		}))
		to.Model = "real"
		url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{to}}}})
		if _, body := get(t, "POST", url+c.path, c.body); body != `{"counted":1}` || saw != c.want {
			t.Errorf("%s: %s after %s, want %s", api, body, saw, c.want)
		}
	}
}

// TestShadowedRoutes are told.
func TestShadowedRoutes(t *testing.T) {
	got := strings.Join(gateway.Shadowed([]gateway.Route{
		{Match: []string{"claude-*"}}, {Match: []string{"claude-3", "gpt-4o"}}, {Match: []string{"gpt-4o"}}, {Match: []string{"gpt-?o"}}, {Listed: true}, {}, {Match: []string{"x"}}, {},
	}), "\n")
	want := `route 2: "claude-3" leads nowhere: route 1 takes "claude-*"
route 3: "gpt-4o" leads nowhere: route 2 takes "gpt-4o"
route 7: "x" leads nowhere: route 6 takes "*"
route 8 leads nowhere: a route before it takes every name`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestListsSayWhatAModelCan: the tools of /v1/models are the capabilities of
// /api/show, before a model was ever asked.
func TestListsSayWhatAModelCan(t *testing.T) {
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{ownRoute(t, newLibrary("m:latest", "plain:latest"))}})
	for name, want := range map[string]string{"m": `"tools":"native","thinking":true`, "plain": `"tools":"prompted"`} {
		if _, body := get(t, "GET", url+"/v1/models/"+name, ""); !strings.Contains(body, want) || !strings.Contains(body, `"context_length":4096`) {
			t.Errorf("%s: %s, want %s", name, body, want)
		}
	}
	if _, body := get(t, "GET", url+"/api/tags", ""); !strings.Contains(body, `"capabilities":["completion","tools","thinking"]`) || !strings.Contains(body, `"capabilities":["completion","tools"]`) {
		t.Error(body)
	}
	if _, body := get(t, "GET", url+"/v1beta/models", ""); !strings.Contains(body, `"thinking":true`) || !strings.Contains(body, `"inputTokenLimit":4096`) {
		t.Error(body)
	}
}
