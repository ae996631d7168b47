package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
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

// Counts that no request can have neither fill a budget up nor bring it anything, and
// nothing waits behind them.
func TestCountsThatCannotBe(t *testing.T) {
	for _, count := range []string{"-1000", "900000000000000"} {
		b := books(t, fleet.Budget{fleet.Day: {Money: 100 * price.Unit}}, nil)
		up := say("application/json", `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"text":"x","message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":`+count+`,"completion_tokens":`+count+`}}`)
		url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, b.into)
		for _, tt := range []struct{ path, body string }{{"/v1/chat/completions", limited}, {"/v1/completions", `{"model":"m","prompt":"a","max_tokens":5}`}} {
			for range 2 {
				_, _ = get(t, "POST", url+tt.path, tt.body, "Authorization", b.bearer())
			}
		}
		for _, e := range b.entries(t) {
			if e.Ending == fleet.Open || e.Amount.Tokens < 0 || e.Amount.Money < 0 {
				t.Errorf("%s: %+v", count, e)
			}
		}
		if n := b.reserved(t); n != (fleet.Amount{}) {
			t.Errorf("%s: %+v stay reserved", count, n)
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
		if resp.StatusCode != http.StatusTooManyRequests || again == settled || (resp.Header.Get("Retry-After") == "2") == settled || !strings.Contains(text, code) {
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
