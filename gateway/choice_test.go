package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// paced is a server of OpenAI's API that takes its time, by a clock of the test's,
// and counts who asks.
type paced struct {
	clock *clock
	mu    sync.Mutex
	takes time.Duration
	asked int
	hold  chan struct{} // a request waits for a word from it; nil: none does
	held  chan struct{} // and says so
}

func (p *paced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		return
	}
	p.mu.Lock()
	p.asked++
	takes, hold := p.takes, p.hold
	p.mu.Unlock()
	if hold != nil {
		p.held <- struct{}{}
		<-hold
	}
	p.clock.pass(takes)
	stream(chunkText, chunkStop, done)(w, r)
}

func (p *paced) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// turn asks a question; said is what came before it.
func turn(t *testing.T, url, question string, said ...string) *http.Response {
	t.Helper()
	messages := fmt.Sprintf(`{"role":"user","content":%q}`, question)
	for _, s := range said {
		messages += fmt.Sprintf(`,{"role":"assistant","content":%q},{"role":"user","content":"Go on."}`, s)
	}
	resp, text := get(t, "POST", url+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[`+messages+`]}`)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", resp.Status, text)
	}
	return resp
}

// The fastest target is asked, and the slow one now and then, so that it is found out
// when it is slow no more.
func TestTheFastestIsChosen(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	slow, fast := &paced{clock: c, takes: 8 * time.Second}, &paced{clock: c, takes: time.Second}
	var mu sync.Mutex
	var log bytes.Buffer
	url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Log: slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil)), Routes: []gateway.Route{{Choose: gateway.ByLatency,
		To: []gateway.Target{behind(t, "slow", "openai", slow), behind(t, "fast", "openai", fast)}}}})
	for i := range 100 {
		turn(t, url, fmt.Sprint("Question ", i))
	}
	if n := slow.count(); n < 3 || n > 6 {
		t.Errorf("the slow target was asked %d of 100 times", n)
	}
	for _, word := range []string{"chosen=untried", "chosen=latency", "chosen=explored"} {
		if !strings.Contains(told(&mu, &log), word) {
			t.Errorf("the log does not say %s", word)
		}
	}
	slow.mu.Lock()
	slow.takes = 100 * time.Millisecond
	slow.mu.Unlock()
	before := slow.count()
	for i := range 200 {
		turn(t, url, fmt.Sprint("Question ", 100+i))
	}
	if n := slow.count() - before; n < 100 {
		t.Errorf("now the fastest, it was asked %d of 200 times", n)
	}
	_, text := get(t, "GET", url+"/metrics", "")
	for _, line := range []string{`bx_targets_chosen_total{target="slow",key="",why="explored"}`, `bx_target_first_byte_seconds{target="slow",model="m",stream="true"}`, `bx_target_requests_running{target="fast",model="m"} 0`} {
		if !strings.Contains(text, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// Requests go where the fewest are under way for the weight, as soon as they are
// chosen and not when they are answered.
func TestTheLeastBusyIsChosen(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	held := make(chan struct{}, 8)
	a, b := &paced{clock: c, hold: make(chan struct{}), held: held}, &paced{clock: c, hold: make(chan struct{}), held: held}
	heavy := behind(t, "heavy", "openai", a)
	heavy.Weight = 3
	url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Routes: []gateway.Route{{Choose: gateway.LeastBusy, To: []gateway.Target{heavy, behind(t, "light", "openai", b)}}}})
	var all sync.WaitGroup
	for range 8 { // the same words: a choice by the beginning would send all to one
		all.Go(func() {
			resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi."}]}`))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		})
	}
	for range 8 {
		<-held
	}
	if a.count() != 6 || b.count() != 2 {
		t.Errorf("%d and %d requests run at weights 3 and 1", a.count(), b.count())
	}
	close(a.hold)
	close(b.hold)
	all.Wait()
}

// A conversation stays with its target, on any replica, unless that is left alone.
func TestAConversationStaysWithItsTarget(t *testing.T) {
	b := books(t, nil, nil)
	for _, choose := range []gateway.Choose{gateway.ByWeight, gateway.LeastBusy, gateway.ByLatency} {
		c := &clock{at: time.Now()}
		one, two := &paced{clock: c, takes: time.Second}, &paced{clock: c, takes: time.Second}
		to := []gateway.Target{behind(t, "one", "openai", one), behind(t, "two", "openai", two)}
		var urls []string
		for range 2 {
			urls = append(urls, listen(t, gateway.Config{NewID: ids(), Now: c.now, State: b.DB, Routes: []gateway.Route{{Choose: choose, To: to}}}))
		}
		for i := range 10 {
			question := fmt.Sprint(choose, i)
			own := turn(t, urls[0], question).Header.Get("X-Bx-Target")
			for n := range 5 {
				if got := turn(t, urls[n%2], question, make([]string, n+1)...).Header.Get("X-Bx-Target"); got != own {
					t.Errorf("%s: turn %d went to %s, those before to %s", choose, n+2, got, own)
				}
			}
		}
		if one.count() == 0 || two.count() == 0 {
			t.Errorf("%s: %d and %d requests: one target has them all", choose, one.count(), two.count())
		}
	}
}

// A target that is left alone is not chosen, whatever is known of it.
func TestBreakersStandBeforeTheChoice(t *testing.T) {
	for _, choose := range []gateway.Choose{gateway.LeastBusy, gateway.ByLatency} {
		c := &clock{at: time.Unix(1000, 0)}
		asked := 0
		bad := behind(t, "bad", "openai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				asked++
			}
			refusal(429, "slow down", "3000")(w, r)
		}))
		good := &paced{clock: c, takes: time.Second}
		url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Routes: []gateway.Route{{Choose: choose, To: []gateway.Target{bad, behind(t, "good", "openai", good)}}}})
		for i := range 20 {
			turn(t, url, fmt.Sprint(i))
		}
		if asked != 1 || good.count() != 20 {
			t.Errorf("%s: %d requests went to the target that wants none, %d to the other", choose, asked, good.count())
		}
	}
}

// keyring is a server that refuses some of its keys, and what it was asked with.
type keyring struct {
	mu     sync.Mutex
	refuse map[string]http.HandlerFunc
	asked  map[string]int
}

func (k *keyring) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		return
	}
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	k.mu.Lock()
	k.asked[key]++
	refuse := k.refuse[key]
	k.mu.Unlock()
	switch {
	case refuse != nil:
		refuse(w, r)
	case strings.HasSuffix(r.URL.Path, "/embeddings"):
		fmt.Fprint(w, `{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`)
	default:
		stream(chunkText, chunkStop, done)(w, r)
	}
}

// behindKeys is a target with three keys: K1, K2 and K3.
func behindKeys(t *testing.T, k *keyring) gateway.Target {
	t.Helper()
	up := httptest.NewServer(k)
	t.Cleanup(up.Close)
	c, err := backend.New(backend.Config{Provider: "openai", URL: up.URL, APIKey: "k1", OnlyOffered: true, HTTP: up.Client()})
	if err != nil {
		t.Fatal(err)
	}
	to := gateway.Target{Name: "up", Backend: c, Retries: -1}
	for _, key := range []string{"k1", "k2", "k3"} {
		to.Keys = append(to.Keys, gateway.Key{Name: strings.ToUpper(key), Backend: c.WithKey(key)})
	}
	return to
}

// A key that is refused, or has asked for too much, is left alone by itself, also by
// the other replicas, and no client hears of it.
func TestKeysAreLeftAloneByThemselves(t *testing.T) {
	for _, tt := range []struct {
		name   string
		refuse http.HandlerFunc
		pause  time.Duration
	}{
		{"401", refusal(401, "Incorrect API key", ""), time.Minute},
		{"402", refusal(402, "no credit is left", ""), time.Minute},
		{"429", refusal(429, "slow down", "40"), 40 * time.Second},
		{"429 without a pause", refusal(429, "slow down", ""), 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := books(t, nil, nil)
			c := &clock{at: time.Now()}
			k := &keyring{asked: map[string]int{}, refuse: map[string]http.HandlerFunc{"k2": tt.refuse}}
			to := behindKeys(t, k)
			var mu sync.Mutex
			var log bytes.Buffer
			conf := gateway.Config{NewID: ids(), Now: c.now, State: b.DB, Log: slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil)), Routes: []gateway.Route{{To: []gateway.Target{to}}}}
			url := listen(t, conf)
			ask := func(url string) {
				for i := range 12 {
					turn(t, url, fmt.Sprint("Question ", i))
				}
			}
			ask(url)
			if k.asked["k2"] != 1 || k.asked["k1"]+k.asked["k3"] != 12 || k.asked["k1"] == 0 || k.asked["k3"] == 0 {
				t.Errorf("asked with %v", k.asked)
			}
			if !strings.Contains(told(&mu, &log), `msg="a key is left alone" target=up model=m key=K2`) || strings.Contains(told(&mu, &log), "k2") {
				t.Errorf("the log: %s", told(&mu, &log))
			}
			if _, text := get(t, "GET", url+"/metrics", ""); !strings.Contains(text, `bx_target_left_alone{target="up",model="m",key="K2"} 1`) || !strings.Contains(text, `bx_targets_chosen_total{target="up",key="K1"`) {
				t.Errorf("the metrics: %s", text)
			}
			resp, text := get(t, "POST", url+"/v1/embeddings", `{"model":"m","input":"x"}`)
			if resp.StatusCode != http.StatusOK || k.asked["k2"] != 1 {
				t.Errorf("embeddings: %s %s, asked with %v", resp.Status, text, k.asked)
			}

			other, err := gateway.New(conf)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Cool(t.Context()); err != nil {
				t.Fatal(err)
			}
			down := httptest.NewServer(other)
			t.Cleanup(down.Close)
			ask(down.URL)
			if k.asked["k2"] != 1 {
				t.Errorf("the other replica asked with it %d times", k.asked["k2"]-1)
			}

			c.pass(tt.pause + time.Second)
			k.mu.Lock()
			k.refuse = nil
			k.mu.Unlock()
			ask(url)
			if k.asked["k2"] < 2 {
				t.Errorf("after the pause it is not asked with: %v", k.asked)
			}
		})
	}
}

// An embedding is asked for with the next key, too; and where no key is taken the
// client gets the last refusal.
func TestWhatPassesThroughTakesTheNextKey(t *testing.T) {
	k := &keyring{asked: map[string]int{}, refuse: map[string]http.HandlerFunc{"k1": refusal(429, "slow down", "7"), "k2": refusal(401, "no", "")}}
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{behindKeys(t, k)}}}})
	for range 5 {
		if resp, text := get(t, "POST", url+"/v1/embeddings", `{"model":"m","input":"x"}`); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", resp.Status, text)
		}
	}
	if k.asked["k1"] > 1 || k.asked["k2"] > 1 || k.asked["k3"] != 5 {
		t.Errorf("asked with %v", k.asked)
	}
	k.mu.Lock()
	for _, key := range []string{"k1", "k2", "k3"} {
		k.refuse[key] = refusal(429, "slow down, all of you", "9")
	}
	k.mu.Unlock()
	resp, text := get(t, "POST", url+"/v1/embeddings", `{"model":"m","input":"x"}`)
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "9" || !strings.Contains(text, "slow down, all of you") {
		t.Errorf("%s, %v: %s", resp.Status, resp.Header, text)
	}
}

// Of two targets with two keys each, conversations begin with all four.
func TestKeysDoNotFollowTheTarget(t *testing.T) {
	one, two := &keyring{asked: map[string]int{}}, &keyring{asked: map[string]int{}}
	to := []gateway.Target{behindKeys(t, one), behindKeys(t, two)}
	for i := range to {
		to[i].Keys = to[i].Keys[:2]
	}
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: to}}})
	for i := range 60 {
		turn(t, url, fmt.Sprint("Question ", i))
	}
	for _, k := range []*keyring{one, two} {
		if k.asked["k1"] < 5 || k.asked["k2"] < 5 {
			t.Errorf("asked with %v and %v of 60", one.asked, two.asked)
		}
	}
}

// What passes through begins with a target and a key of its own, by what it says; what
// belongs to an account is asked for where it was made.
func TestWhatPassesThroughIsSpread(t *testing.T) {
	one, two := &keyring{asked: map[string]int{}}, &keyring{asked: map[string]int{}}
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{behindKeys(t, one), behindKeys(t, two)}}}})
	ask := func(method, path, body string) {
		t.Helper()
		if resp, text := get(t, method, url+path, body); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", resp.Status, text)
		}
	}
	for i := range 60 {
		ask("POST", "/v1/embeddings", fmt.Sprintf(`{"model":"m","input":"text %d"}`, i))
	}
	for _, k := range []*keyring{one, two} {
		for name, n := range k.asked {
			if n < 3 {
				t.Errorf("%s was asked %d times of 60", name, n)
			}
		}
		if len(k.asked) != 3 {
			t.Errorf("asked with %v: want three keys", k.asked)
		}
		clear(k.asked)
	}
	to := []gateway.Target{behindKeys(t, one), behindKeys(t, two)}
	to[0].Model, to[1].Model = "a", "b" // vectors of two models have nothing in common
	other := url
	url = listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: to}}})
	for i := range 20 {
		ask("POST", "/v1/embeddings", fmt.Sprintf(`{"model":"m","input":"text %d"}`, i))
	}
	if len(one.asked) != 3 || len(two.asked) != 0 {
		t.Errorf("of two models they went to %v and %v: want the first alone", one.asked, two.asked)
	}
	clear(one.asked)
	url = other
	for i := range 20 {
		ask("POST", "/v1/files", fmt.Sprintf(`{"model":"m","n":%d}`, i))
	}
	if len(one.asked)+len(two.asked) != 1 {
		t.Errorf("files went to %v and %v: want one key", one.asked, two.asked)
	}
}

// What passes through as it is goes out whole with the next key, the keys that did not
// serve it rest as long as they were told to, and the log says which one did.
func TestAPassageGoesOutWholeWithTheNextKey(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	var bodies []string
	c := &clock{at: time.Now()}
	k := &keyring{asked: map[string]int{}, refuse: map[string]http.HandlerFunc{"k1": refusal(429, "slow down", "90"), "k2": refusal(401, "no", "")}}
	k.refuse["k3"] = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.URL.Path+" "+string(body))
		fmt.Fprint(w, `{"object":"text_completion","choices":[{"text":"ok"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	}
	url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Log: slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil)), Routes: []gateway.Route{{To: []gateway.Target{behindKeys(t, k)}}}})
	ask := func() {
		t.Helper()
		if resp, text := get(t, "POST", url+"/v1/answers", `{"model":"m","prompt":"one two"}`); resp.StatusCode != http.StatusOK || !strings.Contains(text, `"ok"`) {
			t.Errorf("%s: %s", resp.Status, text)
		}
	}
	ask()
	if want := `/v1/answers {"model":"m","prompt":"one two"}`; len(bodies) != 1 || bodies[0] != want || k.asked["k1"] != 1 || k.asked["k2"] != 1 {
		t.Fatalf("it was served %q, asked with %v, want %q behind both other keys", bodies, k.asked, want)
	}
	if text := told(&mu, &log); !strings.Contains(text, "key=K3") || !strings.Contains(text, "did not take one of its keys") {
		t.Errorf("the log: %s", text)
	}
	c.pass(61 * time.Second) // of a refusal the minute is over, of the pause it is not
	ask()
	if k.asked["k1"] != 1 || k.asked["k2"] != 2 {
		t.Errorf("after a minute it was asked with %v", k.asked)
	}
}

// A server that fails is no key's fault: the other keys are not burnt on it.
func TestAFailingServerIsAskedWithOneKey(t *testing.T) {
	broken := refusal(500, "CUDA error", "")
	k := &keyring{asked: map[string]int{}, refuse: map[string]http.HandlerFunc{"k1": broken, "k2": broken, "k3": broken}}
	good := &paced{clock: &clock{at: time.Unix(1000, 0)}}
	url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{behindKeys(t, k)}, Else: []gateway.Target{behind(t, "good", "openai", good)}}}})
	turn(t, url, "Hi.")
	if n := k.asked["k1"] + k.asked["k2"] + k.asked["k3"]; n != 1 || good.count() != 1 {
		t.Errorf("the failing server was asked %d times: %v; the other %d", n, k.asked, good.count())
	}
}
