package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// loader is an Ollama with one model in its memory: another num_ctx loads it anew.
type loader struct {
	mu                 sync.Mutex
	max, file, loaded  int   // windows: of the model, of its file, in memory
	loads              []int // the windows that it was loaded with
	looks              int   // questions what is loaded
	perToken           int   // bytes of a token
	refuse             bool  // there is not enough memory
	client             *Client
	clock              time.Time
	warned             []string
	asked, lastCounted int
}

func newLoader(t *testing.T, l *loader, c Config) *loader {
	t.Helper()
	h := httptest.NewServer(l)
	t.Cleanup(h.Close)
	c.Provider, c.URL, c.Model, c.Retries = Ollama, h.URL, "m", -1
	c.Warn = func(s string) { l.warned = append(l.warned, s) }
	l.clock = time.Now()
	c.Now = func() time.Time { return l.clock }
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l.client = client
	return l
}

func (l *loader) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.URL.Path {
	case "/api/show":
		parameters := ""
		if l.file > 0 {
			parameters = fmt.Sprintf("num_ctx %d", l.file)
		}
		fmt.Fprintf(w, `{"capabilities":["completion","tools"],"parameters":%q,"model_info":{"m.context_length":%d}}`, parameters, l.max)
	case "/api/ps":
		l.looks++
		if l.loaded == 0 {
			fmt.Fprint(w, `{"models":[]}`)
			return
		}
		fmt.Fprintf(w, `{"models":[{"name":"m:latest","model":"m:latest","context_length":%d}]}`, l.loaded)
	case "/api/chat":
		l.chat(w, r)
	}
}

func (l *loader) chat(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages json.RawMessage
		Options  struct {
			NumCtx int `json:"num_ctx"`
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	l.asked = q.Options.NumCtx
	if l.refuse {
		http.Error(w, `{"error":"model requires more system memory (20 GiB) than is available (8 GiB)"}`, http.StatusInternalServerError)
		return
	}
	l.load(l.asked)
	l.lastCounted = min(len(q.Messages)/max(l.perToken, 1), l.loaded)
	fmt.Fprintf(w, `{"message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":1}`+"\n", l.lastCounted)
}

func (l *loader) load(n int) {
	if n != l.loaded {
		l.loaded, l.loads = n, append(l.loads, n)
	}
}

// ask sends a prompt of about so many tokens and gives the num_ctx.
func (l *loader) ask(t *testing.T, tokens int, p utp.Params) int {
	t.Helper()
	return l.send(t, &utp.Request{Params: p, Messages: []utp.Message{utp.NewText(utp.RoleUser, strings.Repeat(" is a", tokens*32/56))}})
}

func (l *loader) send(t *testing.T, r *utp.Request) int {
	t.Helper()
	l.asked = 0
	for _, err := range l.client.Stream(context.Background(), r) {
		if err != nil && !l.refuse {
			t.Fatal(err)
		}
	}
	return l.asked
}

func limit(n int) utp.Params { return utp.Params{MaxTokens: &n} }

// A conversation of twelve turns with results of 6 KB, which grows from 8k to 32k.
func TestWindowReloadsAtMostTwice(t *testing.T) {
	l := newLoader(t, &loader{max: 131072, perToken: 4}, Config{})
	r := &utp.Request{Params: limit(32000), Messages: []utp.Message{utp.NewText(utp.RoleSystem, strings.Repeat("rule ", 3000)), utp.NewText(utp.RoleUser, "Review the repository.")}}
	for i := range 12 {
		l.send(t, r)
		c := utp.Call{ID: fmt.Sprint(i), Name: "read_file", Args: []byte(`{"path":"a.go"}`)}
		r.Messages = append(r.Messages, utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}},
			utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, strings.Repeat("\tif err := request(ctx, name); err != nil { // the server is not there\n", 85))}})
		l.clock = l.clock.Add(10 * time.Second)
	}
	if len(l.loads) < 2 || len(l.loads) > 3 || l.loads[0] != 8192 {
		t.Errorf("loaded with %v: want 8192, and at most two more", l.loads)
	}
	if r.Tokens() < 20000 || len(l.warned) > 0 {
		t.Errorf("%d tokens at the end, warned %q", r.Tokens(), l.warned)
	}
}

// What is in memory is used as it is if the request fits, whoever loaded it.
func TestLoadedWindowThatFitsIsUsed(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		max, file, loaded, tokens int
		params                    utp.Params
		config                    Config
		want                      int
	}{
		{"another client's default", 131072, 0, 4096, 22, utp.Params{}, Config{}, 4096},
		{"with a reply that may be long", 131072, 0, 8192, 22, limit(60000), Config{}, 8192},
		{"a larger one", 131072, 0, 65536, 22, utp.Params{}, Config{}, 65536},
		{"too small", 131072, 0, 4096, 5000, utp.Params{}, Config{}, 8192},
		{"no room for the reply", 131072, 0, 4096, 3500, utp.Params{}, Config{}, 8192},
		{"not loaded", 131072, 0, 0, 22, utp.Params{}, Config{}, 8192},
		{"not loaded, long", 131072, 0, 0, 17000, limit(32000), Config{}, 32768},
		{"a small model", 2048, 0, 0, 22, limit(32000), Config{}, 2048},
		{"a small model, long", 6000, 0, 6000, 8000, utp.Params{}, Config{}, 6000},
		{"the model file", 131072, 12000, 0, 22, utp.Params{}, Config{}, 12000},
		{"the model file before another client", 131072, 12000, 4096, 22, utp.Params{}, Config{}, 12000},
		{"the configuration", 131072, 12000, 8192, 22, utp.Params{}, Config{NumCtx: 5000}, 5000},
		{"the request", 131072, 12000, 8192, 22, utp.Params{Context: new(3000)}, Config{NumCtx: 5000}, 3000},
	} {
		l := newLoader(t, &loader{max: tt.max, file: tt.file, loaded: tt.loaded, perToken: 5}, tt.config)
		if got := l.ask(t, tt.tokens, tt.params); got != tt.want {
			t.Errorf("%s: num_ctx %d, want %d", tt.name, got, tt.want)
		}
	}
}

// What another client loaded meanwhile counts, and the server is not asked for
// each of a row of requests.
func TestLoadedWindowIsKnownFreshly(t *testing.T) {
	l := newLoader(t, &loader{max: 131072, perToken: 5}, Config{})
	for range 20 {
		l.ask(t, 22, utp.Params{})
	}
	if l.looks != 1 || len(l.loads) != 1 {
		t.Errorf("asked %d times what is loaded, loads %v", l.looks, l.loads)
	}
	l.load(4096) // by an editor
	l.clock = l.clock.Add(3 * time.Second)
	if got := l.ask(t, 22, utp.Params{}); got != 4096 || l.looks != 2 {
		t.Errorf("num_ctx %d, want what the other client loaded; asked %d times", got, l.looks)
	}
	l.ask(t, 20000, utp.Params{})
	l.loaded, l.clock = 0, l.clock.Add(10*time.Minute) // Ollama let it go
	if got := l.ask(t, 22, utp.Params{}); got != 32768 {
		t.Errorf("num_ctx %d, want as much as before", got)
	}
}

// A window for which there is no memory is not asked for for ever.
func TestWindowThatCouldNotBeLoaded(t *testing.T) {
	l := newLoader(t, &loader{max: 131072, perToken: 5, refuse: true}, Config{})
	if got := l.ask(t, 50000, utp.Params{}); got != 65536 {
		t.Fatalf("num_ctx %d", got)
	}
	l.refuse = false
	if got := l.ask(t, 22, utp.Params{}); got != 8192 {
		t.Errorf("num_ctx %d after the server lacked the memory for 65536", got)
	}
}

// A short prompt is not cut because the reply may be long.
func TestWindowWarningIsTrue(t *testing.T) {
	for _, tt := range []struct {
		max, tokens int
		params      utp.Params
		want        string
	}{
		{32768, 7, limit(60000), ""},
		{32768, 17000, limit(32000), ""},
		{8192, 7800, utp.Params{}, "little room is left for the reply"},
		{8192, 11000, utp.Params{}, "its beginning may be cut off unseen"},
	} {
		l := newLoader(t, &loader{max: tt.max, perToken: 8}, Config{})
		l.ask(t, tt.tokens, tt.params)
		if said := strings.Join(l.warned, "\n"); said == "" != (tt.want == "") || !strings.Contains(said, tt.want) {
			t.Errorf("%d tokens for %d: warned %q, want %q", tt.tokens, tt.max, said, tt.want)
		}
	}
}

// TestPromptOfJapaneseGetsItsWindow: 30,600 characters are 20,000 tokens and more.
func TestPromptOfJapaneseGetsItsWindow(t *testing.T) {
	l := newLoader(t, &loader{max: 131072, perToken: 4}, Config{})
	if got := l.send(t, &utp.Request{Messages: []utp.Message{utp.NewText(utp.RoleUser, strings.Repeat("検索の結果をまとめて報告する。", 2040))}}); got != 32768 {
		t.Errorf("num_ctx %d, want 32768", got)
	}
}

// What the server cut in silence is told, and does not happen again: it shows how
// many tokens the model makes of such text.
func TestPromptThatWasCutIsTold(t *testing.T) {
	l := newLoader(t, &loader{max: 131072, perToken: 1}, Config{}) // a token for each byte
	l.ask(t, 5000, utp.Params{})
	if l.loaded != 8192 || l.lastCounted != 8192 || len(l.warned) != 1 || !strings.Contains(l.warned[0], "read 8192 tokens of the prompt") {
		t.Fatalf("num_ctx %d, counted %d, warned %q", l.loaded, l.lastCounted, l.warned)
	}
	for range 3 {
		l.ask(t, 5000, utp.Params{})
	}
	if said := len(l.warned); l.lastCounted == l.loaded || said > 2 {
		t.Errorf("num_ctx %d, counted %d, warned %q", l.loaded, l.lastCounted, l.warned)
	}
}

// A server that has most of a prompt in its cache counts little of it.
func TestCachedPromptIsNotTakenForCut(t *testing.T) {
	l := newLoader(t, &loader{max: 32768, perToken: 500}, Config{})
	for range 3 {
		l.ask(t, 12000, utp.Params{})
	}
	if len(l.warned) > 0 || len(l.loads) != 1 {
		t.Errorf("warned %q, loads %v", l.warned, l.loads)
	}
}

func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		max, config, reply, want int
	}{{32768, 0, 0, 31744}, {32768, 0, 60000, 28672}, {32768, 8192, 0, 7168}, {2000, 0, 0, 1500}, {0, 0, 0, 0}} {
		l := newLoader(t, &loader{max: tt.max}, Config{NumCtx: tt.config})
		if got := l.client.Room(context.Background(), "m", tt.reply); got != tt.want {
			t.Errorf("window %d, num_ctx %d, reply %d: room for %d, want %d", tt.max, tt.config, tt.reply, got, tt.want)
		}
	}
}
