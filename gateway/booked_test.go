package gateway_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
	"github.com/unifiedtoolprotocol/utp/price"
)

// awayTime is longer than a ledger is left alone that did not answer.
const awayTime = 2 * time.Second

// picky is a ledger that takes no settlement while it is away, and never that which came
// first.
type picky struct {
	*database.DB
	away  atomic.Bool
	first atomic.Pointer[string]
}

func (p *picky) Settle(ctx context.Context, s fleet.Settlement) (fleet.Outcome, error) {
	if p.away.Load() {
		p.first.CompareAndSwap(nil, &s.ID)
		return fleet.Outcome{}, errGone
	}
	if *p.first.Load() == s.ID {
		return fleet.Outcome{}, errors.New("it is not taken")
	}
	return p.DB.Settle(ctx, s)
}

// A settlement that the ledger never takes keeps no other from being settled.
func TestOneSettlementHoldsNoOtherUp(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
	l := &picky{DB: b.DB}
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	url := start(t, costly(apis[0], utp.Usage{Input: 5, Output: 5}), backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) {
		c.Ledger, c.Now = l, func() time.Time { return time.Unix(0, clock.Load()) }
	})
	l.away.Store(true)
	for range 3 {
		get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer())
		clock.Add(int64(awayTime)) // it is asked again
	}
	l.away.Store(false)
	var settled int
	for range 400 {
		settled = 0
		for _, e := range b.entries(t) {
			if e.Ending == fleet.Settled {
				settled++
			}
		}
		if settled == 2 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("%d of 2 are settled: %+v", settled, b.entries(t))
}

// counting counts the questions about what is kept.
type counting struct {
	*database.DB
	asked atomic.Int64
}

func (c *counting) Get(ctx context.Context, owner string, keys []string, now time.Time) ([][]byte, error) {
	c.asked.Add(1)
	return c.DB.Get(ctx, owner, keys, now)
}

// All calls of a history are asked for at once.
func TestOneQuestionForAHistory(t *testing.T) {
	b := books(t, nil, nil)
	c := &counting{DB: b.DB}
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, b.into, func(conf *gateway.Config) { conf.State = c })
	history := `{"role":"user","content":"Hi."}`
	for i := range 20 {
		id := strconv.Itoa(i)
		history += `,{"role":"assistant","content":null,"tool_calls":[{"id":"a` + id + `","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b` + id + `","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a` + id + `","content":"x"},{"role":"tool","tool_call_id":"b` + id + `","content":"x"}`
	}
	resp, text := get(t, "POST", url+"/v1/chat/completions", `{"model":"m","messages":[`+history+`]}`, "Authorization", b.bearer())
	if n := c.asked.Load(); resp.StatusCode != http.StatusOK || n != 1 {
		t.Errorf("%s after %d questions: %s", resp.Status, n, text)
	}
}

// What comes to more than was reserved is booked in full: the budget is in debt, what
// comes next is refused, and the debt is counted.
func TestDebt(t *testing.T) {
	for unit, tt := range map[string]struct {
		day  fleet.Amount
		used utp.Usage
	}{
		"money":  {fleet.Amount{Money: price.Unit / 2}, utp.Usage{Input: 5, Output: 1000}},
		"tokens": {fleet.Amount{Tokens: 500}, utp.Usage{Input: 1000, Output: 5}},
	} {
		b := books(t, fleet.Budget{fleet.Day: tt.day}, nil)
		url := start(t, costly(apis[0], tt.used), backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) {
			c.Clients = []gateway.Client{{Name: "prometheus", Key: sha256.Sum256([]byte("metrics")), Metrics: true}}
		})
		for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
			if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer()); resp.StatusCode != want {
				t.Errorf("%s, request %d: %s %s", unit, i, resp.Status, text)
			}
		}
		all := b.entries(t)
		if len(all) != 1 || all[0].Ending != fleet.Settled || all[0].Amount.Tokens != 1005 || all[0].Amount.Tokens <= all[0].Most.Tokens {
			t.Errorf("%s: %+v", unit, all)
		}
		now, err := b.Windows(t.Context(), b.key, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range now {
			if w.Per == fleet.Day && (w.Settled != all[0].Amount || w.Left() != fleet.Amount{}) {
				t.Errorf("%s: %+v", unit, w)
			}
		}
		if _, text := get(t, "GET", url+"/metrics", "", "Authorization", "Bearer metrics"); !strings.Contains(text, "bx_budget_debts_total 1\n") || !strings.Contains(text, `bx_budget_refusals_total{unit="`+unit+`",per="day",of="key"} 1`) {
			t.Errorf("%s: %s", unit, text)
		}
	}
}

// Embeddings of a server that does not count are estimated, and marked so.
func TestEmbeddingsWithoutACountAreEstimated(t *testing.T) {
	for count, want := range map[string]fleet.Ending{"": fleet.Estimated, `,"usage":{"prompt_tokens":10}`: fleet.Settled} {
		b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
		url := start(t, say("application/json", `{"data":[{"index":0,"embedding":[1]}]`+count+`}`), backend.Config{Provider: "openai", Retries: -1}, b.into)
		for _, path := range []string{"/api/embed", "/v1/embeddings"} {
			if resp, text := get(t, "POST", url+path, `{"model":"m","input":"a"}`, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status, text)
			}
		}
		for _, e := range b.entries(t) {
			if e.Ending != want || e.Amount.Tokens == 0 {
				t.Errorf("%q: %+v", count, e)
			}
		}
	}
}

// mute is a ledger whose answer to a reservation is lost.
type mute struct {
	*database.DB
	lost atomic.Bool
}

func (m *mute) Reserve(ctx context.Context, r fleet.Reservation) ([]fleet.Spent, error) {
	now, err := m.DB.Reserve(ctx, r)
	if m.lost.Load() {
		return nil, errGone
	}
	return now, err
}

// A reservation that was written without the replica's knowing is given back: nothing
// was sent for it.
func TestALostAnswerReservesNothing(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
	l := &mute{DB: b.DB}
	m := costly(apis[0], utp.Usage{Input: 5, Output: 5})
	url := start(t, m, backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) { c.Ledger = l })
	l.lost.Store(true)
	if resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer()); resp.StatusCode != http.StatusServiceUnavailable || len(m.Asked()) > 0 {
		t.Errorf("%s: %s", resp.Status, text)
	}
	l.lost.Store(false)
	for range 400 {
		if all := b.entries(t); len(all) == 1 && all[0].Ending == fleet.Refused && all[0].Amount == (fleet.Amount{}) && b.reserved(t) == (fleet.Amount{}) {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("%+v", b.entries(t))
}

// An entry says of which day its price is, and that there was none.
func TestEntriesSayWhatPriceTheyHave(t *testing.T) {
	for _, own := range []fleet.Budget{nil, {fleet.Day: {Tokens: 1e6}}} {
		b := books(t, own, nil)
		url := start(t, costly(apis[0], utp.Usage{Input: 5, Output: 5}), backend.Config{Provider: "openai"}, b.into, func(c *gateway.Config) {
			c.Prices = price.List{"m": {Input: 1, Dated: "2026-11-01"}, "free": {}}
		})
		for i, model := range []string{"m", "free", "other"} {
			if resp, text := get(t, "POST", url+"/v1/chat/completions", strings.Replace(limited, `"m"`, `"`+model+`"`, 1), "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status, text)
			}
			all := b.entries(t)
			for n := 0; n < 400 && len(all) <= i; n++ { // without a budget it is booked a moment later
				time.Sleep(25 * time.Millisecond)
				all = b.entries(t)
			}
			if want := []string{"2026-11-01", "", fleet.NoPrice}[i]; len(all) != i+1 || all[i].Dated != want || all[i].Model != model {
				t.Errorf("%+v, want %q", all, want)
			}
		}
	}
}

// The tokens of what passes through are those of a client's minute, too.
func TestPassagesAreMetered(t *testing.T) {
	up := say("application/json", `{"data":[{"embedding":[1]}],"usage":{"prompt_tokens":600,"total_tokens":600}}`)
	for _, path := range []string{"/v1/embeddings", "/v1/completions"} {
		url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, func(c *gateway.Config) {
			c.Clients = []gateway.Client{{Name: "alice", Key: sha256.Sum256([]byte("alice")), Tokens: 1000}}
			now := time.Now()
			c.Now = func() time.Time { return now }
		})
		for i, want := range []int{200, 200, 429} {
			if resp, text := get(t, "POST", url+path, `{"model":"m","input":"a","prompt":"a"}`, "Authorization", "Bearer alice"); resp.StatusCode != want {
				t.Errorf("%s, request %d: %s %s", path, i, resp.Status, text)
			}
		}
	}
}

// Who is refused for what others have reserved may come again in a moment; who is refused
// for what is used up waits for the next window.
func TestWhatIsReservedIsNotUsedUp(t *testing.T) {
	for _, settled := range []bool{false, true} {
		b := books(t, nil, fleet.Budget{fleet.Month: {Money: price.Unit}})
		r := fleet.Reservation{ID: replicas.ID(), Key: b.key, Replica: "a", At: time.Now(), Most: fleet.Amount{Requests: 1, Money: price.Unit}}
		if _, err := b.Reserve(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if settled {
			if _, err := b.Settle(t.Context(), fleet.Settlement{ID: r.ID, Ending: fleet.Settled, Amount: r.Most, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		url := start(t, costly(apis[0], utp.Usage{Input: 5, Output: 5}), backend.Config{Provider: "openai"}, b.into)
		resp, text := get(t, "POST", url+"/v1/chat/completions", limited, "Authorization", b.bearer())
		again, code := resp.Header.Get("X-Should-Retry") == "", map[bool]string{false: "rate_limit_exceeded", true: "insufficient_quota"}[settled]
		if resp.StatusCode != http.StatusTooManyRequests || again == settled || (resp.Header.Get("Retry-After") == "2") == settled || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, code) {
			t.Errorf("settled %v: %s, %v: %s", settled, resp.Status, resp.Header, text)
		}
	}
}

// A replica that ends settles what the ledger did not take before.
func TestLeavingSettles(t *testing.T) {
	for _, own := range []fleet.Budget{nil, {fleet.Day: {Money: 100 * price.Unit}}} {
		b := books(t, own, nil)
		l := &gone{DB: b.DB}
		up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			l.away.Store(r.Method == http.MethodPost) // as the reply comes
			costly(apis[0], utp.Usage{Input: 5, Output: 5}).ServeHTTP(w, r)
		})
		conf := gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{behind(t, "up", "openai", up)}}}}
		b.into(&conf)
		conf.Ledger = l
		g, err := gateway.New(conf)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(g)
		t.Cleanup(server.Close)
		if resp, text := get(t, "POST", server.URL+"/v1/chat/completions", limited, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, text)
		}
		if all := b.entries(t); len(all) > 0 && all[0].Ending != fleet.Open {
			t.Errorf("before: %+v", all)
		}
		l.away.Store(false)
		g.Leave(t.Context())
		if all := b.entries(t); len(all) != 1 || all[0].Ending != fleet.Settled {
			t.Errorf("after: %+v", all)
		}
	}
}

// What is charged in full is counted, and so is a settlement that comes after it and
// corrects it.
func TestLateSettlementsAreCounted(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	var g *gateway.Gateway
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			before := clock.Swap(time.Now().Add(time.Hour).UnixNano()) // the lease is over
			if err := g.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			clock.Store(before)
			if all := b.entries(t); len(all) != 1 || all[0].Ending != fleet.Unsettled || all[0].Amount != all[0].Most || b.reserved(t) != (fleet.Amount{}) {
				t.Errorf("%+v", all)
			}
		}
		costly(apis[0], utp.Usage{Input: 5, Output: 5}).ServeHTTP(w, r)
	})
	conf := gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{behind(t, "up", "openai", up)}}}, Clients: []gateway.Client{{Name: "prometheus", Key: sha256.Sum256([]byte("metrics")), Metrics: true}}}
	b.into(&conf)
	conf.Now = func() time.Time { return time.Unix(0, clock.Load()) }
	var err error
	if g, err = gateway.New(conf); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	if resp, text := get(t, "POST", server.URL+"/v1/chat/completions", limited, "Authorization", b.bearer()); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, text)
	}
	if all := b.entries(t); len(all) != 1 || all[0].Ending != fleet.Settled || !all[0].Late || all[0].Amount.Tokens != 10 {
		t.Errorf("%+v", all)
	}
	_, text := get(t, "GET", server.URL+"/metrics", "", "Authorization", "Bearer metrics")
	for _, want := range []string{`bx_settlements_total{ending="unsettled"} 1`, `bx_settlements_total{ending="settled"} 1`, "bx_late_settlements_total 1"} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("want %s in %s", want, text)
		}
	}
}

// What passes through and is refused costs nothing.
func TestARefusedPassageCostsNothing(t *testing.T) {
	b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
	url := start(t, refusal(http.StatusBadRequest, "no", ""), backend.Config{Provider: "openai", Retries: -1}, b.into)
	for i, path := range []string{"/v1/completions", "/v1/embeddings", "/api/embed"} {
		if resp, text := get(t, "POST", url+path, `{"model":"m","prompt":"a","input":"a"}`, "Authorization", b.bearer()); resp.StatusCode != http.StatusBadRequest {
			t.Fatal(path, resp.Status, text)
		}
		if all := b.entries(t); len(all) != i+1 || all[i].Ending != fleet.Refused || all[i].Amount != (fleet.Amount{}) {
			t.Errorf("%s: %+v", path, all)
		}
	}
}
