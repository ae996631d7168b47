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
	keyPause    = time.Minute // of a key that the server refuses, or that nobody has paid for
)

// maxSpots bounds what is known of targets: the names of models are the clients'.
const maxSpots = 1000

// breakers watch the models of the backends, each by itself.
type breakers struct {
	mu sync.Mutex
	by map[spot]*watched
}

// spot is a model behind a backend, or one of the backend's keys for it.
type spot struct{ target, model, key string }

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
	if len(t.Keys) > 0 && !slices.ContainsFunc(t.Keys, func(k Key) bool { return !b.resting(t.with(k).keySpot(model), now) }) {
		return fmt.Sprintf("all %d keys of %s are left alone", len(t.Keys), t.name())
	}
	return ""
}

// resting reports whether a spot wants no requests. The caller has the lock.
func (b *breakers) resting(at spot, now time.Time) bool {
	own := b.by[at]
	return own != nil && now.Before(own.busy)
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

// tell notes how a request to the target went, and gives the spot that is left alone
// from now on for as long as it wants, 0 if none is. What is one key's fault is left
// to that key where there are others.
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

// forgive forgets that a spot has failed. A pause that its server has asked for
// lasts: what is well answered now may have been asked before. The caller has the lock.
func (b *breakers) forgive(at spot, now time.Time) {
	if own := b.by[at]; own != nil && now.Before(own.busy) {
		own.failures = 0
	} else {
		delete(b.by, at)
	}
}

// at is what is known of a spot. The caller has the lock.
func (b *breakers) at(at spot, now time.Time) *watched {
	own := b.by[at]
	if own == nil {
		own = &watched{}
		b.keep(at, own, now)
	}
	return own
}

// String is a spot as replicas call it.
func (at spot) String() string {
	name := at.target + "\x1f" + at.model
	if at.key != "" {
		name += "\x1f" + at.key
	}
	return name
}

// hear takes another replica's word that a spot wants no requests before a time.
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

// tellBreaker notes how a request to a target went, for other replicas too where it
// wants fewer of them.
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
		return strings.Compare(a.String(), b.String())
	})
	return spots
}
