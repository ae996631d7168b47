//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/keys"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
	"github.com/unifiedtoolprotocol/utp/price"
)

var (
	shipped = flag.String("bx", "", "the program for the tests of a cluster; empty: this one")
	older   = flag.String("older", "", "an older version of it, which the first replica of each cluster runs; empty: none does")
)

// biller is a provider that keeps a book of its own. Each request has a number of
// tokens in that no other has, or with bytes one for four of its bytes.
type biller struct {
	bytes  bool
	held   chan struct{} // a reply waits for it after it is billed; nil: none does
	mu     sync.Mutex
	serial int
	book   map[int]billed // by number
}

type billed struct{ in, out int }

func (b *biller) bill(prompt, most int) (in, out int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serial++
	if in, out = b.serial, 1+rand.IntN(most); b.bytes {
		in = prompt / 4
	}
	b.book[b.serial] = billed{in, out}
	return in, out
}

// sum is what the book comes to, in requests, tokens and money at 1 and 2 for a
// million tokens.
func (b *biller) sum() (a fleet.Amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.book {
		a.Requests, a.Tokens, a.Money = a.Requests+1, a.Tokens+int64(n.in+n.out), a.Money+price.Money(1000*n.in+2000*n.out)
	}
	return a
}

func (b *biller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
		return
	}
	var q struct {
		Stream   bool
		Max      int `json:"max_tokens"`
		Complete int `json:"max_completion_tokens"`
		Messages []json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	in, out := b.bill(int(r.ContentLength), max(q.Max, q.Complete, 1))
	if b.held != nil {
		<-b.held
	}
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d}`, in, out)
	if !q.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%d messages"},"finish_reason":"stop"}],"usage":%s}`, len(q.Messages), usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for range 5 {
		_, _ = io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(4 * time.Millisecond)
	}
	fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[],"usage":%s}`+"\n\ndata: [DONE]\n\n", usage)
}

// replica is a bx serve of a cluster.
type replica struct {
	args []string
	env  []string
	url  string
	log  running
	cmd  *exec.Cmd
}

func (r *replica) start(t testing.TB) {
	t.Helper()
	r.cmd = exec.Command(r.args[0], r.args[1:]...)
	r.cmd.Env, r.cmd.Stderr = r.env, &r.log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if resp, err := http.Get(r.url + "/healthz"); err == nil {
			resp.Body.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("bx serve does not answer: %s", r.log.text())
}

func (r *replica) kill() {
	if r.cmd != nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait() // it was killed
	}
	r.cmd = nil
}

// cluster is three replicas, what they share, and a balancer before them.
type cluster struct {
	*biller
	replicas []*replica
	postgres *replicas.Server
	redis    *replicas.Server // nil: State is in PostgreSQL
	ledger   *database.DB
	desk     *keys.Desk
	turn     atomic.Int64
	url      string // of the balancer
}

// newCluster starts three replicas. more is what else their file says; shared is
// whether they have a ledger.
func newCluster(t *testing.T, redis, shared bool, more string) *cluster {
	t.Helper()
	c := &cluster{biller: &biller{book: map[int]billed{}}}
	up := httptest.NewServer(c.biller)
	t.Cleanup(up.Close)
	file := "hosts = [\"*\"]\n" + more + "\n[limits]\ndrain = \"1s\"\n[prices.m]\ninput = 1.0\noutput = 2.0\n[backends.up]\nprovider = \"openai\"\nurl = \"" + up.URL + "\"\nretries = -1\n"
	if shared {
		c.postgres = replicas.Postgres(t)
		file += "[ledger]\nurl = \"" + c.postgres.Address + "\"\n"
		d, err := database.Open(t.Context(), c.postgres.Address, replicas.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		c.ledger, c.desk = d, &keys.Desk{Books: d, State: d, NewID: newReplyID, NewKey: newKeyText, Now: time.Now, By: "test"}
	}
	if redis {
		c.redis = replicas.Redis(t)
		file += "[state]\nurl = \"" + c.redis.Address + "\"\n"
	}
	u := newUser(t)
	program := u.bx
	if *shipped != "" {
		program = *shipped
	}
	name := filepath.Join(u.home, "serve.toml")
	if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		program := program
		if i == 0 && *older != "" {
			program = *older
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().String()
		l.Close()
		r := &replica{args: []string{program, "serve", "--quiet", "--file", name, "--listen", at}, env: environment(u.home), url: "http://" + at}
		r.start(t)
		t.Cleanup(r.kill)
		c.replicas = append(c.replicas, r)
	}
	b := httptest.NewServer(http.HandlerFunc(c.balance))
	t.Cleanup(b.Close)
	c.url = b.URL
	return c
}

// direct is a transport with as many connections as a balancer has.
var direct = &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}

// balance hands a request to one replica after the other, and to the next where one
// cannot be reached.
func (c *cluster) balance(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	for range len(c.replicas) {
		to := c.replicas[int(c.turn.Add(1))%len(c.replicas)]
		q, err := http.NewRequestWithContext(r.Context(), r.Method, to.url+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			return
		}
		q.Header = r.Header.Clone()
		resp, err := direct.RoundTrip(q)
		if err != nil {
			continue
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		buf := make([]byte, 4<<10)
		for {
			n, err := resp.Body.Read(buf)
			_, _ = w.Write(buf[:n])
			_ = http.NewResponseController(w).Flush()
			if err == io.EOF {
				return
			}
			if err != nil {
				panic(http.ErrAbortHandler)
			}
		}
	}
	w.WriteHeader(http.StatusBadGateway)
}

var caller = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: time.Minute}

// ask asks for a reply of so many tokens at most. err is of the connection.
func ask(url, key string, most int, stream bool, text string) (status int, body string, err error) {
	b := fmt.Sprintf(`{"model":"m","max_tokens":%d,"stream":%v,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":%q}]}`, most, stream, text)
	if !stream {
		b = strings.Replace(b, `"stream_options":{"include_usage":true},`, "", 1)
	}
	r, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", strings.NewReader(b))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := caller.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(said), err
}

// key makes one with a budget for the day.
func (c *cluster) key(t testing.TB, name string, day fleet.Amount) (secret string) {
	t.Helper()
	var budget fleet.Budget
	if day != (fleet.Amount{}) {
		budget = fleet.Budget{fleet.Day: day}
	}
	_, secret, err := c.desk.Create(t.Context(), name, keys.Change{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// settled waits until nothing is reserved, for as long as a lease may last.
func (c *cluster) settled(t testing.TB) {
	t.Helper()
	open := 0
	for range 300 {
		open = 0
		if err := c.ledger.Entries(t.Context(), fleet.Query{Endings: []fleet.Ending{fleet.Open}}, func(fleet.Entry) error { open++; return nil }); err != nil {
			t.Fatal(err)
		}
		if open == 0 {
			return
		}
		time.Sleep(300 * time.Millisecond)
	}
	t.Errorf("%d requests stay reserved", open)
}

// many is how much of a thing is done: a little in the suite, all of it by make cluster.
func many(few, all int) int {
	if *long {
		return all
	}
	return few
}

// With many clients at once no budget is passed, by the provider's own book, and
// nearly all of it can be used.
func TestClusterKeepsBudgets(t *testing.T) {
	for _, redis := range []bool{false, true} {
		for unit, day := range map[string]fleet.Amount{"money": {Money: 60e6 * 4}, "tokens": {Tokens: 160000}, "requests": {Requests: 100}} {
			t.Run(fmt.Sprintf("%s, redis %v", unit, redis), func(t *testing.T) {
				if !*long && (unit == "requests" || redis != (unit == "money")) {
					t.Skip("by make cluster")
				}
				c := newCluster(t, redis, true, "")
				c.bytes = true
				if *long {
					day.Requests *= 8
				}
				clients, each := many(12, 64), many(12, 20)
				if !*long {
					day.Money, day.Tokens = day.Money/16, day.Tokens/12
				}
				key := c.key(t, "k", day)
				var all sync.WaitGroup
				var odd, late atomic.Int64
				for range clients {
					all.Go(func() {
						for i := range each {
							for range 3 { // a budget that is reserved may be free again
								status, text, err := ask(c.url, key, 10+rand.IntN(190), i%2 == 0, "Say something.")
								if err == nil && status == http.StatusOK {
									break
								}
								switch {
								case err == nil && status == http.StatusServiceUnavailable: // the ledger took too long for a busy machine
									late.Add(1)
								case err != nil || status != http.StatusTooManyRequests || !strings.Contains(text, "budget"):
									odd.Add(1)
									t.Logf("%d %v %s", status, err, text)
								}
								time.Sleep(20 * time.Millisecond)
							}
						}
					})
				}
				all.Wait()
				atOnce := c.sum()
				for refused := 0; refused < 5; { // what is left, one after the other
					status, _, err := ask(c.url, key, 10, false, "Say something.")
					if err != nil || status != http.StatusOK {
						refused++
					}
				}
				c.settled(t)
				spent, limit, first := used(c.sum(), day, unit), 1.0, used(atOnce, day, unit)
				t.Logf("%s: %d requests billed; %.1f %% of the budget used by all at once, %.1f %% in the end; %d requests got 503", unit, c.sum().Requests, 100*first, 100*spent, late.Load())
				if spent > limit || spent < 0.9 || odd.Load() > 0 {
					t.Errorf("%.3f of the budget were used, %d odd answers", spent, odd.Load())
				}
				k, err := c.desk.Key(t.Context(), "k")
				if err != nil {
					t.Fatal(err)
				}
				now, err := c.ledger.Windows(t.Context(), k, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range now {
					if w.Per == fleet.Day && (w.Settled != c.sum() || w.Reserved != fleet.Amount{}) {
						t.Errorf("the ledger has %+v and %+v reserved, the provider %+v", w.Settled, w.Reserved, c.sum())
					}
				}
			})
		}
	}
}

func used(is, of fleet.Amount, unit string) float64 {
	switch unit {
	case "money":
		return float64(is.Money) / float64(of.Money)
	case "tokens":
		return float64(is.Tokens) / float64(of.Tokens)
	}
	return float64(is.Requests) / float64(of.Requests)
}

// padding makes a prompt longer than any number of tokens that the provider bills.
var padding = strings.Repeat("word ", 8000)

// Whatever is killed under load, each request that the provider has billed has one
// entry in the ledger, and clients get an error that they can read or a reply.
func TestClusterSurvivesKills(t *testing.T) {
	for _, victim := range []string{"replica", "postgres", "redis"} {
		t.Run(victim, func(t *testing.T) {
			c := newCluster(t, victim == "redis" || *long, true, "")
			key := c.key(t, "k", fleet.Amount{Money: 1000 * price.Unit})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var all sync.WaitGroup
			var good, refused, broken, lost, odd atomic.Int64
			for range 6 {
				all.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						for try := 0; ; try++ {
							status, text, err := ask(c.url, key, 50, i%2 == 0, padding)
							if err == nil && status == http.StatusOK && (i%2 == 1 || strings.Contains(text, "[DONE]")) {
								good.Add(1)
								break
							}
							switch {
							case err != nil, status == http.StatusOK:
								broken.Add(1)
							case json.Valid([]byte(text)) || status == http.StatusBadGateway && text == "":
								refused.Add(1)
							default:
								odd.Add(1)
								t.Logf("%d %s", status, text)
							}
							if try == 200 {
								lost.Add(1)
								break
							}
							time.Sleep(100 * time.Millisecond)
						}
						time.Sleep(5 * time.Millisecond)
					}
				})
			}
			kills := many(1, 50)
			for i := range kills {
				for served := good.Load(); good.Load() < served+3 && lost.Load() == 0; { // under load: what serves nobody is not killed
					time.Sleep(5 * time.Millisecond)
				}
				time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
				switch victim {
				case "replica":
					c.replicas[i%3].kill()
					time.Sleep(50 * time.Millisecond)
					c.replicas[i%3].start(t)
				case "postgres":
					c.postgres.Kill()
					time.Sleep(50 * time.Millisecond)
					c.postgres.Start()
				case "redis":
					c.redis.Kill()
					time.Sleep(50 * time.Millisecond)
					c.redis.Start()
				}
			}
			time.Sleep(time.Second)
			stop()
			all.Wait()
			c.settled(t)
			if lost.Load() > 0 || odd.Load() > 0 {
				t.Errorf("%d clients got no reply in the end, %d answers could not be read", lost.Load(), odd.Load())
			}
			counts := c.compare(t)
			t.Logf("%d kills of %s: %d replies, %d errors with a reason, %d connections that broke; %d requests billed, in the ledger %v", kills, victim, good.Load(), refused.Load(), broken.Load(), c.sum().Requests, counts)
		})
	}
}

// compare holds the ledger beside the provider's book.
func (c *cluster) compare(t testing.TB) map[fleet.Ending]int {
	t.Helper()
	settled, counts := map[int]int{}, map[fleet.Ending]int{}
	if err := c.ledger.Entries(t.Context(), fleet.Query{}, func(e fleet.Entry) error {
		if counts[e.Ending]++; e.Ending != fleet.Settled {
			return nil
		}
		settled[e.Usage.Input]++
		if n, has := c.book[e.Usage.Input]; !has || e.Usage.Output != n.out || e.Amount.Money < price.Money(1000*n.in+2000*n.out) {
			t.Errorf("settled at %+v, billed at %+v (%v)", e.Usage, n, has)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	missing := 0
	for in := range c.book {
		switch n := settled[in]; {
		case n == 0:
			missing++
		case n > 1:
			t.Errorf("request %d is settled %d times", in, n)
		}
	}
	if marked := counts[fleet.Estimated] + counts[fleet.Unsettled]; missing > marked {
		t.Errorf("%d requests were billed and not settled, but only %d are marked as estimated or unsettled", missing, marked)
	}
	return counts
}

// What limits cost: the median of pairs, with them and without, and the requests a
// second of three replicas. Only by make cluster, which writes it down.
func TestClusterFigures(t *testing.T) {
	if !*long {
		t.Skip("by make cluster")
	}
	plain := newCluster(t, false, false, "")
	limited := newCluster(t, true, true, "")
	inSQL := newCluster(t, false, true, "")
	secret := func(c *cluster, k keys.Change) string {
		_, s, err := c.desk.Create(t.Context(), "k"+newReplyID(), k)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rate := keys.Change{Budget: fleet.Budget{fleet.Minute: {Requests: 1e9}}}
	for _, tt := range []struct {
		name string
		c    *cluster
		key  string
	}{
		{"Redis and a rate of requests, booked in PostgreSQL", limited, secret(limited, rate)},
		{"PostgreSQL and a rate of requests", inSQL, secret(inSQL, rate)},
		{"Redis and a budget of money", limited, secret(limited, keys.Change{Budget: fleet.Budget{fleet.Day: {Money: 1e15}}})},
	} {
		var pairs []time.Duration
		once := func(c *cluster, key string) time.Duration {
			began := time.Now()
			if status, text, err := ask(c.replicas[0].url, key, 10, false, "Hi."); err != nil || status != http.StatusOK {
				t.Fatal(status, text, err)
			}
			return time.Since(began)
		}
		for range 600 {
			pairs = append(pairs, -once(plain, "")+once(tt.c, tt.key))
		}
		slices.Sort(pairs)
		t.Logf("%s: + %.2f ms (median of %d pairs, c = 1)", tt.name, pairs[len(pairs)/2].Seconds()*1000, len(pairs))
		var persec [2]float64
		for i, c := range []*cluster{plain, tt.c} {
			var n atomic.Int64
			var all sync.WaitGroup
			end := time.Now().Add(4 * time.Second)
			for w := range 24 {
				all.Go(func() {
					for time.Now().Before(end) {
						if status, _, err := ask(c.replicas[w%3].url, tt.key, 10, false, "Hi."); err == nil && status == http.StatusOK {
							n.Add(1)
						}
					}
				})
			}
			all.Wait()
			persec[i] = float64(n.Load()) / 4
		}
		t.Logf("%s: %.0f requests a second of three replicas, %.0f without any of it: %.0f %%", tt.name, persec[1], persec[0], 100*persec[1]/persec[0])
	}
}
