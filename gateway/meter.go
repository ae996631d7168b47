package gateway

import (
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// bucket holds up to size tokens and gains size tokens a minute. It may go below 0; the
// next request then waits until it is above.
type bucket struct {
	mu    sync.Mutex
	size  float64
	level float64
	at    time.Time
}

func newBucket(size int) *bucket { return &bucket{size: float64(size), level: float64(size)} }

// resize changes the size; what was taken stays taken.
func (b *bucket) resize(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.level += float64(size) - b.size
	b.size = float64(size)
}

// take takes n, or returns how long until there is something to take.
func (b *bucket) take(now time.Time, n float64) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	if b.level < min(n, 1) {
		return time.Duration((min(n, 1) - b.level) / b.size * float64(time.Minute)), false
	}
	b.level -= n
	return 0, true
}

// pay takes n, even if the bucket does not hold as much.
func (b *bucket) pay(now time.Time, n float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	b.level -= n
}

// fill adds what came in since the last call. A request that pays late with an earlier
// time adds nothing, so that no minute counts twice.
func (b *bucket) fill(now time.Time) {
	if b.at.IsZero() {
		b.at = now
	}
	if now.After(b.at) {
		b.level = min(b.size, b.level+now.Sub(b.at).Minutes()*b.size)
		b.at = now
	}
}

// meters holds the meters of the clients, by id.
type meters struct {
	mu sync.Mutex
	by map[string]*meter
}

// meter is what a client has used. It survives a change of the client's limits.
type meter struct {
	requests, tokens *bucket
	running          int
}

func (m *meters) of(c *Client) *meter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[string]*meter{}
	}
	own := m.by[c.id]
	if own == nil {
		own = &meter{requests: newBucket(c.Requests), tokens: newBucket(c.Tokens)}
		m.by[c.id] = own
	}
	own.requests.resize(c.Requests)
	own.tokens.resize(c.Tokens)
	return own
}

// retryFull is the Retry-After for a client with too many running requests.
const retryFull = time.Second

// enter admits a request of the client, or returns an error that says when to retry.
func (m *meters) enter(c *Client, now time.Time) (leave func(tokens int), err error) {
	if c == nil {
		return func(int) {}, nil
	}
	own := m.of(c)
	m.mu.Lock()
	full := c.Parallel > 0 && own.running >= c.Parallel
	if !full {
		own.running++
	}
	m.mu.Unlock()
	if full {
		return nil, tooMany("key_parallel", "as many requests as this key may have are running", retryFull)
	}
	leave = func(tokens int) {
		m.mu.Lock()
		own.running--
		m.mu.Unlock()
		if c.Tokens > 0 {
			own.tokens.pay(now, float64(tokens))
		}
	}
	if err := own.pass(c, now); err != nil {
		leave(0)
		return nil, err
	}
	return leave, nil
}

func (m *meter) pass(c *Client, now time.Time) error {
	if c.Tokens > 0 {
		if wait, ok := m.tokens.take(now, 0.5); !ok {
			return tooMany("key_tokens", "this key's tokens for the minute are used up", wait)
		}
		m.tokens.pay(now, -0.5)
	}
	if c.Requests > 0 {
		if wait, ok := m.requests.take(now, 1); !ok {
			return tooMany("key_requests", "this key's requests for the minute are used up", wait)
		}
	}
	return nil
}

func tooMany(reason, why string, wait time.Duration) error {
	wait = time.Duration(math.Ceil(wait.Seconds())) * time.Second
	return &denial{reason, &wire.Error{Status: http.StatusTooManyRequests, Message: why, RetryAfter: max(wait, time.Second)}}
}
