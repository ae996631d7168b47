package learn

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/unifiedtoolprotocol/utp/record"
)

// Standing is what is known of a form.
type Standing struct {
	Form     string       `json:"form"`
	Success  record.Share `json:"success"`         // old evidence counts for less
	Called   record.Share `json:"called"`          // replies with a call, of requests alone
	Estimate float64      `json:"estimate"`        // the share of success to expect
	Below    string       `json:"below,omitempty"` // the form that calls significantly more: this one is never picked
}

// Standings ranks the forms, those that are never picked last. It is empty only
// where there is no form.
func (e *Evidence) Standings() []Standing {
	out := make([]Standing, 0, len(e.forms))
	live := make([]Tally, len(e.forms))
	for i, f := range e.forms {
		live[i] = e.live(f)
		s := live[i].plus(f.probes.times(1 / e.unit)).Success()
		out = append(out, Standing{Form: f.name, Success: s, Called: live[i].Called(),
			Estimate: (s.Good + Credit*CreditRate) / (s.Of + Credit)})
	}
	e.silence(out, live)
	if !slices.ContainsFunc(out, Standing.may) {
		for i := range out {
			out[i].Below = "" // each calls less than another: old and new evidence differ
		}
	}
	slices.SortStableFunc(out, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(b.Success.Of, a.Success.Of))
	})
	return out
}

// silence finds the forms that call significantly less than another. Probes are
// compared with probes and requests with requests, for a doctor always asks for
// a call and people do not.
func (e *Evidence) silence(out []Standing, live []Tally) {
	asked, called := make([]record.Ranged, len(out)), make([]record.Ranged, len(out))
	for i, f := range e.forms {
		asked[i], called[i] = f.asked.Called().Ranged(record.Z99), live[i].Called().Ranged(record.Z99)
	}
	for i := range out {
		for j := range out {
			if asked[j].Above(asked[i]) || called[j].Above(called[i]) {
				out[i].Below = out[j].Form
				break
			}
		}
	}
}

func (s Standing) may() bool { return s.Below == "" }

func rank(s Standing) float64 {
	if !s.may() {
		return s.Estimate - 1
	}
	return s.Estimate
}

// Pick is the form of a conversation.
type Pick struct {
	Form  string
	Why   string // for people
	Trial bool   // another form is thought better
}

// Choose picks the form of a new conversation: the one of the highest estimate,
// or, if seed draws it and trials are few enough, the next one. Key is who asks;
// one that has had no good reply is tried nothing upon. The same seed over the
// same evidence picks the same form. Without any form it picks none.
func (e *Evidence) Choose(seed uint64, key string) Pick {
	ranks := e.Standings()
	if len(ranks) == 0 {
		return Pick{}
	}
	if _, c := e.client(key); c.counts() {
		e.picks++
		length := max(1, float64(e.replies)/float64(e.picks)) // of a conversation, so far
		room := float64(e.trials)+length <= MostTrials*(float64(e.replies)+length)
		if len(ranks) > 1 && ranks[1].may() && room && float64(seed>>11)/(1<<53) < drawn {
			return Pick{ranks[1].Form, "a trial of the second best: " + ranks[1].words(), true}
		}
	}
	return Pick{ranks[0].Form, "the best so far: " + ranks[0].words(), false}
}

// Best picks for whatever must not be tried upon: the form that is proved best,
// by the lower end of its interval.
func (e *Evidence) Best() Pick {
	ranks := slices.DeleteFunc(e.Standings(), func(s Standing) bool { return !s.may() })
	if len(ranks) == 0 {
		return Pick{}
	}
	s := slices.MaxFunc(ranks, func(a, b Standing) int {
		return cmp.Compare(a.Success.Interval().Low, b.Success.Interval().Low)
	})
	return Pick{s.Form, "the one that is proved best: " + s.words(), false}
}

func (s Standing) words() string {
	if s.Success.Of < 0.5 {
		return "nothing was seen of it yet"
	}
	return s.Success.String()
}

// Seed makes a seed of the beginning of a conversation.
func Seed(beginning string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(beginning))
	x := h.Sum64() // its high bits hardly vary with the last bytes: mixed as in SplitMix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Proposal is a change of form.
type Proposal struct {
	From, To Standing
	Gain     record.Interval // of the share of success, at the certainty of ZChange
}

// Propose gives the change that the evidence bears out for a model that gets its
// tools in the form now; none if no form is significantly better.
func (e *Evidence) Propose(now string) (p Proposal, ok bool) {
	ranks := e.Standings()
	i := slices.IndexFunc(ranks, func(s Standing) bool { return s.Form == now })
	if i < 0 {
		return Proposal{}, false
	}
	from := ranks[i]
	for _, to := range ranks {
		better := to.Success.Of >= minChange && to.Success.Above(from.Success, ZChange)
		if to.may() && (better || !from.may() && from.Below == to.Form) {
			_, gain := to.Success.Minus(from.Success, ZChange)
			return Proposal{from, to, gain}, true
		}
	}
	return Proposal{}, false
}
