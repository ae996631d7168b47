package agent

import (
	"fmt"
	"hash/maphash"
	"slices"
)

// windowsPerTurn is the budget of tokens of a turn that names none, in windows of
// its model.
const windowsPerTurn = 20

// progress tells rounds that bring something new from those that go round in
// circles in ever new words.
type progress struct {
	seed  maphash.Seed
	seen  map[uint64]bool // results so far
	stale int             // rounds in a row without a new one
}

// round takes the calls of a round.
// Calls of polling tools are new each time.
func (p *progress) round(slots []slot, polling []string) {
	if p.seen == nil {
		p.seed, p.seen = maphash.MakeSeed(), map[uint64]bool{}
	}
	fresh := false
	for _, s := range slots {
		key := maphash.String(p.seed, s.Call.Name+"\x00"+string(s.Result.Status)+"\x00"+s.Result.Text())
		fresh = fresh || !s.Cached && !p.seen[key] || slices.Contains(polling, s.Call.Name)
		p.seen[key] = true
	}
	p.stale++
	if fresh {
		p.stale = 0
	}
}

// spent says why the model must answer now; "" is that it may go on.
func (t *turn) spent() string {
	budget := t.Budget
	if budget == 0 {
		budget = windowsPerTurn * t.fitting.window
	}
	switch {
	case budget > 0 && t.spentTokens() >= budget:
		return fmt.Sprintf("the budget of %d tokens is spent", budget)
	case t.progress.stale >= t.Stale:
		return fmt.Sprintf("%d rounds in a row brought nothing new", t.progress.stale)
	}
	return ""
}
