package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// settling holds the settlements and lines that the Ledger has not accepted yet.
type settling struct {
	mu    sync.Mutex
	list  []owed
	lines []fleet.Line // of keys without a budget
}

// maxLines is how many lines may wait while the Ledger does not answer.
const maxLines = 10000

// record queues a line. It reports whether there is room.
func (s *settling) record(l fleet.Line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) >= maxLines {
		return false
	}
	s.lines = append(s.lines, l)
	return true
}

// some removes and returns the lines that have waited longest.
func (s *settling) some() []fleet.Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.lines), perRecord)
	taken := slices.Clone(s.lines[:n])
	s.lines = slices.Delete(s.lines, 0, n)
	return taken
}

func (s *settling) putBack(lines []fleet.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(lines, s.lines...)
}

// perRecord is how many lines are written in one transaction.
const perRecord = 500

// owed is a settlement to be written. If it is not known whether its reservation was
// written, that is looked for until a time.
type owed struct {
	fleet.Settlement
	until time.Time // zero: the reservation was written
}

func (s *settling) add(what fleet.Settlement, _ time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, owed{Settlement: what})
}

func (s *settling) cancel(id string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, owed{fleet.Settlement{ID: id, Ending: fleet.Refused, At: now}, now.Add(cancelTime)})
}

func (s *settling) take() (list []owed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, s.list = s.list, nil
	return list
}

func (s *settling) back(list []owed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(list, s.list...)
}

func (s *settling) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list) + len(s.lines)
}

// Times of Tend.
const (
	leaseTime   = 30 * time.Second // how long a replica counts as running after it last renewed
	leaseEvery  = 8 * time.Second
	visitsEvery = 20 * time.Second
	coolEvery   = time.Second
	lookEvery   = 100 * time.Millisecond // for a server that does not answer
	oweEvery    = 500 * time.Millisecond
	sweepEvery  = 10 * time.Second
	tendTime    = 5 * time.Second // the time limit of one task
)

// Tend does the background work of a replica until ctx ends: it renews the lease,
// charges the reservations of replicas that are gone, retries settlements, and learns
// which servers take no requests. A Gateway with State or a Ledger needs it, after Join.
func (g *Gateway) Tend(ctx context.Context) {
	h := g.now.Load()
	var all sync.WaitGroup
	every := func(d time.Duration, do func(ctx context.Context, h *house) error) {
		all.Go(func() {
			tick := time.NewTicker(d)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				within, cancel := context.WithTimeout(ctx, tendTime)
				_ = do(within, g.now.Load()) // retried at the next tick
				cancel()
			}
		})
	}
	if h.Ledger != nil {
		every(leaseEvery, g.lease)
		every(sweepEvery, g.sweep)
		every(oweEvery, g.payDebts)
		every(oweEvery, g.record)
		every(lookEvery, whileAway(&g.shared.ledger, g.lease))
	}
	if h.State != nil {
		every(visitsEvery, g.renew)
		every(coolEvery, g.cool)
		every(lookEvery, whileAway(&g.shared.state, g.cool))
	}
	all.Wait()
}

// whileAway probes a server that does not answer, so that no request has to find out
// when it answers again.
func whileAway(p *presence, ask func(context.Context, *house) error) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error {
		if p.until.Load() == 0 {
			return nil
		}
		return ask(ctx, h)
	}
}

// Join takes the first lease, without which nothing can be reserved.
func (g *Gateway) Join(ctx context.Context) error {
	h := g.now.Load()
	if h.Ledger == nil {
		return nil
	}
	return g.lease(ctx, h)
}

// Leave writes the waiting settlements until ctx ends. Those that remain are charged in
// full when the lease expires.
func (g *Gateway) Leave(ctx context.Context) {
	for g.shared.owed.len() > 0 && ctx.Err() == nil {
		h := g.now.Load()
		if err := errors.Join(g.payDebts(ctx, h), g.record(ctx, h)); err != nil {
			_ = sleep(ctx, oweEvery) // or the time is over
		}
	}
}

func (g *Gateway) lease(ctx context.Context, h *house) error {
	err := h.Ledger.Lease(ctx, h.Replica, h.Now().Add(leaseTime))
	g.shared.ledger.tell(h, "ledger", err)
	return err
}

func (g *Gateway) sweep(ctx context.Context, h *house) error {
	n, err := h.Ledger.Sweep(ctx, h.Now())
	if n > 0 {
		g.metrics.add("bx_settlements_total", label("ending", string(fleet.Unsettled)), float64(n))
		h.Log.Warn("charged in full what replicas had reserved that are gone", "reservations", n)
	}
	return err
}

// payDebts writes the waiting settlements. One that fails does not delay the others.
func (g *Gateway) payDebts(ctx context.Context, h *house) (failed error) {
	var left []owed
	list := g.shared.owed.take()
	for i, o := range list {
		if ctx.Err() != nil {
			left, failed = append(left, list[i:]...), ctx.Err()
			break
		}
		yet, err := g.pay(ctx, h, o)
		if yet {
			left = append(left, o)
		}
		failed = cmp.Or(failed, err)
	}
	g.shared.owed.back(left)
	return failed
}

// pay writes a settlement and reports whether it is still owed.
func (g *Gateway) pay(ctx context.Context, h *house, o owed) (yet bool, err error) {
	if o.until.IsZero() {
		err = g.settled(ctx, h, o.Settlement)
		return err != nil, err
	}
	_, err = h.Ledger.Settle(ctx, o.Settlement)
	if errors.Is(err, fleet.ErrUnknown) {
		return h.Now().Before(o.until), nil
	}
	return err != nil, err
}

// record books the requests of keys without a budget.
func (g *Gateway) record(ctx context.Context, h *house) error {
	for {
		lines := g.shared.owed.some()
		if len(lines) == 0 {
			return nil
		}
		if err := h.Ledger.Record(ctx, lines); err != nil {
			g.shared.owed.putBack(lines)
			return err
		}
		for _, l := range lines {
			g.metrics.add("bx_settlements_total", label("ending", string(l.Ending)), 1)
		}
	}
}

func (g *Gateway) renew(ctx context.Context, h *house) error {
	var all []fleet.Visit
	g.shared.visits.Range(func(_, v any) bool {
		visit, _ := v.(fleet.Visit)
		visit.Until = h.Now().Add(visitTime)
		all = append(all, visit)
		return true
	})
	if len(all) == 0 {
		return nil
	}
	return h.State.Renew(ctx, all, h.Now())
}

// cool pauses the targets that other replicas reported.
func (g *Gateway) cool(ctx context.Context, h *house) error {
	all, err := h.State.Cooling(ctx, h.Now())
	g.shared.state.tell(h, "state", err)
	for name, until := range all {
		g.breaks.hear(name, until, h.Now())
	}
	return err
}
