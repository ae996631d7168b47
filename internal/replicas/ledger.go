package replicas

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

// day is in the middle of a month, a day and a minute.
var day = time.Date(2026, 11, 23, 12, 30, 30, 0, time.UTC)

var serial atomic.Int64

// ID returns a unique id.
func ID() string { return fmt.Sprintf("id%d", serial.Add(1)) }

// Member adds a key in a team to a ledger.
func Member(t testing.TB, l fleet.Ledger, own, shared fleet.Budget) *fleet.Key {
	t.Helper()
	team := fleet.Team{ID: ID(), Name: ID(), Created: day, Limits: fleet.Limits{Budget: shared}}
	if err := l.CreateTeam(t.Context(), "test", team); err != nil {
		t.Fatal(err)
	}
	k := fleet.Key{ID: ID(), Name: ID(), Created: day, Team: &team, Limits: fleet.Limits{Budget: own}}
	hash := sha256.Sum256([]byte(k.ID))
	if err := l.CreateKey(t.Context(), "test", k, hash); err != nil {
		t.Fatal(err)
	}
	found, err := l.Key(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func reservation(k *fleet.Key, most fleet.Amount) fleet.Reservation {
	return fleet.Reservation{ID: ID(), Key: k, Replica: "r", Request: "q", Backend: "b", Model: "m", At: day, Most: most}
}

// Ledger tests an implementation of fleet.Ledger. Every open opens the same one.
func Ledger(t *testing.T, open func(t testing.TB) fleet.Ledger) {
	for name, test := range map[string]func(*testing.T, func(testing.TB) fleet.Ledger){
		"a budget is never passed": neverPassed, "what is settled counts once": settledOnce, "what a lost replica held is charged": swept,
		"books": books, "windows begin anew": windowsBegin, "what nothing was reserved for is booked once": recorded,
		"one that cannot be booked is alone with it": together, "what ends counts where it began": whereItBegan,
		"no key is of a team that is gone": teamGoes, "what was spent is added up": added,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// neverPassed has many clients of many replicas use one budget at the same time.
func neverPassed(t *testing.T, open func(testing.TB) fleet.Ledger) {
	for _, tt := range []struct {
		unit        string
		own, shared fleet.Budget
	}{
		{"money", fleet.Budget{fleet.Day: {Money: 1000}}, nil},
		{"tokens", fleet.Budget{fleet.Minute: {Tokens: 1000}}, fleet.Budget{fleet.Month: {Tokens: 5000}}},
		{"requests", nil, fleet.Budget{fleet.Month: {Requests: 100}}},
	} {
		t.Run(tt.unit, func(t *testing.T) {
			l := open(t)
			k := Member(t, l, tt.own, tt.shared)
			var used atomic.Int64
			var all sync.WaitGroup
			var replicas []fleet.Ledger
			for range 3 {
				replicas = append(replicas, open(t))
			}
			for client := range 24 {
				replica := replicas[client%len(replicas)]
				all.Go(func() {
					draw := rand.New(rand.NewPCG(1, uint64(serial.Add(1))))
					for range 12 {
						most := int64(10 + draw.IntN(20))
						r := reservation(k, fleet.Amount{Requests: 1, Tokens: most, Money: price.Money(most)})
						_, err := replica.Reserve(context.Background(), r)
						var over *fleet.Over
						if errors.As(err, &over) {
							continue
						}
						if err != nil {
							t.Error(err)
							return
						}
						is := most - draw.Int64N(10)
						if _, err := replica.Settle(context.Background(), fleet.Settlement{ID: r.ID, Ending: fleet.Settled, Amount: fleet.Amount{Requests: 1, Tokens: is, Money: price.Money(is)}, At: day}); err != nil {
							t.Error(err)
							return
						}
						if tt.unit == "requests" {
							is = 1
						}
						used.Add(is)
					}
				})
			}
			all.Wait()
			limit := int64(1000)
			if tt.unit == "requests" {
				limit = 100
			}
			if n := used.Load(); n > limit || n < limit*9/10 {
				t.Errorf("%d of %d %s were used", n, limit, tt.unit)
			}
			now, err := l.Windows(t.Context(), k, day)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range now {
				if w.Reserved != (fleet.Amount{}) {
					t.Errorf("%s of the %s: %+v stay reserved", w.Per, w.Subject.Kind, w.Reserved)
				}
			}
			_, err = l.Reserve(t.Context(), reservation(k, fleet.Amount{Requests: 50, Tokens: 500, Money: 500}))
			var over *fleet.Over
			if !errors.As(err, &over) || over.Unit != tt.unit {
				t.Errorf("a request above what is left: %v", err)
			}
		})
	}
}

// settledOnce settles one reservation in every order.
func settledOnce(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	k := Member(t, l, fleet.Budget{fleet.Month: {Money: 1000}}, nil)
	settle := func(r fleet.Reservation, e fleet.Ending, n int64) fleet.Outcome {
		t.Helper()
		out, err := l.Settle(t.Context(), fleet.Settlement{ID: r.ID, Ending: e, Usage: utp.Usage{Input: int(n)}, Amount: fleet.Amount{Requests: min(n, 1), Tokens: n, Money: price.Money(n)}, At: day})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	spent := func() int64 {
		t.Helper()
		now, err := l.Windows(t.Context(), k, day)
		if err != nil {
			t.Fatal(err)
		}
		var n int64 = -1
		for _, w := range now {
			if w.Per == fleet.Month {
				if n >= 0 && n != int64(w.Settled.Money) || w.Reserved.Money != 0 {
					t.Errorf("%+v", w)
				}
				n = int64(w.Settled.Money)
			}
		}
		return n
	}
	want := int64(0)
	for _, tt := range []struct {
		name  string
		ends  []fleet.Ending
		sums  []int64
		count int64
	}{
		{"once", []fleet.Ending{fleet.Settled}, []int64{60}, 60},
		{"the first counts", []fleet.Ending{fleet.Settled, fleet.Settled, fleet.Unsettled, fleet.Refused}, []int64{50, 10, 100, 0}, 50},
		{"a refusal costs nothing", []fleet.Ending{fleet.Refused, fleet.Settled}, []int64{0, 70}, 0},
		{"charged in full, then corrected once", []fleet.Ending{fleet.Unsettled, fleet.Unsettled, fleet.Settled, fleet.Settled}, []int64{100, 100, 30, 40}, 30},
		{"charged in full", []fleet.Ending{fleet.Unsettled}, []int64{100}, 100},
		{"above what was reserved", []fleet.Ending{fleet.Estimated}, []int64{130}, 130},
	} {
		r := reservation(k, fleet.Amount{Requests: 1, Tokens: 100, Money: 100})
		if _, err := l.Reserve(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		var first, last fleet.Outcome
		for i, e := range tt.ends {
			last = settle(r, e, tt.sums[i])
			if i == 0 {
				first = last
			}
		}
		if want += tt.count; spent() != want {
			t.Errorf("%s: %d are spent, want %d", tt.name, spent(), want)
		}
		if first.Over != (tt.count > 100) {
			t.Errorf("%s: over %v", tt.name, first.Over)
		}
	}
	if _, err := l.Settle(t.Context(), fleet.Settlement{ID: ID(), Ending: fleet.Settled, At: day}); !errors.Is(err, fleet.ErrUnknown) {
		t.Errorf("a reservation that never was: %v", err)
	}
	r := reservation(k, fleet.Amount{Requests: 1})
	for i := range 2 { // the second has the id of the first
		if _, err := l.Reserve(t.Context(), r); (err == nil) != (i == 0) {
			t.Errorf("%d: %v", i, err)
		}
	}
	late := 0
	if err := l.Entries(t.Context(), fleet.Query{KeyID: k.ID, Endings: []fleet.Ending{fleet.Settled}}, func(e fleet.Entry) error {
		if e.Late {
			late++
			if e.Amount.Money != 30 || e.Usage.Input != 30 {
				t.Errorf("the corrected one: %+v", e)
			}
		}
		return nil
	}); err != nil || late != 1 {
		t.Errorf("%d were late, %v", late, err)
	}
}

// swept lets the lease of one of two replicas expire.
func swept(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	must(l.Sweep(t.Context(), day))(t) // what other tests have left
	k := Member(t, l, fleet.Budget{fleet.Day: {Tokens: 1000}}, nil)
	var ids []string
	for _, replica := range []string{ID(), ID()} {
		if err := l.Lease(t.Context(), replica, day.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		r := reservation(k, fleet.Amount{Requests: 1, Tokens: 100})
		r.Replica = replica
		if _, err := l.Reserve(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
		if len(ids) == 2 {
			if err := l.Lease(t.Context(), replica, day.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := l.Sweep(t.Context(), day.Add(30*time.Second)); n != 0 || err != nil {
		t.Errorf("while both live: %d, %v", n, err)
	}
	for i := range 2 {
		if n, err := l.Sweep(t.Context(), day.Add(2*time.Minute)); n != 1-i || err != nil {
			t.Errorf("when one is gone: %d, %v", n, err)
		}
	}
	var unsettled []string
	if err := l.Entries(t.Context(), fleet.Query{KeyID: k.ID, Endings: []fleet.Ending{fleet.Unsettled}}, func(e fleet.Entry) error {
		unsettled = append(unsettled, e.ID)
		return nil
	}); err != nil || len(unsettled) != 1 || unsettled[0] != ids[0] {
		t.Errorf("%v, %v", unsettled, err)
	}
	for _, w := range must(l.Windows(t.Context(), k, day))(t) {
		if w.Per == fleet.Day && (w.Settled.Tokens != 100 || w.Reserved.Tokens != 100) {
			t.Errorf("%+v", w)
		}
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// recorded books requests of keys without a budget, some twice, as a replica does after
// an unconfirmed commit.
func recorded(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	one, two := Member(t, l, nil, nil), Member(t, l, nil, fleet.Budget{fleet.Minute: {Tokens: 1e6}})
	line := func(k *fleet.Key, at time.Time, n int64, e fleet.Ending) fleet.Line {
		r := reservation(k, fleet.Amount{Requests: 1, Tokens: 100, Money: 100})
		r.At, r.Model = at, "m\x00\xff" // as a client may call one
		return fleet.Line{Reservation: r, Settlement: fleet.Settlement{ID: r.ID, Ending: e, Usage: utp.Usage{Input: int(n)}, Amount: fleet.Amount{Requests: 1, Tokens: n, Money: price.Money(n)}, At: at}}
	}
	first := []fleet.Line{line(one, day, 10, fleet.Settled), line(two, day, 20, fleet.Settled), line(one, day, 3, fleet.Estimated)}
	later := []fleet.Line{first[1], line(two, day.AddDate(0, 0, 1), 40, fleet.Settled), first[0]}
	for _, lines := range [][]fleet.Line{first, later, nil, later} {
		if err := l.Record(t.Context(), lines); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		key    *fleet.Key
		at     time.Time
		tokens map[fleet.Per]int64
	}{
		{one, day, map[fleet.Per]int64{fleet.Day: 13, fleet.Month: 13}},
		{two, day, map[fleet.Per]int64{fleet.Day: 20, fleet.Month: 60}},
		{two, day.AddDate(0, 0, 1), map[fleet.Per]int64{fleet.Day: 40, fleet.Month: 60}},
	} {
		for _, w := range must(l.Windows(t.Context(), tt.key, tt.at))(t) {
			n, has := tt.tokens[w.Per]
			if has && (w.Settled.Tokens != n || w.Settled.Money != price.Money(n)) || w.Reserved != (fleet.Amount{}) {
				t.Errorf("%s of the %s on the %s: %+v, want %d", w.Per, w.Subject.Kind, tt.at.Format("2"), w, n)
			}
		}
	}
	var got []string
	if err := l.Entries(t.Context(), fleet.Query{KeyID: one.ID}, func(e fleet.Entry) error {
		got = append(got, fmt.Sprint(e.Ending, e.Usage.Input, e.Amount, e.Team, e.Ended.Equal(day)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := []string{fmt.Sprint(fleet.Estimated, 3, first[2].Amount, one.Team.Name, true), fmt.Sprint(fleet.Settled, 10, first[0].Amount, one.Team.Name, true)}; !slices.Equal(got, want) {
		t.Errorf("the entries are %v, want %v", got, want)
	}
}

// together makes many reservations at once, one of them impossible.
func together(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	k := Member(t, l, fleet.Budget{fleet.Day: {Tokens: 1e6}}, nil)
	taken := reservation(k, fleet.Amount{Requests: 1, Tokens: 1})
	if _, err := l.Reserve(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 30 {
		r := reservation(k, fleet.Amount{Requests: 1, Tokens: 1})
		if i%10 == 5 {
			r.ID = taken.ID
		}
		all.Go(func() {
			if _, err := l.Reserve(context.Background(), r); (err == nil) != (r.ID != taken.ID) {
				t.Errorf("reservation %d: %v", i, err)
			}
			gone, leave := context.WithCancel(context.Background())
			leave()
			if _, err := l.Reserve(gone, reservation(k, fleet.Amount{Tokens: 1e6})); err == nil { // too much, and nobody waits
				t.Error("one that is over the budget is reserved")
			}
		})
	}
	all.Wait()
	for _, w := range must(l.Windows(t.Context(), k, day))(t) {
		if w.Per == fleet.Day && w.Subject.Kind == "key" && w.Reserved.Tokens != 28 {
			t.Errorf("%+v", w)
		}
	}
}

// windowsBegin uses up a budget and tries again in the next window.
func windowsBegin(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	for p, next := range map[fleet.Per]time.Time{fleet.Minute: day.Add(time.Minute), fleet.Day: day.AddDate(0, 0, 1), fleet.Month: day.AddDate(0, 1, 0)} {
		k := Member(t, l, nil, fleet.Budget{p: {Tokens: 100}})
		for i, at := range []time.Time{day, day, next} {
			r := reservation(k, fleet.Amount{Requests: 1, Tokens: 90})
			r.At = at
			_, err := l.Reserve(t.Context(), r)
			var over *fleet.Over
			if i == 1 && (!errors.As(err, &over) || over.Per != p || over.Subject.Kind != "team") || i != 1 && err != nil {
				t.Errorf("%s, request %d: %v", p, i, err)
			}
		}
	}
}

// books tests the administration.
func books(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	k := Member(t, l, fleet.Budget{fleet.Day: {Money: 5}}, nil)
	hash := func(s string) fleet.Hash { return sha256.Sum256([]byte(s)) }
	if err := l.CreateKey(t.Context(), "me", fleet.Key{ID: ID(), Name: k.Name, Created: day}, hash("other")); !errors.Is(err, fleet.ErrTaken) {
		t.Errorf("a name that is taken: %v", err)
	}
	next := hash("next" + k.ID)
	if err := l.Rotate(t.Context(), "me", k.ID, next, time.Now().Add(time.Hour), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, h := range []fleet.Hash{hash(k.ID), next} {
		if found, err := l.Key(t.Context(), h); err != nil || found.ID != k.ID {
			t.Errorf("after a rotation: %v, %v", found, err)
		}
	}
	if err := l.Rotate(t.Context(), "me", k.ID, hash("third"+k.ID), time.Now().Add(-time.Second), time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, h := range []fleet.Hash{hash(k.ID), next} { // the first was good for an hour
		if _, err := l.Key(t.Context(), h); !errors.Is(err, fleet.ErrUnknown) {
			t.Errorf("a hash whose time is over: %v", err)
		}
	}
	other := make(chan error, 1)
	begin := sync.OnceFunc(func() {
		go func() {
			other <- l.SetKey(context.Background(), "another", k.ID, func(k *fleet.Key) error {
				k.Disabled = true
				return nil
			}, day)
		}()
		time.Sleep(100 * time.Millisecond) // it waits, or is lost
	})
	if err := l.SetKey(t.Context(), "me", k.ID, func(k *fleet.Key) error {
		begin()
		k.Models, k.Expires = []string{"a*"}, day
		return nil
	}, day); err != nil {
		t.Fatal(err)
	}
	if err := <-other; err != nil {
		t.Fatal(err)
	}
	refused := errors.New("no")
	if err := l.SetKey(t.Context(), "me", k.ID, func(k *fleet.Key) error {
		k.Disabled = false
		return refused
	}, day); !errors.Is(err, refused) {
		t.Errorf("a change that is refused: %v", err)
	}
	if err := l.SetKey(t.Context(), "me", "nobody", func(*fleet.Key) error { return nil }, day); !errors.Is(err, fleet.ErrUnknown) {
		t.Errorf("a key that is not there: %v", err)
	}
	if err := l.SetTeam(t.Context(), "me", "nobody", func(*fleet.Limits) error { return nil }, day); !errors.Is(err, fleet.ErrUnknown) {
		t.Errorf("a team that is not there: %v", err)
	}
	found, err := l.Key(t.Context(), hash("third"+k.ID))
	if err != nil || !found.Disabled || !found.Expires.Equal(day) || !found.Allows("abc") || found.Allows("b") || found.Team == nil || found.Team.ID != k.Team.ID || found.Budget[fleet.Day].Money != 5 {
		t.Errorf("%+v, %v", found, err)
	}
	if err := l.DeleteTeam(t.Context(), "me", k.Team.ID, day); !errors.Is(err, fleet.ErrInUse) {
		t.Error("a team with keys is deleted")
	}
	for i := range 2 {
		if err := l.DeleteKey(t.Context(), "me", k.ID, day); (err == nil) != (i == 0) {
			t.Errorf("deleting it, %d: %v", i, err)
		}
	}
	if _, err := l.Key(t.Context(), hash("third"+k.ID)); !errors.Is(err, fleet.ErrUnknown) {
		t.Errorf("a deleted key: %v", err)
	}
	if err := l.DeleteTeam(t.Context(), "me", k.Team.ID, day); err != nil {
		t.Error(err)
	}
	var what []string
	if err := l.Audit(t.Context(), func(a fleet.Act) error {
		if a.On == k.ID && a.By == "me" {
			if !strings.HasPrefix(a.How+",", k.Name+",") {
				t.Errorf("%s of %s: %s", a.What, k.Name, a.How)
			}
			what = append(what, a.What)
		}
		return nil
	}); err != nil || len(what) != 4 {
		t.Errorf("the audit has %v, %v", what, err)
	}
}

// TwoCommits checks the round trips of requests with a budget. l is opened through via.
func TwoCommits(t *testing.T, via *Trips, l fleet.Ledger) {
	k := Member(t, l, fleet.Budget{fleet.Minute: {Tokens: 1e6}, fleet.Day: {Money: 1e6}}, fleet.Budget{fleet.Month: {Requests: 1e6}})
	var open []string
	reserving := via.Of(func() {
		r := reservation(k, fleet.Amount{Requests: 1, Tokens: 9, Money: 9})
		must(l.Reserve(t.Context(), r))(t)
		open = append(open, r.ID)
	})
	settling := via.Of(func() {
		must(l.Settle(t.Context(), fleet.Settlement{ID: open[0], Ending: fleet.Settled, Amount: fleet.Amount{Requests: 1, Tokens: 3, Money: 3}, At: day}))(t)
		open = open[1:]
	})
	if reserving != 2 || settling != 2 {
		t.Errorf("a reservation is %d round trips, a settlement %d", reserving, settling)
	}
}

// whereItBegan settles requests in the month after they began, after their key has moved
// to another team, got another budget and been deleted.
func whereItBegan(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	k, other := Member(t, l, fleet.Budget{fleet.Minute: {Tokens: 1e6}}, fleet.Budget{fleet.Minute: {Tokens: 1e6}}), Member(t, l, nil, nil)
	last, first := time.Date(2026, 11, 30, 23, 59, 59, 999999000, time.UTC), time.Date(2026, 12, 1, 0, 0, 30, 0, time.UTC)
	var all []fleet.Reservation
	for range 4 {
		r := reservation(k, fleet.Amount{Requests: 1, Tokens: 100, Money: 100})
		r.At = last
		must(l.Reserve(t.Context(), r))(t)
		all = append(all, r)
	}
	for i, change := range []func() error{
		func() error { return nil },
		func() error {
			return l.SetKey(t.Context(), "me", k.ID, func(k *fleet.Key) error {
				k.Team, k.Budget = other.Team, nil
				return nil
			}, first)
		},
		func() error { return l.DeleteKey(t.Context(), "me", k.ID, first) },
		func() error { return l.DeleteTeam(t.Context(), "me", k.Team.ID, first) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		must(l.Settle(t.Context(), fleet.Settlement{ID: all[i].ID, Ending: fleet.Settled, Amount: fleet.Amount{Requests: 1, Tokens: 10, Money: 10}, At: first}))(t)
		n := int64(i + 1)
		for _, w := range must(l.Windows(t.Context(), k, last))(t) {
			want := fleet.Amount{Requests: n, Tokens: 10 * n, Money: price.Money(10 * n)}
			if left := 4 - n; w.Settled != want || w.Reserved != (fleet.Amount{Requests: left, Tokens: 100 * left, Money: price.Money(100 * left)}) {
				t.Errorf("change %d, %s of the %s: %+v", i, w.Per, w.Subject.Kind, w)
			}
		}
		for _, of := range []*fleet.Key{k, other} {
			for _, w := range must(l.Windows(t.Context(), of, first))(t) {
				if w.Settled != (fleet.Amount{}) || w.Reserved != (fleet.Amount{}) {
					t.Errorf("change %d, a window that came later, or another team's: %+v", i, w)
				}
			}
		}
	}
}
