package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// members caches the keys of the Ledger.
type members struct {
	mu sync.Mutex
	by map[fleet.Hash]member
}

type member struct {
	client *Client // nil: no such key
	at     time.Time
}

// memberFresh is how long an entry is valid, and memberKept how long it is while the
// Ledger does not answer, for keys without a budget.
const (
	memberFresh = 5 * time.Second
	memberKept  = time.Minute
	maxMembers  = 10000
)

func (m *members) get(hash fleet.Hash) (member, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	got, has := m.by[hash]
	return got, has
}

func (m *members) put(hash fleet.Hash, is member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil || len(m.by) >= maxMembers { // there is no end of invalid keys
		m.by = map[fleet.Hash]member{}
	}
	m.by[hash] = is
}

// member returns the client with this hash of its key in the Ledger.
func (s *sharing) member(ctx context.Context, h *house, hash fleet.Hash) (*Client, error) {
	return s.find(ctx, h, hash, func(ctx context.Context) (*fleet.Key, error) { return h.Ledger.Key(ctx, hash) },
		denied(http.StatusUnauthorized, "unknown_key", "the gateway does not know this key"))
}

// find returns the client for hash, from the cache or from the Ledger by ask. If the
// Ledger does not have it, the error is absent.
func (s *sharing) find(ctx context.Context, h *house, hash fleet.Hash, ask func(ctx context.Context) (*fleet.Key, error), absent error) (*Client, error) {
	now := h.Now()
	known, has := s.members.get(hash)
	if !has || now.Sub(known.at) >= memberFresh {
		var k *fleet.Key
		err := s.with(ctx, h, &s.ledger, "ledger", func(ctx context.Context) (err error) {
			if k, err = ask(ctx); errors.Is(err, fleet.ErrUnknown) {
				k, err = nil, nil
			}
			return err
		})
		switch {
		case err == nil:
			known = member{clientOf(k), now}
			s.members.put(hash, known)
		case !has || now.Sub(known.at) >= memberKept || known.client != nil && known.client.key.Kept():
			return nil, denial503("ledger_away", "the ledger of keys and budgets does not answer: ask again in a moment")
		}
	}
	if known.client == nil {
		return nil, absent
	}
	if why := known.client.key.Why(now); why != "" {
		return nil, denied(http.StatusUnauthorized, "key_"+why, "this key is %s", why)
	}
	return known.client, nil
}

// clientOf returns a key of the Ledger as a client.
func clientOf(k *fleet.Key) *Client {
	if k == nil {
		return nil
	}
	c := &Client{Name: k.Name, id: k.ID, key: k}
	for _, s := range k.Subjects() {
		if r := (fleet.Rate{Owner: s.ID, Requests: s.Limits.Budget[fleet.Minute].Requests, Parallel: s.Limits.Parallel}); r.Requests > 0 || r.Parallel > 0 {
			c.rates = append(c.rates, r)
		}
	}
	return c
}
