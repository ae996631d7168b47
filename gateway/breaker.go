package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// Breaker says when a target is paused while others remain. Zero means the default
// named here.
type Breaker struct {
	Failures int           // in a row: 5; below 0 never
	Pause    time.Duration // how long, until one request tries it: 15 s
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

// A target that asks for fewer requests is paused for as long as it says, or for
// coolDown.
const (
	coolDown    = 5 * time.Second
	maxCoolDown = 5 * time.Minute
	keyPause    = time.Minute // of a key that the server refuses, or that is not paid for
)

// maxSpots bounds the spots remembered: clients choose the names of models.
const maxSpots = 1000

// breakers hold the breaker of each model of each backend.
type breakers struct {
	mu sync.Mutex
	by map[spot]*watched
}

// spot is a model at a backend, or one of the backend's keys for it.
type spot struct{ target, model, key string }

// watched is the state of a spot whose last request failed.
type watched struct {
	rule     Breaker
	failures int       // in a row
	until    time.Time // the end of the pause for failures
	busy     time.Time // the server asked for no requests before
}

func (w *watched) broken() bool { return w.rule.failures() > 0 && w.failures >= w.rule.failures() }

// closed returns why the target is paused, "" if it is not.
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
	if len(t.Keys) > 0 && !slices.ContainsFunc(t.Keys, func(k Key) bool { return !b.resting(t.with(k).keySpot(model), now) }) {
		return fmt.Sprintf("all %d keys of %s are left alone", len(t.Keys), t.name())
	}
	return ""
}

// resting reports whether a spot is paused. The caller holds the lock.
func (b *breakers) resting(at spot, now time.Time) bool {
	own := b.by[at]
	return own != nil && now.Before(own.busy)
}

// claim reports whether the caller may ask a target. After a pause, one request at a
// time tries it.
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

// tell records the result of a request to the target. It returns the spot that is to be
// paused at its server's wish, and for how long; 0 if none is. A failure of one of
// several keys pauses only that key.
func (b *breakers) tell(t Target, model string, err error, now time.Time) (at spot, pause time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	remedy := wire.RemedyFor(err)
	at = t.spot(model)
	own := t.key != "" && remedy.Key
	if own {
		at, remedy.Sick = t.keySpot(model), false
	}
	if !remedy.Sick && !remedy.Busy && !own {
		b.forgive(at, now)
		b.forgive(t.keySpot(model), now)
		return at, 0
	}
	switch {
	case remedy.Pause > 0:
		pause = min(remedy.Pause, maxCoolDown)
	case own && remedy.Never:
		pause = keyPause
	case remedy.Busy:
		pause = coolDown
	}
	w := b.at(at, now)
	w.rule = t.Breaker
	if remedy.Sick {
		w.failures++
		w.until = now.Add(w.rule.pause())
	}
	if pause > 0 {
		w.busy = now.Add(pause)
	}
	return at, pause
}

// forgive forgets the failures of a spot. A pause that its server asked for stays: the
// good reply may be to an earlier request. The caller holds the lock.
func (b *breakers) forgive(at spot, now time.Time) {
	if own := b.by[at]; own != nil && now.Before(own.busy) {
		own.failures = 0
	} else {
		delete(b.by, at)
	}
}

// at returns the state of a spot. The caller holds the lock.
func (b *breakers) at(at spot, now time.Time) *watched {
	own := b.by[at]
	if own == nil {
		own = &watched{}
		b.keep(at, own, now)
	}
	return own
}

// String returns the name of a spot that replicas share.
func (at spot) String() string {
	name := at.target + "\x1f" + at.model
	if at.key != "" {
		name += "\x1f" + at.key
	}
	return name
}

// hear records a pause that another replica reported.
func (b *breakers) hear(name string, until, now time.Time) {
	target, rest, _ := strings.Cut(name, "\x1f")
	model, key, _ := strings.Cut(rest, "\x1f")
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.at(spot{target, model, key}, now)
	if until.After(own.busy) {
		own.busy = until
	}
}

// tellBreaker records the result of a request to a target. If the target asked for fewer
// requests, the other replicas learn of it.
func (x *exchange) tellBreaker(t Target, model string, err error) {
	at, pause := x.gate.breaks.tell(t, model, err, x.Now())
	if at.key != "" && pause > 0 {
		x.Log.Warn("a key is left alone", "target", at.target, "model", at.model, "key", at.key, "seconds", pause.Seconds(), "error", wire.FaultOf(err).Message)
	}
	if x.State == nil || pause == 0 {
		return
	}
	_ = x.gate.shared.with(context.WithoutCancel(x.r.Context()), x.house, &x.gate.shared.state, "state", func(ctx context.Context) error {
		return x.State.Cool(ctx, at.String(), x.Now().Add(pause), x.Now())
	}) // logged there
}

// keep stores the state of a spot, and drops expired ones when there are too many.
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

// open returns the spots that are paused.
func (b *breakers) open(now time.Time) (spots []spot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, own := range b.by {
		if now.Before(own.busy) || own.broken() && now.Before(own.until) {
			spots = append(spots, at)
		}
	}
	slices.SortFunc(spots, func(a, b spot) int {
		return strings.Compare(a.String(), b.String())
	})
	return spots
}
