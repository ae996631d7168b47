package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Choose says how a route chooses the target of a new conversation, among those that
// are not paused.
type Choose string

// The ways to choose.
const (
	ByWeight  Choose = "weight"     // by the conversation's beginning, in proportion to the weights
	LeastBusy Choose = "least-busy" // the fewest running requests of this process, relative to its weight
	ByLatency Choose = "latency"    // the fastest first byte of late; among those about as fast, the least busy
)

// Chooses lists the ways to choose.
var Chooses = []Choose{ByWeight, LeastBusy, ByLatency}

// The reasons why a target was asked, as in the log and the metrics.
const (
	whyStays    = "conversation" // it has answered the conversation before
	whyUntried  = "untried"      // its speed is not known
	whyExplored = "explored"     // it was slow, and has not been asked for a while
	whyFallback = "fallback"     // an earlier one failed
)

// A target that takes up to near times as long as the fastest counts as about as fast.
// One that was passed over exploreAfter times and for exploreTime gets one request; one
// without a good reply yet gets one every exploreTime. An average loses half of its
// weight in averageHalf, and at least the share newest with each reply.
const (
	near         = 1.2
	exploreAfter = 20
	exploreTime  = 10 * time.Second
	averageHalf  = 10 * time.Second
	newest       = 0.2
)

// loads record how busy and how fast this process finds the targets.
type loads struct {
	mu sync.Mutex
	by map[spot]*load
}

type load struct {
	running int
	of      [2]pace // by kind of reply
}

// pace is the speed of a target's replies of one kind.
type pace struct {
	passed int       // choices since it was last chosen
	asked  time.Time // when it was last chosen
	first  average   // of the time to the first byte
}

// average is the moving average of a time, in seconds; at is zero if there is none.
type average struct {
	value float64
	at    time.Time
}

// with returns the average with one more value.
func (a average) with(value float64, now time.Time) average {
	if a.at.IsZero() {
		return average{value, now}
	}
	share := max(newest, 1-math.Exp2(-now.Sub(a.at).Seconds()/averageHalf.Seconds()))
	return average{a.value + share*(value-a.value), now}
}

// of returns the load of a spot. The caller holds the lock.
func (l *loads) of(at spot) *load {
	own := l.by[at]
	if own == nil {
		own = &load{}
		if l.by == nil {
			l.by = map[spot]*load{}
		}
		if len(l.by) >= maxSpots {
			maps.DeleteFunc(l.by, func(_ spot, l *load) bool { return l.running == 0 })
		}
		l.by[at] = own
	}
	return own
}

// kind returns the index of a reply's pace: the first byte of a whole reply comes only
// when it is complete.
func kind(whole bool) int {
	if whole {
		return 1
	}
	return 0
}

// hear records how long a good reply took to begin.
func (l *loads) hear(at spot, whole bool, first time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := &l.of(at).of[kind(whole)].first
	*own = own.with(first.Seconds(), now)
}

// begin counts a request to a target, until end is called.
func (l *loads) begin(at spot) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count(at)
}

// count is begin for a caller that holds the lock.
func (l *loads) count(at spot) (end func()) {
	l.of(at).running++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		own := l.of(at)
		own.running--
		if own.running == 0 && *own == (load{}) {
			delete(l.by, at)
		}
	}
}

// candidate is a target to choose from.
type candidate struct {
	at     spot
	weight int
}

// take chooses one of the candidates, the earlier of equal ones, and counts a request to
// it until end is called. It returns the order in which to ask them.
func (l *loads) take(by Choose, of []candidate, whole bool, now time.Time) (order []int, why string, end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make([]load, len(of))
	for i, c := range of {
		known[i] = *l.of(c.at)
	}
	order, why = ranked(by, of, known, kind(whole), now)
	for i, c := range of {
		own := &l.of(c.at).of[kind(whole)]
		if own.passed++; i == order[0] {
			own.passed, own.asked = 0, now
		}
	}
	return order, why, l.count(of[order[0]].at)
}

// ranked returns the order in which candidates are asked, and why the first comes first.
func ranked(by Choose, of []candidate, known []load, kind int, now time.Time) (order []int, why string) {
	for i := range of {
		order = append(order, i)
	}
	busy := func(i int) float64 { return float64(known[i].running) / float64(max(of[i].weight, 1)) }
	slow := func(i int) float64 { return 0 }
	why = string(by)
	if by == ByLatency {
		fastest := math.Inf(1)
		for i := range of {
			if a := known[i].of[kind].first; !a.at.IsZero() {
				fastest = min(fastest, a.value)
			}
		}
		slow = func(i int) float64 {
			switch a := known[i].of[kind].first; {
			case a.at.IsZero() && math.IsInf(fastest, 1): // no speed is known
				return 0
			case a.at.IsZero():
				return math.Inf(1)
			case a.value <= near*fastest:
				return 0
			default:
				return a.value
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(slow(a), slow(b)), cmp.Compare(busy(a), busy(b))) })
	if by != ByLatency {
		return order, why
	}
	for i := range of {
		own := known[i].of[kind]
		rested := now.Sub(own.asked) >= exploreTime
		switch untried := own.first.at.IsZero(); {
		case known[i].running > 0:
			continue
		case untried && rested:
			why = whyUntried
		case own.passed >= exploreAfter && rested && slow(i) > 0:
			why = whyExplored
		default:
			continue
		}
		at := slices.Index(order, i)
		return slices.Insert(slices.Delete(order, at, at+1), 0, i), why
	}
	return order, why
}

// lineup holds the targets of a request, in the order in which they are asked.
type lineup struct {
	targets []Target
	why     string // why the first comes first
	own     string // the spot that answered the conversation before; "": none is known
	begun   func() // ends the count of the first; nil: not counted yet
}

// choose puts one of a route's targets first, and counts a request to it.
func (x *exchange) choose(targets []Target, q *utp.Request) lineup {
	c := lineup{targets: targets}
	n := 0 // how many may be chosen: those of To that list the model, or else all of To
	for n < len(targets) && !targets[n].spare && standIn(targets[n], q.Model) == standIn(targets[0], q.Model) {
		n++
	}
	if len(x.way.To) < 2 {
		return c
	}
	if c.why = string(ByWeight); !x.way.roams() || n == 0 {
		return c
	}
	if slices.ContainsFunc(q.Messages, func(m utp.Message) bool { return m.Role == utp.RoleAssistant }) {
		found, err := x.fetch(targetPlace(x, q))
		if err != nil {
			return c // the order is by the conversation's beginning: the same for each turn and at each replica
		}
		if found[0] != nil { // otherwise the conversation counts as new
			c.own = found[0].target
		}
	}
	if i := slices.IndexFunc(targets[:n], func(t Target) bool { return t.spot(q.Model).String() == c.own }); i >= 0 {
		c.why, c.targets = whyStays, slices.Insert(slices.Delete(slices.Clone(targets), i, i+1), 0, targets[i])
		return c
	}
	var of []candidate
	for _, t := range targets[:n] {
		of = append(of, candidate{t.spot(q.Model), t.Weight})
	}
	var order []int
	order, c.why, c.begun = x.gate.loads.take(x.way.Choose, of, !q.Stream, x.Now())
	c.targets = nil
	for _, i := range order {
		c.targets = append(c.targets, targets[i])
	}
	c.targets = append(c.targets, targets[n:]...)
	return c
}

// roams reports whether the target of a conversation has to be kept, because it does not
// follow from how the conversation begins.
func (r *Route) roams() bool { return len(r.To) > 1 && r.Choose != "" && r.Choose != ByWeight }

// begin counts a request to the i-th target of a lineup, until end is called.
func (x *exchange) begin(c lineup, i int, q *utp.Request) (end func()) {
	if x.report.Chosen = c.why; i > 0 {
		x.report.Chosen = whyFallback
	}
	if i == 0 && c.begun != nil {
		return c.begun
	}
	return x.gate.loads.begin(c.targets[i].spot(q.Model))
}

// targetPlace is where the target of a conversation is kept.
func targetPlace(x *exchange, q *utp.Request) place {
	return place{"target", q.Model + "\x00" + x.report.Conversation}
}

// stay keeps the target that answered, so that the conversation stays with it.
func (x *exchange) stay(c lineup, t Target, q *utp.Request) {
	if !x.way.roams() || t.spare || x.report.Conversation == "" {
		return
	}
	if at := t.spot(q.Model).String(); at != c.own {
		x.store(&kept{place: targetPlace(x, q), size: formKept, target: at})
	}
}

// gauges writes how busy and how fast the targets are.
func (l *loads) gauges(b *strings.Builder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.SortedFunc(maps.Keys(l.by), func(a, b spot) int { return strings.Compare(a.String(), b.String()) })
	b.WriteString("# HELP bx_target_requests_running Requests under way at a target.\n# TYPE bx_target_requests_running gauge\n")
	for _, at := range all {
		fmt.Fprintf(b, "bx_target_requests_running{%s} %d\n", at.labels(), l.by[at].running)
	}
	b.WriteString("# HELP bx_target_first_byte_seconds Moving average of the time to the first byte of good replies, where a target is chosen by it.\n# TYPE bx_target_first_byte_seconds gauge\n")
	for _, at := range all {
		for i, name := range []string{"true", "false"} {
			if a := l.by[at].of[i].first; !a.at.IsZero() {
				fmt.Fprintf(b, "bx_target_first_byte_seconds{%s} %g\n", labels(at.labels(), label("stream", name)), a.value)
			}
		}
	}
}

// labels returns the labels of a spot.
func (at spot) labels() string {
	out := labels(label("target", at.target), label("model", at.model))
	if at.key != "" {
		out = labels(out, label("key", at.key))
	}
	return out
}

// countChoice counts a request whose target or key was chosen among several.
func (x *exchange) countChoice(t Target) {
	if x.report.Chosen != "" || t.key != "" {
		x.gate.metrics.add("bx_targets_chosen_total", labels(label("target", t.name()), label("key", t.key), label("why", x.report.Chosen)), 1)
	}
}
