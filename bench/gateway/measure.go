package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// row is one thing that is measured: ours beside a peer, request by request at
// one client and round by round at more.
type row struct {
	name    string
	peer    string // proxy or bifrost
	path    string
	body    []byte
	first   bool // up to the first byte
	clients int
	most    time.Duration // that ours may add to the peer's median; 0: no bound
	times   float64       // as many requests a second as the peer; 0: no bound
}

const chat, messages = "/v1/chat/completions", "/v1/messages"

var rows = []row{
	{"4 KB, 1 client", "proxy", chat, ask(4<<10, false), false, 1, 200 * time.Microsecond, 0},
	{"150 KB, 1 client", "proxy", chat, ask(150<<10, false), false, 1, 1500 * time.Microsecond, 0},
	{"first byte of a stream, 1 client", "proxy", chat, ask(4<<10, true), true, 1, 300 * time.Microsecond, 0},
	{"a stream to its end, 1 client", "proxy", chat, ask(4<<10, true), false, 1, 0, 0},
	{"4 KB, 16 clients", "proxy", chat, ask(4<<10, false), false, 16, 0, 0},
	{"150 KB, 16 clients", "proxy", chat, ask(150<<10, false), false, 16, 0, 0},
	{"Anthropic to OpenAI, 4 KB, 1 client", "bifrost", messages, claude(4 << 10), false, 1, 0, 0},
	{"Anthropic to OpenAI, 150 KB, 1 client", "bifrost", messages, claude(150 << 10), false, 1, 0, 0},
	{"Anthropic to OpenAI, 4 KB, 16 clients", "bifrost", messages, claude(4 << 10), false, 16, 0, 1.5},
	{"Anthropic to OpenAI, 150 KB, 16 clients", "bifrost", messages, claude(150 << 10), false, 16, 0, 2},
}

// ask is a request with about n bytes in it, a fifth of them 24 tools.
func ask(n int, stream bool) []byte {
	var tools []string
	for i := range 24 {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":"tool_%d","description":%q,"parameters":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}}`, i, strings.Repeat("d", n/200)))
	}
	text := strings.Repeat("Read the file and mend it. ", n*4/5/27+1)
	return fmt.Appendf(nil, `{"model":"m","stream":%v,"messages":[{"role":"user","content":%q}],"tools":[%s]}`, stream, text, strings.Join(tools, ","))
}

// claude is a request of Anthropic's API of about n bytes, half of them in 24
// tools, as agents send.
func claude(n int) []byte {
	var tools []string
	for i := range 24 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":%q,"input_schema":{"type":"object","properties":{"path":{"type":"string","description":"Where."},"limit":{"type":"integer"}},"required":["path"]}}`, i, strings.Repeat("Reads a file. ", n/48/14)))
	}
	text := strings.Repeat("Read the file and mend it. ", n/2/27)
	return fmt.Appendf(nil, `{"model":"m","max_tokens":100,"system":[{"type":"text","text":"You are an agent."}],"messages":[{"role":"user","content":[{"type":"text","text":%q}]}],"tools":[%s]}`, text, strings.Join(tools, ","))
}

// side is what was measured of one server.
type side struct {
	url   string
	times []time.Duration
	rates []float64 // requests a second, by round
}

func (r row) measure(s servers, long time.Duration) (line string, holds bool, err error) {
	theirs, ours := &side{url: s.proxy + r.path}, &side{url: s.ours + r.path}
	if r.peer == "bifrost" {
		theirs.url = s.bifrost + r.path
	}
	for range 3 { // to warm up
		for _, one := range []*side{theirs, ours} {
			if err := one.round(r); err != nil {
				return "", false, err
			}
		}
	}
	for _, one := range []*side{theirs, ours} {
		one.times, one.rates = nil, nil
	}
	for until := time.Now().Add(long); time.Now().Before(until); {
		for _, one := range []*side{theirs, ours} {
			if err := one.round(r); err != nil {
				return "", false, err
			}
		}
	}
	line, holds = r.judge(theirs, ours)
	return line, holds, nil
}

// judge compares the medians.
func (r row) judge(theirs, ours *side) (line string, holds bool) {
	added := ours.time(50) - theirs.time(50)
	times := ours.rate() / theirs.rate()
	bound := "no bound"
	switch {
	case r.most > 0:
		holds = added <= r.most
		bound = fmt.Sprintf("bound +%v: %s", r.most, verdict(holds))
	case r.times > 0:
		holds = times >= r.times
		bound = fmt.Sprintf("bound %.1f times: %s", r.times, verdict(holds))
	default:
		holds = true
	}
	if r.clients == 1 {
		return fmt.Sprintf("%s: %s %v (p10 %v, p99 %v), ours %v (p10 %v, p99 %v), added %v (p10 %v); %s", r.name,
			r.peer, theirs.time(50), theirs.time(10), theirs.time(99), ours.time(50), ours.time(10), ours.time(99), added, ours.time(10)-theirs.time(10), bound), holds
	}
	return fmt.Sprintf("%s: %s %.0f a second (p99 %v), ours %.0f (p99 %v), %.2f times; %s", r.name,
		r.peer, theirs.rate(), theirs.time(99), ours.rate(), ours.time(99), times, bound), holds
}

func (s *side) time(percent int) time.Duration {
	slices.Sort(s.times)
	return s.times[min(len(s.times)*percent/100, len(s.times)-1)].Round(10 * time.Microsecond)
}

// rate is the median of the rounds.
func (s *side) rate() float64 {
	slices.Sort(s.rates)
	return s.rates[len(s.rates)/2]
}

// perClient is how many requests a client makes in a round.
const perClient = 10

// round is a round of requests by all clients at once, and a single request of a
// single one.
func (s *side) round(r row) error {
	if r.clients == 1 {
		d, err := took(client, s.url, r.body, r.first)
		s.times = append(s.times, d)
		s.rates = append(s.rates, 1/d.Seconds())
		return err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	began := time.Now()
	for range r.clients {
		wg.Go(func() {
			for range perClient {
				d, err := took(client, s.url, r.body, r.first)
				mu.Lock()
				s.times, failed = append(s.times, d), errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	s.rates = append(s.rates, float64(r.clients*perClient)/time.Since(began).Seconds())
	return failed
}

var client = pool()

// took is how long a request takes, to its first byte or to its end. On a busy
// machine ReverseProxy loses a connection now and then; that request is asked
// again.
func took(c *http.Client, url string, body []byte, first bool) (d time.Duration, err error) {
	for range 100 {
		if d, err = once(c, url, body, first); !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
	}
	return d, err
}

func once(c *http.Client, url string, body []byte, first bool) (time.Duration, error) {
	began := time.Now()
	resp, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, errors.New(resp.Status)
	}
	var one [1]byte
	if _, err := io.ReadFull(resp.Body, one[:]); err != nil {
		return 0, err
	}
	at := time.Since(began)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	if first {
		return at, nil
	}
	return time.Since(began), nil
}
