package gateway_test

import (
	"bufio"
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// idHeaders are where the SDKs of an API look for the id of a request.
var idHeaders = map[string]string{"openai": "X-Request-Id", "responses": "X-Request-Id", "anthropic": "Request-Id"}

// Every reply has an id, good or bad; error replies say who was asked.
func TestEveryReplyHasAnID(t *testing.T) {
	good := hello(apis[0])
	for name, up := range map[string]http.Handler{"good": good, "refused": refusal(400, "no", ""), "cut": stream(chunkText, "cut")} {
		url := start(t, up, backend.Config{Provider: "openai", Retries: -1, Formats: natively})
		for _, a := range apis {
			for _, stream := range []bool{false, true} {
				resp, _ := a.post(t, url, offer(stream))
				h := resp.Header
				if h.Get("X-Bx-Id") != "1" || h.Get("X-Bx-Target") != "up" || h.Get("X-Bx-Model") != "m" || idHeaders[a.name] != "" && h.Get(idHeaders[a.name]) != "1" {
					t.Errorf("%s, %s, stream %v: HTTP %d, %v", name, a.name, stream, resp.StatusCode, h)
				}
			}
			resp, _ := a.post(t, url, offer(false), "Host", "evil.example")
			if h := resp.Header; resp.StatusCode != 403 || h.Get("X-Bx-Id") != "1" || idHeaders[a.name] != "" && h.Get(idHeaders[a.name]) != "1" {
				t.Errorf("%s refused: HTTP %d, %v", a.name, resp.StatusCode, h)
			}
		}
		for _, path := range []string{"/", "/healthz", "/readyz", "/metrics", "/v1/models", "/v1/models/none", "/api/version", "/nothing"} {
			if resp, _ := get(t, "GET", url+path, ""); resp.Header.Get("X-Bx-Id") != "1" {
				t.Errorf("%s: HTTP %d without an id", path, resp.StatusCode)
			}
		}
	}
}

// A stream that a heartbeat opens says what is known by then.
func TestHeartbeatSaysWhoIsAsked(t *testing.T) {
	goOn := make(chan bool)
	m := newModel(apis[0], func(int, *utp.Request) []utp.Event {
		<-goOn
		return says("Late.")
	})
	url := start(t, m, backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Limits.Heartbeat = 2 * time.Millisecond })
	more := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(more)
	x, err := apis[2].back.Open(offer(true))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+x.Path, "application/json", bytes.NewReader(x.Body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if h := resp.Header; h.Get("X-Bx-Id") != "1" || h.Get("Request-Id") != "1" || h.Get("X-Bx-Target") != "up" || h.Get("X-Bx-Model") != "m" {
		t.Errorf("%v", h)
	}
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "event: ping\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// logged keeps what a gateway logs.
func logged(level slog.Level) (change func(*gateway.Config), text func() string) {
	var mu sync.Mutex
	var b bytes.Buffer
	return func(c *gateway.Config) {
			c.Log = slog.New(slog.NewTextHandler(&locked{&mu, &b}, &slog.HandlerOptions{Level: level}))
		}, func() string {
			mu.Lock()
			defer mu.Unlock()
			return b.String()
		}
}

// seen waits until the gateway has logged or counted what it says only when the
// reply is over.
func seen(t *testing.T, what, want string, text func() string) {
	t.Helper()
	for range 500 {
		if strings.Contains(text(), want) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Errorf("%s: want %s in\n%s", what, want, text())
}

// What the gateway itself refuses is logged and counted, with the reason.
func TestRefusalsAreSeen(t *testing.T) {
	log, text := logged(slog.LevelInfo)
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, keyed(func(c *gateway.Client) { c.Requests = 1 }), log)
	const chat = "/v1/chat/completions"
	apis[0].post(t, url, offer(false), "x-api-key", "bx-alice")
	for reason, ask := range map[string]func(){
		"host":            func() { get(t, "POST", url+chat, "{}", "Host", "evil.example") },
		"origin":          func() { get(t, "POST", url+chat, "{}", "Origin", "http://evil.example") },
		"no_key":          func() { get(t, "POST", url+chat, "{}") },
		"unknown_key":     func() { get(t, "POST", url+chat, "{}", "x-api-key", "bx-mallory") },
		"key_requests":    func() { apis[0].post(t, url, offer(false), "x-api-key", "bx-alice") },
		"not_for_clients": func() { get(t, "GET", url+"/v1/files", "", "x-api-key", "bx-bob") },
		"other_key":       func() { get(t, "POST", url+chat, "{}", "x-api-key", "bx-prometheus") },
		"no_path":         func() { get(t, "GET", url+"/wp-login.php", "", "x-api-key", "bx-bob") },
		"method":          func() { get(t, "GET", url+"/v1/messages", "", "x-api-key", "bx-bob") },
		"bad_request":     func() { get(t, "POST", url+chat, `{"model":3}`, "x-api-key", "bx-bob", "X-Request-Id", "mine-7") },
	} {
		ask()
		seen(t, "the log", "reason="+reason+" ", text)
		_, counted := get(t, "GET", url+"/metrics", "", "x-api-key", "bx-prometheus")
		if !regexp.MustCompile(`(?m)^bx_requests_total\{.*status="4\d\d",reason="` + reason + `"\} 1$`).MatchString(counted) {
			t.Errorf("%s is not counted:\n%s", reason, counted)
		}
	}
	seen(t, "the client's own id", "x_request_id=mine-7", text)
	if strings.Contains(text(), "mallory") {
		t.Errorf("the log holds a key:\n%s", text())
	}
}

// A stream that ends in an error event is not one that went well.
func TestStreamsThatEndInAnErrorAreSeen(t *testing.T) {
	broken, told := strings.Replace(chunkCall, `\"Pa`, `\"Pa}}]`, 1), 0
	for _, a := range apis {
		log, text := logged(slog.LevelInfo)
		url := start(t, stream(broken, chunkTools, done), backend.Config{Provider: "openai", Retries: -1, Formats: natively}, log,
			func(c *gateway.Config) { c.Limits.Retries = -1 })
		resp, body := a.post(t, url, offer(true))
		if resp.StatusCode != 200 || !strings.Contains(body, errorWords[a.name][2]) {
			continue // refused before it began, with a status that tells
		}
		told++
		seen(t, a.name, "level=WARN msg=request", text)
		if _, counted := get(t, "GET", url+"/metrics", ""); strings.Contains(counted, `status="200",reason="ok"`) || !strings.Contains(counted, `reason="broken_call"`) {
			t.Errorf("%s: %s", a.name, counted)
		}
	}
	if told == 0 {
		t.Error("no stream ended in an error event")
	}
}

// Claude Code asks so at every start, without a key: nobody has to read of it.
func TestHelloOfClaudeCodeIsNoWarning(t *testing.T) {
	log, text := logged(slog.LevelInfo)
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, keyed(func(*gateway.Client) {}), log)
	if resp, _ := get(t, "HEAD", url+"/api/hello", ""); resp.StatusCode != 200 {
		t.Errorf("HTTP %d", resp.StatusCode)
	}
	get(t, "POST", url+"/v1/chat/completions", "{}")
	seen(t, "the log", "reason=no_key ", text)
	if n := strings.Count(text(), "msg=request"); n != 1 {
		t.Errorf("%d lines:\n%s", n, text())
	}
}

// Supervisors ask by an address, and get no more than they need.
func TestProbesAnswerByAnyHost(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"})
	for _, tt := range []struct {
		path, host string
		want       int
	}{
		{"/healthz", "10.1.2.3:4141", 200}, {"/readyz", "10.1.2.3:4141", 200}, {"/metrics", "10.1.2.3:4141", 200}, {"/metrics", "[fd00::1]:4141", 200},
		{"/healthz", "bx.default.svc", 200}, {"/readyz", "bx.default.svc", 200},
		{"/metrics", "bx.default.svc", 403}, // a page's own name can point anywhere
		{"/v1/models", "10.1.2.3:4141", 403},
	} {
		if resp, body := get(t, "GET", url+tt.path, "", "Host", tt.host); resp.StatusCode != tt.want {
			t.Errorf("%s by %s: HTTP %d: %s", tt.path, tt.host, resp.StatusCode, body)
		}
	}
	if resp, _ := get(t, "GET", url+"/metrics", "", "Host", "10.1.2.3:4141", "Origin", "http://evil.example"); resp.StatusCode != 403 {
		t.Errorf("a page: HTTP %d", resp.StatusCode)
	}
}

// The listener for probes wants no key and knows nothing but probes; readiness
// ends with Drain, and requests do not.
func TestProbesApart(t *testing.T) {
	up, _ := target(t, "up", "openai")
	conf := gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{up}}}}
	keyed(func(*gateway.Client) {})(&conf)
	g, err := gateway.New(conf)
	if err != nil {
		t.Fatal(err)
	}
	main, apart := httptest.NewServer(g), httptest.NewServer(g.Probes())
	t.Cleanup(main.Close)
	t.Cleanup(apart.Close)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/v1/models": 404, "/": 404} {
		if resp, body := get(t, "GET", apart.URL+path, "", "Host", "any.example"); resp.StatusCode != want {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, body)
		}
	}
	g.Drain()
	for _, url := range []string{main.URL, apart.URL} {
		if resp, body := get(t, "GET", url+"/readyz", ""); resp.StatusCode != 503 || !strings.Contains(body, "draining") {
			t.Errorf("draining: HTTP %d: %s", resp.StatusCode, body)
		}
	}
	if resp, body := apis[0].post(t, main.URL, offer(false), "x-api-key", "bx-bob"); resp.StatusCode != 200 {
		t.Errorf("a request while draining: HTTP %d: %s", resp.StatusCode, body)
	}
}

// sample is a line of the text format with a value.
var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"(?:,|\}$))+)?$`)

// The metrics are of the text format: every sample has its HELP and TYPE before
// it, none comes twice, and histograms add up. Clients cannot make new labels.
func TestMetricsAreOfTheFormat(t *testing.T) {
	up, _ := target(t, "up \"quoted\" \\ \u00e9\n", "openai")
	url := listen(t, gateway.Config{NewID: ids(), Build: "v1.2.3", Routes: []gateway.Route{{To: []gateway.Target{up}}}})
	for i := range 150 {
		q := offer(false)
		q.Model = "made-up-" + strings.Repeat("x", i)
		apis[i%len(apis)].post(t, url, q)
	}
	_, text := get(t, "GET", url+"/metrics", "")
	kinds, samples := map[string]string{}, map[string]bool{}
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if rest, found := strings.CutPrefix(l, "# TYPE "); found {
			name, kind, _ := strings.Cut(rest, " ")
			if kinds[name] != "" {
				t.Errorf("two types: %s", l)
			}
			kinds[name] = kind
			continue
		}
		if strings.HasPrefix(l, "# HELP ") {
			continue
		}
		at := strings.LastIndexByte(l, ' ')
		found := sample.FindStringSubmatch(l[:at])
		if found == nil || samples[l[:at]] {
			t.Errorf("no sample, or one that came before: %s", l)
			continue
		}
		samples[l[:at]] = true
		name := found[1]
		for _, end := range []string{"_bucket", "_sum", "_count"} {
			if base, cut := strings.CutSuffix(name, end); cut && kinds[base] == "histogram" {
				name = base
			}
		}
		if kinds[name] == "" || strings.HasSuffix(name, "_total") != (kinds[name] == "counter") {
			t.Errorf("%s is of the type %q", l, kinds[name])
		}
	}
	models := map[string]bool{}
	for _, m := range regexp.MustCompile(`bx_requests_total\{[^}]*model="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		models[m[1]] = true
	}
	if !models["other"] || len(models) != 101 {
		t.Errorf("%d models have labels", len(models))
	}
	want := []string{`bx_build_info{version="v1.2.3",goversion="go`, "go_goroutines ", "go_gc_gogc_percent 100", "go_memstats_alloc_bytes "}
	if runtime.GOOS == "linux" {
		want = append(want, "process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds ", "process_max_fds ", "process_start_time_seconds ")
	}
	for _, w := range want {
		if !strings.Contains(text, "\n"+w) {
			t.Errorf("no %s", w)
		}
	}
}

// What the model does not see of a user's message is told in a header without
// asking, and the model is told that there was a file.
func TestFilesThatAreNotSentAreTold(t *testing.T) {
	for _, name := range []string{"openai", "ollama"} {
		m := hello(apiNamed(name))
		url := start(t, m, backend.Config{Provider: name})
		q := offer(false)
		q.Messages = []utp.Message{{Role: utp.RoleUser, Parts: []utp.Part{utp.Text{Text: "Sum it up."},
			utp.Blob{MIME: "application/pdf", Name: "report.pdf", Data: []byte("%PDF-1.4")}}}}
		resp, body := apiNamed("anthropic").post(t, url, q)
		if warning := resp.Header.Get("X-Bx-Warning"); resp.StatusCode != 200 || !strings.Contains(warning, "a note sent in its place") {
			t.Errorf("%s: X-Bx-Warning %q: %s", name, warning, body)
		}
		if asked := m.Asked()[0].Messages[0].Text(); !strings.Contains(asked, "Sum it up.") || !strings.Contains(asked, "(a file that cannot be shown: report.pdf application/pdf)") && !strings.Contains(asked, "(a file that cannot be shown: application/pdf)") {
			t.Errorf("%s: the model sees %q", name, asked)
		}
		if resp, _ := apiNamed("anthropic").post(t, url, &utp.Request{Model: "m", Messages: []utp.Message{utp.NewText(utp.RoleUser, "Hi.")}}); resp.Header.Get("X-Bx-Warning") != "" {
			t.Errorf("%s: nothing is lost: %q", name, resp.Header.Get("X-Bx-Warning"))
		}
	}
}

// A schema that is not enforced is told in a header without asking.
func TestAStrictSchemaThatIsLostIsTold(t *testing.T) {
	s, err := fake.Parse("strict", []byte("-- server --\nkind: openai\nmodel: m\nrefuse: response_format.json_schema.strict\n-- turn --\nrepeat\n-- text --\n{\"a\":\"x\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	url := start(t, fake.New(s), backend.Config{Provider: "openai", Retries: -1})
	q, yes := offer(false), true
	q.Tools, q.Params.Schema, q.Params.SchemaHeld = nil, []byte(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`), &yes
	for range 2 { // when the server says so, and when that is known
		resp, body := apiNamed("openai").post(t, url, q)
		if warning := resp.Header.Get("X-Bx-Warning"); resp.StatusCode != 200 || !strings.Contains(warning, "strict: dropped") {
			t.Errorf("HTTP %d, X-Bx-Warning %q: %s", resp.StatusCode, warning, body)
		}
	}
}

// Clients of other machines are not told where the backends are.
func TestRemoteClientsAreNotToldAddresses(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, up := range map[string]http.Handler{"gone": nil, "nonsense": stream("<html>"), "500": refusal(500, "", ""), "401": refusal(401, "bad key", "")} {
		server := gone
		if up != nil {
			server = httptest.NewServer(up)
			t.Cleanup(server.Close)
		}
		c, err := backend.New(backend.Config{Provider: "openai", URL: server.URL, Retries: -1, Formats: natively})
		if err != nil {
			t.Fatal(err)
		}
		g, err := gateway.New(gateway.Config{NewID: ids(), Hosts: []string{"*"}, Routes: []gateway.Route{{To: []gateway.Target{{Name: "up", Backend: c}}}}})
		if err != nil {
			t.Fatal(err)
		}
		for from, told := range map[string]bool{"192.0.2.7:1234": false, "127.0.0.1:1234": true, "127.0.0.1:1234 for 192.0.2.7": false} {
			for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/readyz"} {
				r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi."}]}`))
				if path == "/readyz" {
					r = httptest.NewRequest(http.MethodGet, path, nil)
				}
				address, of, _ := strings.Cut(from, " for ")
				if r.RemoteAddr = address; of != "" {
					r.Header.Set("X-Forwarded-For", of)
				}
				w := httptest.NewRecorder()
				g.ServeHTTP(w, r)
				body := w.Body.String()
				leaks := strings.Contains(body, server.URL) || strings.Contains(body, server.Listener.Addr().String()) || strings.Contains(body, "OPENAI_")
				if w.Code < 400 || leaks && !told {
					t.Errorf("%s, %s from %s: HTTP %d: %s", name, path, from, w.Code, body)
				}
				if name == "gone" && told && !leaks {
					t.Errorf("%s from this machine: %s", path, body)
				}
			}
		}
	}
}

// A tool whose schema is too large to compile in time is refused in words.
func TestHugeSchemasAreRefused(t *testing.T) {
	var b strings.Builder
	for i := range 12_000 {
		b.WriteString(`,"p` + strings.Repeat("x", i%7) + `":{}`)
	}
	huge := offer(false)
	huge.Tools = append(huge.Tools[:1:1], utp.Tool{Name: "huge", Schema: []byte(`{"type":"object","properties":{` + b.String()[1:] + `}}`)})
	many := offer(false)
	for i := range 5 { // each within the bound
		many.Tools = append(many.Tools, utp.Tool{Name: "large" + strconv.Itoa(i), Schema: []byte(`{"type":"object","properties":{` + b.String()[1:strings.LastIndex(b.String()[:48_000], ",")] + `}}`)})
	}
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"})
	small := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Limits.Schema.Keys = 1 })
	for _, a := range apis {
		if resp, body := a.post(t, url, huge); resp.StatusCode != 400 || !strings.Contains(body, "a smaller schema for huge") || !strings.Contains(body, errorWords[a.name][0]) {
			t.Errorf("%s: HTTP %d: %.300s", a.name, resp.StatusCode, body)
		}
		if resp, body := a.post(t, url, many); resp.StatusCode != 400 || !strings.Contains(body, ": with it the tools have more than 20000 keys") {
			t.Errorf("%s: HTTP %d: %.300s", a.name, resp.StatusCode, body)
		}
		if resp, body := a.post(t, small, offer(false)); resp.StatusCode != 400 || !strings.Contains(body, "more than 1 keys") {
			t.Errorf("%s: HTTP %d: %.300s", a.name, resp.StatusCode, body)
		}
	}
}
