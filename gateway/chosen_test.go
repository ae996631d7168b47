package gateway

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Whatever is known of targets, each is in the order once, the least busy is taken for
// its weight, and the fastest or one that nothing is known of by latency.
func TestRankedOrders(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	now := time.Unix(10_000, 0)
	for n := range 20_000 {
		of, known := make([]candidate, 1+draw.IntN(5)), []load{}
		for i := range of {
			of[i] = candidate{spot{target: fmt.Sprint(i)}, draw.IntN(4)}
			l := load{running: draw.IntN(4)}
			for k := range l.of {
				l.of[k] = pace{passed: draw.IntN(40), asked: now.Add(-time.Duration(draw.IntN(20)) * time.Second)}
				if draw.IntN(4) > 0 {
					l.of[k].first = average{draw.Float64(), now}
				}
			}
			known = append(known, l)
		}
		for _, by := range []Choose{LeastBusy, ByLatency} {
			kind := draw.IntN(2)
			order, why := ranked(by, of, known, kind, now)
			sorted := slices.Sorted(slices.Values(order))
			for i := range of {
				if len(sorted) != len(of) || sorted[i] != i {
					t.Fatalf("case %d: the order is %v", n, order)
				}
			}
			first, busy := known[order[0]], func(i int) float64 { return float64(known[i].running) / float64(max(of[i].weight, 1)) }
			pace := first.of[kind]
			for i, l := range known {
				other := l.of[kind]
				switch {
				case by == LeastBusy && busy(i) < busy(order[0]):
					t.Fatalf("case %d: %d is less busy than %d: %+v", n, i, order[0], known)
				case why == string(ByLatency) && !other.first.at.IsZero() && (pace.first.at.IsZero() || pace.first.value > near*other.first.value):
					t.Fatalf("case %d: %d is faster than %d: %+v", n, i, order[0], known)
				case why == string(ByLatency) && order[0] != i && !other.first.at.IsZero() && other.first.value <= pace.first.value && busy(i) < busy(order[0]):
					t.Fatalf("case %d: %d is as fast as %d and less busy: %+v", n, i, order[0], known)
				}
			}
			rested := now.Sub(pace.asked) >= exploreTime && first.running == 0
			if why == whyUntried && !(rested && pace.first.at.IsZero()) || why == whyExplored && !(rested && pace.passed >= exploreAfter && !pace.first.at.IsZero()) {
				t.Fatalf("case %d: %s, of %+v", n, why, first)
			}
		}
	}
}

// What one of several has lost goes to all others, by their weights, and each order is
// that of its seed.
func TestDrawnOrders(t *testing.T) {
	weights := []int{1, 2, 5, 2}
	weight := func(i int) int { return weights[i] }
	const n = 40_000
	first, second := map[int]int{}, map[[2]int]int{}
	for i := range n {
		q := &utp.Request{Messages: []utp.Message{utp.NewText(utp.RoleUser, fmt.Sprint("Question ", i))}}
		for _, seed := range []uint64{beginning(q), beginning(q) * mixing >> 33} {
			order := drawn(len(weights), weight, seed)
			if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, []int{0, 1, 2, 3}) || !slices.Equal(order, drawn(len(weights), weight, seed)) {
				t.Fatalf("the order is %v", order)
			}
			first[order[0]]++
			second[[2]int{order[0], order[1]}]++
		}
	}
	for i, w := range weights {
		if share := float64(first[i]) / (2 * n); math.Abs(share-float64(w)/10) > 0.01 {
			t.Errorf("%d of weight %d is first in %.3f", i, w, share)
		}
		for j, other := range weights {
			if want := float64(other) / float64(10-w); i != j && math.Abs(float64(second[[2]int{i, j}])/float64(first[i])-want) > 0.03 {
				t.Errorf("behind %d comes %d in %.3f, want %.3f", i, j, float64(second[[2]int{i, j}])/float64(first[i]), want)
			}
		}
	}
}

// Requests that are chosen for at the same time see each other: they spread by the
// weights, to the request, and leave nothing behind.
func TestChoicesAtOnceSeeEachOther(t *testing.T) {
	of := []candidate{{spot{target: "a"}, 1}, {spot{target: "b"}, 2}, {spot{target: "c"}, 5}}
	for range 500 {
		var l loads
		var all sync.WaitGroup
		ends := make(chan func(), 32)
		begin := make(chan struct{})
		for range cap(ends) {
			all.Go(func() {
				<-begin
				_, _, end := l.take(LeastBusy, of, false, time.Unix(1000, 0))
				ends <- end
			})
		}
		close(begin)
		all.Wait()
		if a, b, c := l.by[of[0].at].running, l.by[of[1].at].running, l.by[of[2].at].running; a != 4 || b != 8 || c != 20 {
			t.Fatalf("of 32 at weights 1, 2 and 5 run %d, %d and %d", a, b, c)
		}
		close(ends)
		for end := range ends {
			end()
		}
		for at, own := range l.by {
			if own.running != 0 {
				t.Fatalf("%v: %d stay", at, own.running)
			}
		}
	}
}

// A slow target of which whole replies are good is found out for streams, too.
func TestEachKindOfReplyIsExplored(t *testing.T) {
	of := []candidate{{spot{target: "a"}, 1}, {spot{target: "b"}, 1}}
	var l loads
	now := time.Unix(1000, 0)
	took := func(target string, whole bool) time.Duration {
		if (target == "a") == whole || now.After(time.Unix(1100, 0)) { // then a is fast in both
			return time.Second
		}
		return 5 * time.Second
	}
	streams := map[string]int{}
	for i := range 400 {
		whole := i%2 == 0
		order, _, end := l.take(ByLatency, of, whole, now)
		at := of[order[0]].at
		now = now.Add(500 * time.Millisecond)
		l.hear(at, whole, took(at.target, whole), now)
		end()
		if !whole && now.After(time.Unix(1130, 0)) {
			streams[at.target]++
		}
	}
	if streams["a"] < 20 {
		t.Errorf("a is as fast as b in streams now, and has %v of them", streams)
	}
}
