// Package learnsim simulates models that work better in one form of tools than
// in others, and measures how package learn finds that out. A run is drawn by
// its number: the same numbers give the same figures.
package learnsim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

// probes are how often the doctor asks in each form.
const probes = 9

// Scene is a situation: how often a reply is good in each form.
type Scene struct {
	Name   string
	About  string
	Rates  []float64 // of success; the first is the best
	Calls  int       // replies of a run
	Swap   int       // after so many calls the best and the worst change places; 0: never
	Mute   int       // the form that never calls, from 1; 0: none
	Broken float64   // share of the calls that come of a key whose calls are broken
	Spared float64   // share of those that are not broken
	Keys   int       // other keys; 0: everybody counts in full
	Leads  float64   // share of the runs in which the best form must lead in the end
	Regret float64   // share of round-robin's regret that is allowed
	Steady bool      // no change may be proposed, in 95 % of the runs
}

var apart = []float64{.95, .85, .75, .65, .55, .45}

// Scenes are the situations of the measures.
func Scenes() []Scene {
	return []Scene{
		{Name: "a", About: "rates 95, 85, 75, 65, 55, 45 %", Rates: apart, Calls: 200, Leads: .95, Regret: .25},
		{Name: "b", About: "one at 95 %, five at 85 %", Rates: []float64{.95, .85, .85, .85, .85, .85}, Calls: 200, Leads: .85, Regret: .6},
		{Name: "c", About: "all at 90 %", Rates: []float64{.9, .9, .9, .9, .9, .9}, Calls: 200, Steady: true},
		{Name: "d", About: "as a; the best and the worst change places after 300 calls", Rates: apart, Calls: 600, Swap: 300, Leads: .85},
		{Name: "e", About: "as a, and a form that never calls", Rates: append(slices.Clone(apart), 1), Mute: 7, Calls: 200},
		{Name: "f", About: "as a, of ten keys and one that breaks all its calls, every third", Rates: apart, Calls: 300, Keys: 10, Broken: 1. / 3},
		{Name: "g", About: "as f; the key breaks nine of ten", Rates: apart, Calls: 300, Keys: 10, Broken: 1. / 3, Spared: .1},
	}
}

// Lengths are those of the conversations, in calls.
var Lengths = []int{1, 5, 10}

// Result is what the runs of a scene came to.
type Result struct {
	Scene
	Length  int // of a conversation
	Runs    int
	Led     float64   // share of the runs in which the best form led in the end
	Lost    float64   // regret, as a share of round-robin's
	Tried   float64   // share of the replies that were trials
	TriedBy float64   // the largest such share of a run
	Credit  float64   // share of the replies in a form that was not the one of the highest share seen
	Changed float64   // share of the runs in which a change was proposed at any time
	Muted   int       // conversations in the form that never calls
	Moved   float64   // f: share of the runs that end with another leader than without the broken key
	Leading []float64 // share of the runs in which the form that is the best then leads, after each tenth call
}

// Simulate makes runs of a scene.
func Simulate(s Scene, length, runs int) Result {
	r := Result{Scene: s, Length: length, Runs: runs, Leading: make([]float64, s.Calls/10)}
	even := 0.0
	for i := range runs {
		o := s.run(length, uint64(i), false)
		r.Led += is(o.leader == o.best)
		r.Lost += o.regret
		even += o.even
		r.Tried += o.trials
		r.TriedBy = max(r.TriedBy, o.trials)
		r.Credit += o.credit
		r.Changed += is(o.changed)
		r.Muted += o.muted
		for j, leads := range o.leading {
			r.Leading[j] += is(leads)
		}
		if s.Broken > 0 {
			r.Moved += is(s.run(length, uint64(i), true).leader != o.leader)
		}
	}
	n := float64(runs)
	r.Led, r.Tried, r.Credit, r.Changed, r.Moved = r.Led/n, r.Tried/n, r.Credit/n, r.Changed/n, r.Moved/n
	if even > 0 {
		r.Lost /= even
	}
	for j := range r.Leading {
		r.Leading[j] /= n
	}
	return r
}

// Misses lists the measures that do not hold.
func (r Result) Misses() (out []string) {
	miss := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	miss(r.Leads > 0 && r.Led < r.Leads, "the best form leads in %.3f, want %.2f", r.Led, r.Leads)
	miss(r.Regret > 0 && r.Lost > r.Regret, "regret is %.3f of round-robin's, want %.2f", r.Lost, r.Regret)
	miss(r.Steady && r.Changed > .05, "a change is proposed in %.3f, want 0.05", r.Changed)
	miss(r.Mute > 0 && r.Muted > 0, "%d conversations in a form that never calls", r.Muted)
	miss(r.Broken > 0 && r.Spared == 0 && r.Moved > 0, "a broken key moves %.3f of the runs", r.Moved)
	miss(r.TriedBy > learn.MostTrials+1e-9, "a run has %.3f trials", r.TriedBy)
	return out
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// outcome is one run.
type outcome struct {
	best, leader   int // forms, in the end
	regret, even   float64
	trials, credit float64
	changed        bool
	muted          int
	leading        []bool
}

// run is one run. Calm: the calls of the broken key are not there.
func (s Scene) run(length int, n uint64, calm bool) (o outcome) {
	draw := rand.New(rand.NewPCG(n, 15))
	rates := slices.Clone(s.Rates)
	names := make([]string, len(rates))
	order := draw.Perm(len(rates)) // the best one does not always stand first
	for i := range names {
		names[i] = fmt.Sprint("form ", i)
	}
	listed := make([]string, len(rates))
	for i, at := range order {
		listed[at] = names[i]
	}
	e, coach := learn.New(listed...), learn.NewLasting(listed...)
	for i, name := range names {
		var t learn.Tally
		for range probes {
			t.Add(s.outcome(i, draw.Float64(), rates), 1)
		}
		e.Probed(name, t)
		coach.Probed(name, t)
	}
	now := names[len(names)/2] // what the profile says
	form, trial, seenBest, key := 0, false, 0, ""
	for call := range s.Calls {
		if s.Swap > 0 && call == s.Swap {
			best, worst := slices.Index(rates, slices.Max(rates)), slices.Index(rates, slices.Min(rates))
			rates[best], rates[worst] = rates[worst], rates[best]
		}
		if call%length == 0 {
			key = s.key(draw)
			p := e.Choose(draw.Uint64(), key)
			form, trial = slices.Index(names, p.Form), p.Trial
			o.muted += int(is(form+1 == s.Mute))
			seenBest = s.highest(e, names)
			if _, change := coach.Propose(now); change {
				o.changed = true
			}
		}
		luck := draw.Float64()
		top := s.top(rates)
		if key == broken {
			luck = 2 * is(luck >= s.Spared)
		} else {
			o.regret += rates[top] - rates[form]
			o.even += rates[top] - s.mean(rates)
		}
		o.credit += is(form != seenBest) / float64(s.Calls)
		if key == broken && calm {
			continue
		}
		said := s.outcome(form, luck, rates)
		e.Add(names[form], key, said, trial)
		coach.Add(names[form], key, said, trial)
		if (call+1)%10 == 0 {
			o.leading = append(o.leading, e.Standings()[0].Form == names[top])
		}
		o.best = top
	}
	o.leader = slices.Index(names, e.Standings()[0].Form)
	o.trials = e.Trials().Rate()
	return o
}

const broken = "broken"

// key is who asks.
func (s Scene) key(draw *rand.Rand) string {
	switch {
	case s.Keys == 0:
		return ""
	case draw.Float64() < s.Broken:
		return broken
	}
	return fmt.Sprint("key ", draw.IntN(s.Keys))
}

func (s Scene) outcome(form int, luck float64, rates []float64) record.Outcome {
	switch {
	case form+1 == s.Mute:
		return record.Silent
	case luck < rates[form]:
		return record.Good
	}
	return record.Bad
}

// top is the best form that calls.
func (s Scene) top(rates []float64) (best int) {
	for i := range rates {
		if i+1 != s.Mute && rates[i] > rates[best] {
			best = i
		}
	}
	return best
}

func (s Scene) mean(rates []float64) float64 {
	sum, n := 0.0, 0.0
	for i, r := range rates {
		if i+1 != s.Mute {
			sum, n = sum+r, n+1
		}
	}
	return sum / n
}

// highest is the form of the highest share so far, whatever credit it has.
func (s Scene) highest(e *learn.Evidence, names []string) int {
	best, share := "", -1.0
	for _, f := range e.Standings() {
		if r := (f.Success.Good + 1) / (f.Success.Of + 2); r > share && f.Below == "" {
			best, share = f.Form, r
		}
	}
	return slices.Index(names, best)
}
