package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

// spied is a State that counts what it is asked, may be away, and may have its readers
// wait for each other.
type spied struct {
	fleet.State
	away              atomic.Bool
	gets, puts, items atomic.Int64
	meet              *sync.WaitGroup // nil: nobody waits
}

func (s *spied) Get(ctx context.Context, owner string, keys []string, now time.Time) ([][]byte, error) {
	if s.gets.Add(1); s.away.Load() {
		return nil, errGone
	}
	if s.meet != nil {
		s.meet.Done()
		s.meet.Wait()
	}
	return s.State.Get(ctx, owner, keys, now)
}

func (s *spied) Put(ctx context.Context, items []fleet.Item, now time.Time) error {
	s.puts.Add(1)
	s.items.Add(int64(len(items)))
	if s.away.Load() {
		return errGone
	}
	return s.State.Put(ctx, items, now)
}

func (s *spied) Cool(ctx context.Context, target string, until, now time.Time) error {
	if s.away.Load() {
		return errGone
	}
	return s.State.Cool(ctx, target, until, now)
}

// All that a turn needs of its history is one question to State, and all that it keeps
// is one answer, whatever the number of calls.
func TestAHistoryIsOneQuestion(t *testing.T) {
	const calls = 5
	m := newModel(apiNamed("anthropic"), func(turn int, _ *utp.Request) []utp.Event {
		if turn > 1 {
			return says("Done.")
		}
		var evs []utp.Event
		for i := range calls {
			c := &utp.Call{ID: fmt.Sprint("toolu_", i), Name: "list_cities", Args: []byte(`{}`)}
			evs = append(evs, utp.Event{Kind: utp.EventWhole, Part: 2 * i, Value: utp.Think{Text: "Hm.", Signature: "c2VhbA==", Provider: "anthropic", Model: "m"}},
				utp.Event{Kind: utp.EventWhole, Part: 2*i + 1, Value: *c})
		}
		return append(evs, utp.Event{Kind: utp.EventFinish, Part: 2 * calls, End: &utp.End{Stop: utp.StopTool}})
	})
	s := &spied{State: books(t, nil, nil).DB}
	url := start(t, m, backend.Config{Provider: "anthropic"}, func(c *gateway.Config) { c.State, c.NewID = s, ids() })
	resp, text := get(t, "POST", url+"/v1/responses", `{"model":"m","input":"All.","tools":[{"type":"function","name":"list_cities","parameters":{"type":"object","properties":{}}}]}`)
	if resp.StatusCode != http.StatusOK || s.puts.Load() != 1 || s.items.Load() != 2*calls+1 || s.gets.Load() != 0 {
		t.Errorf("%s: %d things were kept in %d round trips, want %d in one; %d readings", text, s.items.Load(), s.puts.Load(), 2*calls+1, s.gets.Load())
	}
	var said struct {
		Output []map[string]any
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatal(err)
	}
	input := `{"role":"user","content":"All."}`
	for _, item := range said.Output {
		if item["type"] == "function_call" {
			input += fmt.Sprintf(`,{"type":"function_call","call_id":%q,"name":"list_cities","arguments":"{}"},{"type":"function_call_output","call_id":%q,"output":"x"}`, item["call_id"], item["call_id"])
		}
	}
	if resp, text := get(t, "POST", url+"/v1/responses", `{"model":"m","store":false,"input":[`+input+`]}`); resp.StatusCode != http.StatusOK || s.gets.Load() != 1 {
		t.Errorf("%s: the history was read in %d round trips", text, s.gets.Load())
	}
	if seals := strings.Count(strings.Join(sealsAndCalls(m.Asked()[1]), " "), "c2VhbA=="); seals != calls {
		t.Errorf("the provider sees %d of %d seals", seals, calls)
	}
}

// A conversation that goes on by previous_response_id stays with its target, too,
// although another one is faster by now.
func TestAConversationByIDStaysWithItsTarget(t *testing.T) {
	for _, state := range []fleet.State{nil, books(t, nil, nil).DB} {
		c := &clock{at: time.Now()}
		one, two := &paced{clock: c, takes: time.Second}, &paced{clock: c, takes: time.Second}
		conf := gateway.Config{NewID: replicas.ID, Now: c.now, State: state, Routes: []gateway.Route{{Choose: gateway.ByLatency,
			To: []gateway.Target{behind(t, "one", "openai", one), behind(t, "two", "openai", two)}}}}
		urls := []string{listen(t, conf)}
		if state != nil {
			urls = append(urls, listen(t, conf))
		}
		own, id := "", ""
		for n := range 5 {
			resp, text := get(t, "POST", urls[n%len(urls)]+"/v1/responses", fmt.Sprintf(`{"model":"m","stream":true,"input":"Turn %d.","previous_response_id":%q}`, n, id))
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", resp.Status, text)
			}
			id = responseID(t, text)
			if got := resp.Header.Get("X-Bx-Target"); n == 0 {
				own = got
				slow := map[string]*paced{"one": one, "two": two}[own]
				slow.takes = 10 * time.Second
			} else if got != own {
				t.Errorf("state %v: turn %d went to %s, the first to %s", state != nil, n+1, got, own)
			}
		}
	}
}

// holds has requests that come from now on wait for free; nil: they do not.
func (p *paced) holds(free chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = free
}

// While State is away all turns of a conversation go to one target, however busy.
func TestConversationsStayWhileStateIsAway(t *testing.T) {
	s := &spied{State: books(t, nil, nil).DB}
	c := &clock{at: time.Now()}
	held := make(chan struct{})
	servers := map[string]*paced{"one": {clock: c, held: held}, "two": {clock: c, held: held}}
	var routes []gateway.Route
	var to []gateway.Target
	for _, name := range []string{"one", "two"} {
		own := behind(t, name, "openai", servers[name])
		to = append(to, own)
		own.Model = "m"
		routes = append(routes, gateway.Route{Match: []string{name}, To: []gateway.Target{own}})
	}
	conf := gateway.Config{NewID: ids(), Now: c.now, State: s, Routes: append(routes, gateway.Route{Choose: gateway.LeastBusy, To: to})}
	urls := []string{listen(t, conf), listen(t, conf)}
	turn(t, urls[0], "First.")
	s.away.Store(true)
	own := ""
	for n := range 6 {
		url, busy := urls[n%2], []string{"one", "two"}[n/2%2]
		free := make(chan struct{})
		servers[busy].holds(free)
		var other sync.WaitGroup
		other.Go(func() {
			get(t, "POST", url+"/v1/chat/completions", `{"model":"`+busy+`","messages":[{"role":"user","content":"Hi."}]}`)
		})
		<-held
		servers[busy].holds(nil)
		got := turn(t, url, "First.", make([]string, n+1)...).Header.Get("X-Bx-Target")
		if own == "" {
			own = got
		}
		if got != own {
			t.Errorf("turn %d went to %s, the first without State to %s", n+2, got, own)
		}
		close(free)
		other.Wait()
		c.pass(2 * time.Second)
	}
}

// A pause that a server has asked for lasts, though a request that was sent before it
// is answered well in the meantime.
func TestAPauseOutlivesAnOlderReply(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	inside, goOn := make(chan struct{}), make(chan struct{})
	var asked atomic.Int64
	busy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		case asked.Add(1) == 1:
			inside <- struct{}{}
			<-goOn
			stream(chunkText, chunkStop, done)(w, r)
		case asked.Load() == 2:
			refusal(429, "slow down", "40")(w, r)
		default:
			stream(chunkText, chunkStop, done)(w, r)
		}
	})
	good := &paced{clock: c}
	url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Routes: []gateway.Route{{To: []gateway.Target{behind(t, "busy", "openai", busy)}, Else: []gateway.Target{behind(t, "good", "openai", good)}}}})
	var old sync.WaitGroup
	old.Go(func() { turn(t, url, "Long.") })
	<-inside
	turn(t, url, "Too much.")
	close(goOn)
	old.Wait()
	turn(t, url, "And now?")
	if asked.Load() != 2 || good.count() != 2 {
		t.Errorf("during its pause the server was asked %d times", asked.Load()-2)
	}
	c.pass(41 * time.Second)
	turn(t, url, "And now?")
	if asked.Load() != 3 {
		t.Error("after its pause the server is not asked")
	}
}

// Of many requests that come when a target has been left alone long enough, one tries
// it.
func TestOneRequestTriesATarget(t *testing.T) {
	s := &spied{State: books(t, nil, nil).DB}
	c := &clock{at: time.Now()}
	var asked atomic.Int64
	bad := behind(t, "bad", "openai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked.Add(1)
		}
		refusal(500, "CUDA error", "")(w, r)
	}))
	bad.Breaker = gateway.Breaker{Failures: 1}
	good := behind(t, "good", "openai", &paced{clock: c})
	for _, choose := range []gateway.Choose{gateway.LeastBusy, gateway.ByLatency} {
		asked.Store(0)
		url := listen(t, gateway.Config{NewID: ids(), Now: c.now, State: s, Routes: []gateway.Route{{Choose: choose, To: []gateway.Target{bad, good}}}})
		for i := 0; asked.Load() == 0; i++ {
			turn(t, url, fmt.Sprint("Question ", i))
		}
		c.pass(16 * time.Second)
		const many = 12
		s.meet = &sync.WaitGroup{}
		s.meet.Add(many) // nobody chooses before all know who is left alone
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() { turn(t, url, fmt.Sprint(choose, " at once ", i), "Well.") })
		}
		all.Wait()
		s.meet = nil
		if n := asked.Load() - 1; n != 1 {
			t.Errorf("%s: %d of %d requests tried the target that was left alone", choose, n, many)
		}
	}
}

// A target that answers nothing well, and is no less there, is tried now and then and
// not by every request.
func TestATargetThatCannotAnswerIsTriedNowAndThen(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	var asked atomic.Int64
	bad := behind(t, "bad", "openai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked.Add(1)
		}
		refusal(404, "there is no such model", "")(w, r)
	}))
	url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Routes: []gateway.Route{{Choose: gateway.ByLatency, To: []gateway.Target{bad, behind(t, "good", "openai", &paced{clock: c, takes: time.Second})}}}})
	for i := range 60 {
		turn(t, url, fmt.Sprint("Question ", i))
	}
	if n := asked.Load(); n < 2 || n > 7 {
		t.Errorf("it was asked by %d of 60 requests in a minute", n)
	}
}

// A request that ends in a panic is not under way any more, and no success.
func TestWhatPanicsIsOver(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	var when atomic.Pointer[string]
	reports := make(chan gateway.Report, 1)
	url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Observe: func(r gateway.Report) { reports <- r },
		Trace: func(tr gateway.Trace) {
			if at := when.Load(); at != nil && *at == tr.Side+" "+tr.What {
				panic(http.ErrAbortHandler)
			}
		},
		Clients: []gateway.Client{{Name: "k", Key: sha256.Sum256([]byte("k")), Parallel: 1}, {Name: "m", Key: sha256.Sum256([]byte("m")), Metrics: true}},
		Routes:  []gateway.Route{{Choose: gateway.LeastBusy, To: []gateway.Target{behind(t, "one", "openai", &paced{clock: c}), behind(t, "two", "openai", &paced{clock: c})}}}})
	ask := func() (*http.Response, error) {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi."}]}`))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer k")
		return http.DefaultClient.Do(q)
	}
	for _, at := range []string{"client request", "backend request", "client frame", ""} {
		when.Store(&at)
		resp, err := ask()
		if (err == nil) != (at == "") {
			t.Errorf("%q: %+v, %v", at, resp, err)
		}
		if err == nil {
			resp.Body.Close()
		}
		want := "panic 500"
		if at == "" {
			want = "ok 200"
		}
		if r := <-reports; fmt.Sprint(r.Reason, " ", r.Status) != want {
			t.Errorf("%q: it is reported as %s %d", at, r.Reason, r.Status)
		}
	}
	_, text := get(t, "GET", url+"/metrics", "", "Authorization", "Bearer m")
	for _, name := range []string{"one", "two"} {
		if !strings.Contains(text, `bx_target_requests_running{target="`+name+`",model="m"} 0`) {
			t.Errorf("requests to %s count as under way:\n%s", name, text)
		}
	}
}
