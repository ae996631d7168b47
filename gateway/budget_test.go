package gateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
	"github.com/unifiedtoolprotocol/utp/price"
)

// booking is a ledger with one key, and what the gateway needs to use it.
type booking struct {
	*database.DB
	key *fleet.Key
}

func books(t *testing.T, own, team fleet.Budget) *booking {
	t.Helper()
	d, err := database.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), replicas.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &booking{d, replicas.Member(t, d, own, team)}
}

// into has a gateway use the ledger, and its State too.
func (b *booking) into(c *gateway.Config) {
	c.Ledger, c.State, c.Replica, c.NewID = b.DB, b.DB, "a", replicas.ID
	c.Prices = price.List{"m": {Input: 1000, Output: 2000}, "free": {}} // a token of either for thousandths
}

// bearer is the header of the key: replicas.Member makes it of the id.
func (b *booking) bearer() string { return "Bearer " + b.key.ID }

// entries lists what is in the ledger.
func (b *booking) entries(t *testing.T) (out []fleet.Entry) {
	t.Helper()
	if err := b.Entries(t.Context(), fleet.Query{KeyID: b.key.ID}, func(e fleet.Entry) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// open is what is reserved in any window.
func (b *booking) reserved(t *testing.T) (n fleet.Amount) {
	t.Helper()
	now, err := b.Windows(t.Context(), b.key, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range now {
		n.Tokens, n.Money, n.Requests = n.Tokens+w.Reserved.Tokens, n.Money+w.Reserved.Money, n.Requests+w.Reserved.Requests
	}
	return n
}

// costly is a model whose replies come to so much.
func costly(a api, u utp.Usage) *fake.API {
	return newModel(a, func(int, *utp.Request) []utp.Event {
		evs := says("Hello there, all is well.")
		evs[len(evs)-1].End.Usage = u
		return evs
	})
}

const limited = `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"Hi."}]}`

// Every request to a backend is one entry, settled by the provider's count.
func TestRequestsAreBooked(t *testing.T) {
	for _, stream := range []string{"false", "true"} {
		b := books(t, fleet.Budget{fleet.Day: {Money: 10 * price.Unit}}, nil)
		url := start(t, costly(apis[0], utp.Usage{Input: 20, CacheRead: 5, Output: 7}), backend.Config{Provider: "openai"}, b.into)
		resp, text := get(t, "POST", url+"/v1/chat/completions", strings.Replace(limited, `"model"`, `"stream":`+stream+`,"model"`, 1), "Authorization", b.bearer())
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", resp.Status, text)
		}
		all := b.entries(t)
		if len(all) != 1 || all[0].Ending != fleet.Settled || all[0].Amount.Money != 39e6 || all[0].Amount.Tokens != 32 || all[0].Usage.CacheRead != 5 || all[0].Model != "m" || all[0].Request != resp.Header.Get("X-Bx-Id") {
			t.Errorf("stream %s: %+v", stream, all)
		}
		if n := b.reserved(t); n != (fleet.Amount{}) {
			t.Errorf("%+v stay reserved", n)
		}
	}
}

// What a budget does not allow is refused before anything is sent, in words of the
// client's API.
func TestBudgetsRefuse(t *testing.T) {
	for _, tt := range []struct {
		name      string
		own, team fleet.Budget
		body      string
		status    int
		want      string
	}{
		{"money", fleet.Budget{fleet.Month: {Money: price.Unit / 100}}, nil, limited, 429, "the budget of this key for the month is 0.01 money"},
		{"tokens of the team", nil, fleet.Budget{fleet.Day: {Tokens: 50}}, limited, 429, "the budget of this team for the day is 50 tokens"},
		{"without a limit for the reply", fleet.Budget{fleet.Day: {Tokens: 50}}, nil, strings.Replace(limited, `"max_tokens":10,`, "", 1), 429, "tokens"},
		{"without a price", fleet.Budget{fleet.Month: {Money: price.Unit}}, nil, strings.Replace(limited, `"m"`, `"other"`, 1), 403, "has no price"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := books(t, tt.own, tt.team)
			m := costly(apis[0], utp.Usage{Input: 1, Output: 1})
			url := start(t, m, backend.Config{Provider: "openai"}, b.into)
			resp, text := get(t, "POST", url+"/v1/chat/completions", tt.body, "Authorization", b.bearer())
			if resp.StatusCode != tt.status || !strings.Contains(text, tt.want) {
				t.Errorf("%s: %s", resp.Status, text)
			}
			if n := len(m.Asked()); n != 0 {
				t.Errorf("the backend was asked %d times", n)
			}
			if len(b.entries(t)) != 0 || b.reserved(t) != (fleet.Amount{}) {
				t.Errorf("%+v", b.entries(t))
			}
		})
	}
}

// A request without a limit gets one that the budget pays for, and the client is told.
func TestALimitThatFits(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Tokens: 3000}}, nil)
	m := costly(apis[0], utp.Usage{Input: 10, Output: 10})
	url := start(t, m, backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) { c.Explain = true })
	resp, text := get(t, "POST", url+"/v1/chat/completions", strings.Replace(limited, `"max_tokens":10,`, "", 1), "Authorization", b.bearer())
	if resp.StatusCode != http.StatusOK || !strings.Contains(strings.Join(resp.Header.Values("X-Bx-Loss"), " "), "the reply may have") {
		t.Fatalf("%s, %v: %s", resp.Status, resp.Header, text)
	}
	asked := m.Asked()
	if len(asked) != 1 || asked[0].Params.MaxTokens == nil || *asked[0].Params.MaxTokens < 1000 || *asked[0].Params.MaxTokens > 3000 {
		t.Errorf("%+v", asked)
	}
}

// A refusal of the backend costs nothing; a broken stream and a client that leaves
// are settled by what was seen.
func TestWhatWasNotServed(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 10 * price.Unit, Tokens: 100000}}, nil)
	refusing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"no"}}`))
	})
	cut := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q}}]}\n\n", strings.Repeat("word ", 50))
	})
	failing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cut(w, r)
		_, _ = io.WriteString(w, `data: {"error":{"message":"overloaded","type":"server_error","code":503}}`+"\n\n")
	})
	for _, tt := range []struct {
		up   http.Handler
		want fleet.Ending
	}{{refusing, fleet.Refused}, {cut, fleet.Estimated}, {failing, fleet.Estimated}} {
		before := len(b.entries(t))
		url := start(t, tt.up, backend.Config{Provider: "openai", Retries: -1}, b.into)
		r, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", strings.NewReader(strings.Replace(limited, `"model"`, `"stream":true,"model"`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", b.bearer())
		r.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(r); err == nil {
			_ = resp.Body.Close()
		}
		all := b.entries(t)
		for range 200 {
			if len(all) > before && all[before].Ending != fleet.Open {
				break
			}
			time.Sleep(10 * time.Millisecond)
			all = b.entries(t)
		}
		if len(all) <= before {
			t.Fatalf("%s: no entry", tt.want)
		}
		e := all[before]
		if e.Ending != tt.want || (tt.want == fleet.Refused) != (e.Amount == fleet.Amount{}) {
			t.Errorf("want %s: %+v", tt.want, e)
		}
		if tt.want == fleet.Estimated && (e.Usage.Output < 30 || e.Usage.Output > 80 || e.Usage.Input == 0) {
			t.Errorf("50 words are estimated at %+v", e.Usage)
		}
	}
	if n := b.reserved(t); n != (fleet.Amount{}) {
		t.Errorf("%+v stay reserved", n)
	}
}

// What passes through is booked, too, by the usage in the answer.
func TestPassagesAreBooked(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
	var sent atomic.Pointer[string]
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		text := fmt.Sprint(body["max_tokens"])
		sent.Store(&text)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data":[{"embedding":[1]}],"choices":[{"text":"x"}],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`))
	})
	url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, b.into)
	for i, tt := range []struct{ path, body, limit string }{
		{"/v1/embeddings", `{"model":"m","input":"a"}`, "<nil>"},
		{"/v1/completions", `{"model":"m","prompt":"a"}`, "8192"},
		{"/v1/completions", `{"model":"m","prompt":"a","max_tokens":5,"n":3}`, "5"},
	} {
		resp, text := get(t, "POST", url+tt.path, tt.body, "Authorization", b.bearer())
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s", tt.path, resp.Status, text)
		}
		all := b.entries(t)
		if len(all) != i+1 || all[i].Ending != fleet.Settled || all[i].Usage != (utp.Usage{Input: 8, CacheRead: 4, Output: 3}) || *sent.Load() != tt.limit {
			t.Errorf("%s: limit %s, %+v", tt.path, *sent.Load(), all[len(all)-1])
		}
		if tt.limit == "5" && all[i].Most.Tokens != int64(len(tt.body)+15) {
			t.Errorf("three answers of 5 tokens: %+v", all[i].Most)
		}
	}
	resp, text := get(t, "POST", url+"/v1/images/generations", `{"model":"painter","prompt":"a"}`, "Authorization", b.bearer())
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(text, "no price") {
		t.Errorf("what has no price: %s %s", resp.Status, text)
	}
}

// gone is a ledger that does not answer while it is away.
type gone struct {
	*database.DB
	away   atomic.Bool
	missed atomic.Int64 // lines that it did not take
}

var errGone = errors.New("connection refused")

func (g *gone) Key(ctx context.Context, h fleet.Hash) (*fleet.Key, error) {
	if g.away.Load() {
		return nil, errGone
	}
	return g.DB.Key(ctx, h)
}

func (g *gone) Reserve(ctx context.Context, r fleet.Reservation) ([]fleet.Spent, error) {
	if g.away.Load() {
		return nil, errGone
	}
	return g.DB.Reserve(ctx, r)
}

func (g *gone) Settle(ctx context.Context, s fleet.Settlement) (fleet.Outcome, error) {
	if g.away.Load() {
		return fleet.Outcome{}, errGone
	}
	return g.DB.Settle(ctx, s)
}

func (g *gone) Lease(ctx context.Context, replica string, until time.Time) error {
	if g.away.Load() {
		return errGone
	}
	return g.DB.Lease(ctx, replica, until)
}

func (g *gone) Cooling(ctx context.Context, now time.Time) (map[string]time.Time, error) {
	if g.away.Load() {
		return nil, errGone
	}
	return g.DB.Cooling(ctx, now)
}

func (g *gone) Record(ctx context.Context, lines []fleet.Line) error {
	if g.away.Load() {
		g.missed.Add(int64(len(lines)))
		return errGone
	}
	return g.DB.Record(ctx, lines)
}

func (g *gone) Enter(ctx context.Context, v fleet.Visit, now time.Time) (fleet.Pass, error) {
	if g.away.Load() {
		return fleet.Pass{}, errGone
	}
	return g.DB.Enter(ctx, v, now)
}

func (g *gone) Get(ctx context.Context, owner string, keys []string, now time.Time) ([][]byte, error) {
	if g.away.Load() {
		return nil, errGone
	}
	return g.DB.Get(ctx, owner, keys, now)
}

// While the ledger is away, keys with a budget get 503 and others go on for a minute;
// what was settled meanwhile is settled afterwards, once.
func TestWhileTheLedgerIsAway(t *testing.T) {
	for _, tt := range []struct {
		name   string
		budget fleet.Budget
		status int
	}{{"with a budget", fleet.Budget{fleet.Day: {Tokens: 100000}}, 503}, {"without", nil, 200}} {
		t.Run(tt.name, func(t *testing.T) {
			b := books(t, tt.budget, nil)
			l := &gone{DB: b.DB}
			var clock atomic.Int64
			clock.Store(time.Now().UnixNano())
			m := costly(apis[0], utp.Usage{Input: 5, Output: 5})
			var mu sync.Mutex
			var log bytes.Buffer
			url := start(t, m, backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) {
				c.Ledger, c.Log = l, slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil))
				c.Now = func() time.Time { return time.Unix(0, clock.Load()) }
				c.Clients = []gateway.Client{{Name: "prometheus", Key: sha256.Sum256([]byte("metrics")), Metrics: true}}
			})
			told := func(n string) {
				t.Helper()
				if _, text := get(t, "GET", url+"/metrics", "", "Authorization", "Bearer metrics"); !strings.Contains(text, "bx_ledger_away "+n+"\n") {
					t.Errorf("metrics: %s", text)
				}
			}
			ask := func() (int, string) {
				t.Helper()
				resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer())
				return resp.StatusCode, text
			}
			if status, text := ask(); status != http.StatusOK {
				t.Fatal(status, text)
			}
			l.away.Store(true)
			if status, text := ask(); status != tt.status {
				t.Errorf("for a key that was looked up a moment ago: %d %s", status, text)
			}
			clock.Add(int64(30 * time.Second))
			if status, text := ask(); status != tt.status || status == 503 && !strings.Contains(text, "ledger") {
				t.Errorf("half a minute later: %d %s", status, text)
			}
			if resp, text := get(t, "GET", url+"/v1/models", "", "Authorization", b.bearer()); resp.StatusCode != tt.status { // which reserves nothing
				t.Errorf("the list of models half a minute later: %s %s", resp.Status, text)
			}
			if _, text := get(t, "GET", url+"/readyz", ""); !strings.Contains(text, `"away":["ledger"]`) {
				t.Errorf("readyz: %s", text)
			}
			told("1")
			clock.Add(int64(2 * time.Minute))
			if status, _ := ask(); status != 503 {
				t.Errorf("after the minute: %d", status)
			}
			l.away.Store(false) // that it is back is found out without a request, and by a clock that stands still
			back := func() bool {
				_, text := get(t, "GET", url+"/readyz", "")
				return !strings.Contains(text, "away")
			}
			for n := 0; n < 160 && !back(); n++ { // the next lease would find out later
				time.Sleep(25 * time.Millisecond)
			}
			if status, text := ask(); status != http.StatusOK {
				t.Errorf("when it is back: %d %s", status, text)
			}
			told("0")
			mu.Lock()
			defer mu.Unlock()
			for _, want := range []string{`msg="does not answer" what=ledger`, `msg="answers again" what=ledger`} {
				if text := log.String(); strings.Count(text, want) != 1 {
					t.Errorf("want %s once in the log: %s", want, text)
				}
			}
		})
	}
}

// While State is away rates do not hold and conversations are waited for, unless it
// is set otherwise.
func TestWhileStateIsAway(t *testing.T) {
	for _, away := range []gateway.Away{{}, {Refuse: true}, {Forget: true}} {
		b := books(t, fleet.Budget{fleet.Minute: {Requests: 2}}, nil)
		s := &gone{DB: b.DB}
		url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) { c.State, c.Away = s, away })
		ask := func(body string) (*http.Response, string) {
			t.Helper()
			return get(t, "POST", url+"/v1/responses", body, "Authorization", b.bearer())
		}
		resp, text := ask(`{"model":"m","input":"Hi."}`)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Ratelimit-Remaining-Requests") != "1" || resp.Header.Get("X-Ratelimit-Limit-Requests") != "2" {
			t.Fatalf("%s, %v: %s", resp.Status, resp.Header, text)
		}
		var first struct{ ID string }
		_ = json.Unmarshal([]byte(text), &first)
		s.away.Store(true)
		for i := range 3 {
			want := 200
			if away.Refuse {
				want = 503
			}
			if resp, text := ask(`{"model":"m","input":"Hi."}`); resp.StatusCode != want {
				t.Errorf("%+v, request %d: %s %s", away, i, resp.Status, text)
			}
		}
		if _, text := get(t, "GET", url+"/readyz", ""); !strings.Contains(text, `"away":["state"]`) {
			t.Errorf("%+v, readyz: %s", away, text)
		}
		resp, text = ask(`{"model":"m","input":"And?","previous_response_id":"` + first.ID + `"}`)
		if want := map[bool]int{false: 503, true: 404}[away.Forget]; resp.StatusCode != want || want == 503 && resp.Header.Get("Retry-After") == "" {
			t.Errorf("%+v, previous_response_id: %s %s", away, resp.Status, text)
		}
		s.away.Store(false)
	}
}

// Of three replicas each continues what another began, for the same key alone.
func TestAnyReplicaAnswersAnyTurn(t *testing.T) {
	b := books(t, nil, nil)
	other := replicas.Member(t, b.DB, nil, nil)
	var urls []string
	m := hello(apis[0])
	for range 3 {
		urls = append(urls, start(t, m, backend.Config{Provider: "openai"}, b.into))
	}
	id := ""
	for turn := range 6 {
		body := fmt.Sprintf(`{"model":"m","input":"Turn %d."}`, turn)
		if id != "" {
			body = strings.Replace(body, "{", `{"previous_response_id":"`+id+`",`, 1)
		}
		resp, text := get(t, "POST", urls[turn%3]+"/v1/responses", body, "Authorization", b.bearer())
		var said struct{ ID string }
		if err := json.Unmarshal([]byte(text), &said); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("turn %d: %s %s", turn, resp.Status, text)
		}
		id = said.ID
	}
	asked := m.Asked()
	if last := asked[len(asked)-1]; len(last.Messages) != 11 {
		t.Errorf("the sixth turn has %d messages", len(last.Messages))
	}
	resp, text := get(t, "POST", urls[0]+"/v1/responses", `{"model":"m","input":"And?","previous_response_id":"`+id+`"}`, "Authorization", "Bearer "+other.ID)
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("for another key: %s %s", resp.Status, text)
	}
	if err := b.Forget(t.Context(), b.key.ID); err != nil {
		t.Fatal(err)
	}
	resp, text = get(t, "POST", urls[1]+"/v1/responses", `{"model":"m","input":"And?","previous_response_id":"`+id+`"}`, "Authorization", b.bearer())
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("after a purge: %s %s", resp.Status, text)
	}
}

func disable(t *testing.T, b *booking, id string, now time.Time) {
	t.Helper()
	if err := b.SetKey(t.Context(), "operator", id, func(k *fleet.Key) error {
		k.Disabled = true
		return nil
	}, now); err != nil {
		t.Fatal(err)
	}
}

// Keys are for the models that they name, until they end.
func TestKeysOfTheLedger(t *testing.T) {
	b := books(t, nil, nil)
	hash := sha256.Sum256([]byte("bx-own"))
	k := fleet.Key{ID: "own", Name: "own", Created: time.Now(), Limits: fleet.Limits{Models: []string{"m"}, Parallel: 1}}
	if err := b.CreateKey(t.Context(), "test", k, hash); err != nil {
		t.Fatal(err)
	}
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) { c.Now = func() time.Time { return time.Unix(0, clock.Load()) } })
	check := func(key, model string, want int) {
		t.Helper()
		resp, text := get(t, "POST", url+"/v1/chat/completions", strings.Replace(limited, `"m"`, `"`+model+`"`, 1), "Authorization", "Bearer "+key)
		if resp.StatusCode != want {
			t.Errorf("%s asks for %s: %s %s", key, model, resp.Status, text)
		}
	}
	check("bx-own", "m", 200)
	check("bx-own", "other", 403)
	check("bx-none", "m", 401)
	disable(t, b, k.ID, time.Now())
	clock.Add(int64(6 * time.Second))
	check("bx-own", "m", 401)
}

// A budget is never passed by what comes at once, and nearly all of it is usable.
func TestBudgetsUnderLoad(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Tokens: 20000}}, nil)
	var book atomic.Int64
	m := newModel(apis[0], func(int, *utp.Request) []utp.Event {
		evs := says("Hello.")
		u := utp.Usage{Input: 20, Output: 10}
		book.Add(int64(u.Input + u.Output))
		evs[len(evs)-1].End.Usage = u
		return evs
	})
	urls := []string{start(t, m, backend.Config{Provider: "openai"}, b.into), start(t, m, backend.Config{Provider: "openai"}, b.into)}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 120 {
				resp, err := http.NewRequest(http.MethodPost, urls[i%2]+"/v1/chat/completions", strings.NewReader(limited))
				if err != nil {
					t.Error(err)
					return
				}
				resp.Header.Set("Authorization", b.bearer())
				resp.Header.Set("Content-Type", "application/json")
				if r, err := http.DefaultClient.Do(resp); err == nil {
					r.Body.Close()
				}
			}
		})
	}
	all.Wait()
	if n := book.Load(); n > 20000 || n < 18000 {
		t.Errorf("the backend has booked %d of 20000", n)
	}
	for range 400 { // what a busy machine has not settled at once comes a moment later
		if b.reserved(t) == (fleet.Amount{}) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%+v stay reserved", b.reserved(t))
}

// Nothing is reserved for keys without a budget: their requests are booked a moment
// later, also those from while the ledger was away.
func TestKeysWithoutABudgetAreBookedLater(t *testing.T) {
	b := books(t, nil, nil)
	l := &gone{DB: b.DB}
	url := start(t, costly(apis[0], utp.Usage{Input: 20, Output: 7}), backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) { c.Ledger = l })
	for i := range 3 {
		l.away.Store(i == 1)
		if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", resp.Status, text)
		}
		for n := 0; i == 1 && n < 400 && l.missed.Load() == 0; n++ {
			time.Sleep(25 * time.Millisecond)
		}
	}
	if l.missed.Load() == 0 {
		t.Error("nothing was booked while the ledger was away")
	}
	var all []fleet.Entry
	for range 400 {
		if all = b.entries(t); len(all) == 3 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(all) != 3 || all[1].Ending != fleet.Settled || all[1].Amount != (fleet.Amount{Requests: 1, Tokens: 27, Money: 34e6}) {
		t.Errorf("%+v", all)
	}
	now, err := b.Windows(t.Context(), b.key, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range now {
		if w.Per == fleet.Month && (w.Settled.Tokens != 81 || w.Reserved != fleet.Amount{}) {
			t.Errorf("%+v", w)
		}
	}
}
