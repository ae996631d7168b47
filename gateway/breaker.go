package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// Breaker says when a target is left alone while another is left. Zero means the
// default named here.
type Breaker struct {
	Failures int           // in a row: 5; below 0 never
	Pause    time.Duration // for so long, then one request tries it: 15 s
}

func (b Breaker) failures() int {
	if b.Failures == 0 {
		return 5
	}
	return b.Failures
}

func (b Breaker) pause() time.Duration {
	if b.Pause == 0 {
		return 15 * time.Second
	}
	return b.Pause
}

// A target that wants fewer requests is left alone for as long as it says, or
// for coolDown.
const (
	coolDown    = 5 * time.Second
	maxCoolDown = 5 * time.Minute
)

// maxSpots bounds what is known of targets: the names of models are the clients'.
const maxSpots = 1000

// breakers watch the models of the backends, each by itself.
type breakers struct {
	mu sync.Mutex
	by map[spot]*watched
}

// spot is a model behind a backend.
type spot struct{ target, model string }

// watched is a model of a backend that failed last.
type watched struct {
	rule     Breaker
	failures int       // in a row
	until    time.Time // it is left alone because of them
	busy     time.Time // it wants no requests before
}

func (w *watched) broken() bool { return w.rule.failures() > 0 && w.failures >= w.rule.failures() }

// closed says why the target is left alone, "" if it is not.
func (b *breakers) closed(t Target, model string, now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch own := b.by[t.spot(model)]; {
	case own == nil:
	case now.Before(own.busy):
		return fmt.Sprintf("%s wants no requests for another %s", t.name(), own.busy.Sub(now).Round(time.Second))
	case own.broken() && now.Before(own.until):
		return fmt.Sprintf("%s failed %d times in a row and is left alone for %s", t.name(), own.failures, own.rule.pause())
	}
	return ""
}

// claim takes the right to ask a target. One that was left alone is tried by one
// request at a time.
func (b *breakers) claim(at spot, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.by[at]
	if own == nil || !own.broken() {
		return true
	}
	free := !now.Before(own.until)
	own.until = now.Add(own.rule.pause())
	return free
}

// tell notes how a request to the target went.
func (b *breakers) tell(t Target, at spot, err error, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	remedy := wire.RemedyFor(err)
	if !remedy.Sick && !remedy.Busy {
		delete(b.by, at)
		return
	}
	own := b.by[at]
	if own == nil {
		own = &watched{}
		b.keep(at, own, now)
	}
	own.rule = t.Breaker
	if remedy.Sick {
		own.failures++
		own.until = now.Add(own.rule.pause())
	}
	switch {
	case remedy.Pause > 0:
		own.busy = now.Add(min(remedy.Pause, maxCoolDown))
	case remedy.Busy:
		own.busy = now.Add(coolDown)
	}
}

// String is a spot as replicas call it.
func (at spot) String() string { return at.target + "\x1f" + at.model }

// hear takes another replica's word that a spot wants no requests before a time.
func (b *breakers) hear(name string, until, now time.Time) {
	target, model, _ := strings.Cut(name, "\x1f")
	at := spot{target, model}
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.by[at]
	if own == nil {
		own = &watched{}
		b.keep(at, own, now)
	}
	if until.After(own.busy) {
		own.busy = until
	}
}

// tellBreaker notes how a request to a target went, for other replicas too where it
// wants fewer of them.
func (x *exchange) tellBreaker(t Target, model string, err error) {
	at := t.spot(model)
	x.gate.breaks.tell(t, at, err, x.Now())
	remedy := wire.RemedyFor(err)
	if x.State == nil || !remedy.Busy && remedy.Pause == 0 {
		return
	}
	pause := coolDown
	if remedy.Pause > 0 {
		pause = min(remedy.Pause, maxCoolDown)
	}
	_ = x.gate.shared.with(context.WithoutCancel(x.r.Context()), x.house, &x.gate.shared.state, "state", func(ctx context.Context) error {
		return x.State.Cool(ctx, at.String(), x.Now().Add(pause), x.Now())
	}) // told there
}

// keep adds to what is known, and forgets what is over when that is much.
func (b *breakers) keep(at spot, own *watched, now time.Time) {
	if b.by == nil {
		b.by = map[spot]*watched{}
	}
	if len(b.by) >= maxSpots {
		maps.DeleteFunc(b.by, func(_ spot, w *watched) bool { return !now.Before(w.until) && !now.Before(w.busy) })
	}
	if len(b.by) < maxSpots {
		b.by[at] = own
	}
}

// open lists the targets that are left alone.
func (b *breakers) open(now time.Time) (spots []spot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, own := range b.by {
		if now.Before(own.busy) || own.broken() && now.Before(own.until) {
			spots = append(spots, at)
		}
	}
	slices.SortFunc(spots, func(a, b spot) int {
		return cmp.Or(strings.Compare(a.target, b.target), strings.Compare(a.model, b.model))
	})
	return spots
}
