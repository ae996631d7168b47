package replicas

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// State tests an implementation of fleet.State. Every open opens the same one.
func State(t *testing.T, open func(t testing.TB) fleet.State) {
	for name, test := range map[string]func(*testing.T, func(testing.TB) fleet.State){
		"rates": rates, "no minute fills twice": noMinuteTwice, "running requests": running, "kept items": keptItems, "cooling": cooling, "many at once": manyAtOnce, "all or none": allOrNone,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func enter(t testing.TB, s fleet.State, now time.Time, rates ...fleet.Rate) (fleet.Visit, fleet.Pass) {
	t.Helper()
	v := fleet.Visit{ID: ID(), Rates: rates, Until: now.Add(time.Minute)}
	pass, err := s.Enter(t.Context(), v, now)
	if err != nil {
		t.Fatal(err)
	}
	return v, pass
}

// rates fills and empties buckets of requests and tokens.
func rates(t *testing.T, open func(testing.TB) fleet.State) {
	s := open(t)
	own, team := fleet.Rate{Owner: ID(), Requests: 3}, fleet.Rate{Owner: ID(), Requests: 60, Tokens: 600}
	now := day
	for i := range 3 {
		if _, pass := enter(t, s, now, own, team); pass.Refused != "" || len(pass.Left) != 2 || pass.Left[0] != int64(2-i) || pass.Left[1] != int64(59-i) {
			t.Errorf("request %d: %+v", i, pass)
		}
	}
	_, pass := enter(t, s, now, own, team)
	if pass.Refused != "requests" || pass.Owner != own.Owner || pass.Wait < 19*time.Second || pass.Wait > 21*time.Second {
		t.Errorf("the fourth: %+v", pass)
	}
	now = now.Add(20*time.Second + time.Millisecond)
	v, pass := enter(t, s, now, own, team)
	if pass.Refused != "" || pass.Left[1] != 59 { // the refused one took nothing, and all had come in again
		t.Errorf("20 seconds later: %+v", pass)
	}
	if err := s.Leave(t.Context(), v, 900, now); err != nil {
		t.Fatal(err)
	}
	now = now.Add(20*time.Second + time.Millisecond) // 300 tokens in debt, of which 200 are paid
	if _, pass := enter(t, s, now, own, team); pass.Refused != "tokens" || pass.Owner != team.Owner || pass.Wait < 9*time.Second || pass.Wait > 11*time.Second {
		t.Errorf("after 900 tokens of 600: %+v", pass)
	}
	own.Requests = 13 // of a reload: ten more, and what was used stays used
	if _, pass := enter(t, s, now, own); pass.Refused != "" || pass.Left[0] < 10 {
		t.Errorf("with a larger size: %+v", pass)
	}
	if _, pass := enter(t, s, now, fleet.Rate{Owner: ID()}); pass.Refused != "" || pass.Left[0] != -1 {
		t.Errorf("without a limit: %+v", pass)
	}
}

// noMinuteTwice sends a late request with the time at which it began.
func noMinuteTwice(t *testing.T, open func(testing.TB) fleet.State) {
	s := open(t)
	r := fleet.Rate{Owner: ID(), Requests: 10, Tokens: 1000}
	late, _ := enter(t, s, day, r)
	for range 9 {
		enter(t, s, day, r)
	}
	granted := 0
	for i := range 24 {
		now := day.Add(time.Minute)
		if i%2 == 1 {
			now = day // one that has waited
		}
		if err := s.Leave(t.Context(), late, 1, day); err != nil {
			t.Fatal(err)
		}
		if _, pass := enter(t, s, now, r); pass.Refused == "" {
			granted++
		}
	}
	if granted != 10 {
		t.Errorf("%d requests of 10 were let in", granted)
	}
}

// running checks the limit on concurrent requests, also for requests that never leave.
func running(t *testing.T, open func(testing.TB) fleet.State) {
	s := open(t)
	r := fleet.Rate{Owner: ID(), Parallel: 2}
	first, pass := enter(t, s, day, r)
	second, other := enter(t, s, day, r)
	if pass.Refused != "" || other.Refused != "" {
		t.Fatalf("%+v, %+v", pass, other)
	}
	if _, pass := enter(t, s, day, r); pass.Refused != "parallel" || pass.Wait <= 0 {
		t.Errorf("the third: %+v", pass)
	}
	if err := s.Leave(t.Context(), first, 0, day); err != nil {
		t.Fatal(err)
	}
	third, pass := enter(t, s, day, r)
	if pass.Refused != "" {
		t.Errorf("after one has left: %+v", pass)
	}
	third.Until = day.Add(3 * time.Minute)
	if err := s.Renew(t.Context(), []fleet.Visit{third}, day.Add(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	later := day.Add(2 * time.Minute) // nobody has renewed the second
	if _, pass := enter(t, s, later, r); pass.Refused != "" {
		t.Errorf("where a replica went away: %+v", pass)
	}
	if _, pass := enter(t, s, later, r); pass.Refused != "parallel" {
		t.Errorf("the renewed one was forgotten: %+v", pass)
	}
	_ = second
}

// keptItems keeps items and forgets them.
func keptItems(t *testing.T, open func(testing.TB) fleet.State) {
	s, other := open(t), open(t)
	a, b := ID(), ID()
	put := func(at time.Time, items ...fleet.Item) {
		t.Helper()
		if err := s.Put(t.Context(), items, at); err != nil {
			t.Fatal(err)
		}
	}
	got := func(at time.Time, owner string, keys ...string) string {
		t.Helper()
		values, err := other.Get(t.Context(), owner, keys, at)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s", values)
	}
	now := time.Now() // what Redis keeps, it keeps by its own clock
	put(now, fleet.Item{Owner: a, Key: "1", Value: []byte("one")}, fleet.Item{Owner: a, Key: "2", Value: []byte("two\x00\xff")}, fleet.Item{Owner: a, Key: "1", Value: []byte("uno")})
	put(now, fleet.Item{Owner: b, Key: "1", Value: []byte("other")})
	if text := got(now, a, "2", "3", "1"); text != "[two\x00\xff  uno]" {
		t.Errorf("%q", text)
	}
	if text := got(now, b, "1", "2"); text != "[other ]" {
		t.Errorf("of another owner: %q", text)
	}
	if text := got(now, b); text != "[]" {
		t.Errorf("of no keys: %q", text)
	}
	if err := s.Forget(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if text := got(now, a, "1", "2") + got(now, b, "1"); text != "[ ][other]" {
		t.Errorf("after forgetting one owner: %q", text)
	}
}

// cooling shares the pauses that servers ask for.
func cooling(t *testing.T, open func(testing.TB) fleet.State) {
	s, other := open(t), open(t)
	target := ID()
	for _, until := range []time.Duration{time.Minute, time.Second} { // a shorter one does not cut a longer one
		if err := s.Cool(t.Context(), target, day.Add(until), day); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[time.Duration]bool{30 * time.Second: true, 2 * time.Minute: false} {
		all, err := other.Cooling(t.Context(), day.Add(after))
		if _, has := all[target]; err != nil || has != want {
			t.Errorf("after %s: %v, %v", after, all, err)
		}
	}
	if all, err := other.Cooling(t.Context(), day); err != nil || !all[target].Equal(day.Add(time.Minute)) {
		t.Errorf("%v, %v", all, err)
	}
}

// allOrNone has one of two owners' limits refuse a visit: nothing of the other is used,
// and the pass names the one that refused.
func allOrNone(t *testing.T, open func(testing.TB) fleet.State) {
	s := open(t)
	key, team := fleet.Rate{Owner: ID(), Requests: 100, Parallel: 3}, fleet.Rate{Owner: ID(), Requests: 200, Parallel: 2}
	in, pass := enter(t, s, day, key, team)
	if pass.Refused != "" || pass.Left[0] != 99 || pass.Left[1] != 199 {
		t.Fatalf("the first: %+v", pass)
	}
	enter(t, s, day, key, team)
	for range 3 {
		if _, pass := enter(t, s, day, key, team); pass.Refused != "parallel" || pass.Owner != team.Owner || pass.Wait <= 0 {
			t.Errorf("the team has two running: %+v", pass)
		}
	}
	if _, pass := enter(t, s, day, key); pass.Refused != "" || pass.Left[0] != 97 {
		t.Errorf("the key alone may have one more: %+v", pass)
	}
	if _, pass := enter(t, s, day, key, team); pass.Refused != "parallel" || pass.Owner != key.Owner && pass.Owner != team.Owner {
		t.Errorf("both are full: %+v", pass)
	}
	if err := s.Leave(t.Context(), in, 0, day); err != nil {
		t.Fatal(err)
	}
	if _, pass := enter(t, s, day, key, team); pass.Refused != "" || pass.Left[0] != 96 || pass.Left[1] != 197 {
		t.Errorf("after one has left: %+v", pass)
	}
	small := fleet.Rate{Owner: ID(), Requests: 1}
	enter(t, s, day, small)
	free := fleet.Rate{Owner: ID(), Parallel: 1}
	if _, pass := enter(t, s, day, free, small); pass.Refused != "requests" || pass.Owner != small.Owner || pass.Wait < 59*time.Second {
		t.Errorf("its requests are used up: %+v", pass)
	}
	if _, pass := enter(t, s, day, free); pass.Refused != "" {
		t.Errorf("a refused request runs on: %+v", pass)
	}
}

// manyAtOnce has replicas use a rate at the same time.
func manyAtOnce(t *testing.T, open func(testing.TB) fleet.State) {
	r, p := fleet.Rate{Owner: ID(), Requests: 40}, fleet.Rate{Owner: ID(), Parallel: 7}
	key, team := fleet.Rate{Owner: ID(), Requests: 500, Parallel: 50}, fleet.Rate{Owner: ID(), Requests: 600, Parallel: 9}
	var in, run, both, left atomic.Int64
	var all sync.WaitGroup
	states := []fleet.State{open(t), open(t), open(t)}
	for client := range 24 {
		s := states[client%len(states)]
		all.Go(func() {
			for range 4 {
				for _, rates := range [][]fleet.Rate{{r}, {p}, {key, team}} {
					pass, err := s.Enter(context.Background(), fleet.Visit{ID: ID(), Rates: rates, Until: day.Add(time.Hour)}, day)
					switch {
					case err != nil:
						t.Error(err)
					case pass.Refused == "" && len(rates) > 1:
						both.Add(1)
					case pass.Refused == "" && rates[0].Parallel > 0:
						run.Add(1)
					case pass.Refused == "":
						in.Add(1)
						left.Add(pass.Left[0])
					}
				}
			}
		})
	}
	all.Wait()
	if in.Load() != 40 || run.Load() != 7 {
		t.Errorf("%d of 40 requests, %d of 7 at once were let in", in.Load(), run.Load())
	}
	if _, pass := enter(t, states[0], day, fleet.Rate{Owner: key.Owner, Requests: 500}, fleet.Rate{Owner: team.Owner, Requests: 600}); both.Load() != 9 || pass.Left[0] != 490 || pass.Left[1] != 590 {
		t.Errorf("%d of 9 at once of a key and its team were let in; then %+v", both.Load(), pass)
	}
	if left.Load() != 39*40/2 { // 39 are left after the first, then 38, …
		t.Errorf("what is left was told as %d in all", left.Load())
	}
}

// OneTrip checks that a state needs one round trip for each question, even of requests
// with many limits and long histories. s is opened through via.
func OneTrip(t *testing.T, via *Trips, s fleet.State) {
	for _, rates := range [][]fleet.Rate{
		{{Owner: ID(), Requests: 100}},
		{{Owner: ID(), Requests: 100, Tokens: 1000, Parallel: 40}, {Owner: ID(), Requests: 100, Parallel: 80}},
	} {
		var in []fleet.Visit
		if n := via.Of(func() { v, _ := enter(t, s, day, rates...); in = append(in, v) }); n != 1 {
			t.Errorf("the limits of a request are %d round trips: %+v", n, rates)
		}
		if n := via.Of(func() {
			if err := s.Leave(t.Context(), in[0], 3, day); err != nil {
				t.Error(err)
			}
			in = in[1:]
		}); n > 1 {
			t.Errorf("a request that is over is %d round trips: %+v", n, rates)
		}
	}
	var names []string
	var items []fleet.Item
	for range 3000 { // twice as many calls as anybody has in a history
		names = append(names, ID())
		items = append(items, fleet.Item{Owner: "o", Key: names[len(names)-1], Value: []byte("x")})
	}
	if n := via.Of(func() {
		if err := s.Put(t.Context(), items[:11], day); err != nil {
			t.Error(err)
		}
	}); n != 1 {
		t.Errorf("what a reply leaves is %d round trips", n)
	}
	if n := via.Of(func() { must(s.Get(t.Context(), "o", names, day))(t) }); n != 1 {
		t.Errorf("%d things, of which 11 are kept, are %d round trips", len(names), n)
	}
}
