package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// A backend that failed so often in a row is left alone for a while; then one
// request tries it.
const (
	failuresToBreak = 5
	breakTime       = 15 * time.Second
)

// breakers watch the targets, by name.
type breakers struct {
	mu sync.Mutex
	by map[string]*breaker
}

type breaker struct {
	failures int
	until    time.Time
}

// allows reports whether the target may be asked.
func (b *breakers) allows(name string, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.by[name]
	if own == nil || own.failures < failuresToBreak {
		return nil
	}
	if now.Before(own.until) {
		return fmt.Errorf("%s failed %d times in a row and is left alone for %s", name, own.failures, breakTime)
	}
	own.until = now.Add(breakTime)
	return nil
}

// tell notes how a request to the target went.
func (b *breakers) tell(name string, err error, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !sick(err) {
		delete(b.by, name)
		return
	}
	if b.by == nil {
		b.by = map[string]*breaker{}
	}
	own := b.by[name]
	if own == nil {
		own = &breaker{}
		b.by[name] = own
	}
	own.failures++
	own.until = now.Add(breakTime)
}

// open lists the targets that are left alone.
func (b *breakers) open(now time.Time) (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, own := range b.by {
		if own.failures >= failuresToBreak && now.Before(own.until) {
			names = append(names, name)
		}
	}
	return names
}

// sick reports an error that says something about the server, and not about the
// request: it is not there, says nothing, or fails.
func sick(err error) bool {
	var theirs *wire.Error
	var input *wire.InputError
	switch {
	case err == nil, errors.As(err, &input), errors.Is(err, wire.ErrCut):
		return false
	case errors.As(err, &theirs):
		return theirs.Status >= 500 && theirs.Status != http.StatusNotImplemented
	}
	return true
}

// elsewhere reports an error after which another target may do better: all but
// those that say that the request itself is wrong.
func elsewhere(err error) bool {
	var theirs *wire.Error
	var input *wire.InputError
	if errors.As(err, &input) {
		return false
	}
	if !errors.As(err, &theirs) {
		return true
	}
	switch theirs.Status {
	case 0, 401, 402, 403, 404, 408, 409, 429:
		return true
	}
	return theirs.Overflow() || theirs.Status >= 500
}
