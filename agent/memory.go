package agent

import (
	"maps"

	"github.com/unifiedtoolprotocol/utp"
)

// memory holds the calls of earlier rounds, so that a model that goes round in
// circles is noticed.
type memory struct {
	round int
	calls map[string]*memo
}

type memo struct {
	done  Done
	again int // rounds that repeated it
	round int // that saw it last
}

func (m *memory) nextRound() { m.round++ }

// repeat looks for an equal call of an earlier round. times counts the rounds
// that repeated it, with this one.
func (m *memory) repeat(key string) (old Done, times int) {
	e := m.calls[key]
	if e == nil {
		return Done{}, 0
	}
	if e.round != m.round {
		e.again, e.round = e.again+1, m.round
	}
	return e.done, e.again
}

// keep remembers a call. After one that may have changed something every other
// call may give something else: a file is read again, the tests are run again.
func (m *memory) keep(key string, d Done, tier utp.Tier) {
	if d.Cached {
		return
	}
	if tier >= utp.TierRun && d.Result.Status == utp.StatusOK {
		maps.DeleteFunc(m.calls, func(k string, _ *memo) bool { return k != key })
	}
	if m.calls == nil {
		m.calls = map[string]*memo{}
	}
	if m.calls[key] == nil {
		m.calls[key] = &memo{done: d, round: m.round}
	}
}
