package replicas

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

// teamGoes deletes teams while keys join them: a key without its team would escape the
// team's limits.
func teamGoes(t *testing.T, open func(testing.TB) fleet.Ledger) {
	one, other := open(t), open(t)
	moved := Member(t, one, nil, nil)
	for range 20 {
		team := fleet.Team{ID: ID(), Name: ID(), Created: day}
		if err := one.CreateTeam(t.Context(), "test", team); err != nil {
			t.Fatal(err)
		}
		k := fleet.Key{ID: ID(), Name: ID(), Created: day, Team: &team}
		hash := sha256.Sum256([]byte(k.ID))
		var all sync.WaitGroup
		var gone, made, set error
		all.Go(func() { gone = one.DeleteTeam(context.Background(), "test", team.ID, day) })
		all.Go(func() { made = other.CreateKey(context.Background(), "test", k, hash) })
		all.Go(func() {
			set = other.SetKey(context.Background(), "test", moved.ID, func(k *fleet.Key) error { k.Team = &team; return nil }, day)
		})
		all.Wait()
		if gone == nil != (errors.Is(made, fleet.ErrUnknown) && errors.Is(set, fleet.ErrUnknown)) || gone != nil && !errors.Is(gone, fleet.ErrInUse) {
			t.Errorf("the team: %v; a key for it: %v; one that moves: %v", gone, made, set)
		}
		for _, k := range must(one.Keys(t.Context(), k.ID, moved.Name))(t) {
			if k.Team == nil {
				t.Errorf("%s is of no team", k.Name)
			}
		}
		if err := one.DeleteTeam(t.Context(), "test", ID(), day); !errors.Is(err, fleet.ErrUnknown) {
			t.Errorf("a team that is not there: %v", err)
		}
	}
}

// added groups requests of two keys and checks the sums.
func added(t *testing.T, open func(testing.TB) fleet.Ledger) {
	l := open(t)
	one, two := Member(t, l, nil, fleet.Budget{fleet.Month: {Tokens: 1e6}}), Member(t, l, nil, nil)
	midnight := time.Date(2026, 11, 30, 23, 59, 59, 999999000, time.UTC)
	for i, tt := range []struct {
		key   *fleet.Key
		model string
		at    time.Time
		n     int64
	}{
		{one, "claude-a", midnight, 10}, {one, "claude-a", midnight.Add(time.Microsecond), 20}, {one, "Claude_100%", midnight, 40}, {two, "qwen-b", midnight, 80}, {two, "claude-a", midnight, 160},
	} {
		r := reservation(tt.key, fleet.Amount{Requests: 1, Tokens: 1000, Money: 1000})
		r.Model, r.At = tt.model, tt.at
		line := fleet.Line{Reservation: r, Settlement: fleet.Settlement{ID: r.ID, Ending: fleet.Settled, Usage: utp.Usage{Input: int(tt.n), Output: i}, Amount: fleet.Amount{Requests: 1, Tokens: tt.n, Money: price.Money(tt.n)}, At: tt.at}}
		if err := l.Record(t.Context(), []fleet.Line{line}); err != nil {
			t.Fatal(err)
		}
	}
	open1 := reservation(one, fleet.Amount{Requests: 1, Tokens: 500, Money: 700})
	open1.At, open1.Model = midnight, "claude-a"
	if _, err := l.Reserve(t.Context(), open1); err != nil {
		t.Fatal(err)
	}
	from := midnight.Add(-time.Hour)
	for _, tt := range []struct {
		q    fleet.Query
		by   []fleet.By
		want []string
	}{
		{fleet.Query{Team: one.Team.ID}, []fleet.By{fleet.ByDay}, []string{"[2026-11-30] 3 50 700", "[2026-12-01] 1 20 0"}},
		{fleet.Query{Team: two.Team.Name}, []fleet.By{fleet.ByModel}, []string{"[claude-a] 1 160 0", "[qwen-b] 1 80 0"}},
		{fleet.Query{KeyID: one.ID, Model: "CLAUDE-*"}, []fleet.By{fleet.ByMonth, fleet.ByModel}, []string{"[2026-11 claude-a] 2 10 700", "[2026-12 claude-a] 1 20 0"}},
		{fleet.Query{KeyID: one.ID, Model: "claude_100%"}, []fleet.By{fleet.ByKey, fleet.ByBackend}, []string{"[" + one.Name + " b] 1 40 0"}},
		{fleet.Query{KeyID: one.ID, Model: "claude-?", Before: midnight.Add(time.Microsecond)}, []fleet.By{fleet.ByTeam, fleet.ByEnding}, []string{"[" + one.Team.Name + " open] 1 0 700", "[" + one.Team.Name + " settled] 1 10 0"}},
		{fleet.Query{KeyID: one.ID, Key: "\x00\xff"}, []fleet.By{fleet.ByTeam}, nil},
		{fleet.Query{Team: "'; DROP TABLE bx_entries; --"}, []fleet.By{fleet.ByKey}, nil},
	} {
		var got []string
		tt.q.Since = from
		if err := l.Sums(t.Context(), tt.q, tt.by, func(s fleet.Sum) error {
			got = append(got, fmt.Sprint(s.Of, s.Requests, s.Amount.Tokens, int64(s.Reserved.Money)))
			if int64(s.Usage.Input) != s.Amount.Tokens || int64(s.Amount.Money) != s.Amount.Tokens {
				t.Errorf("%+v", s)
			}
			return nil
		}); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%+v by %v: %q, %v, want %q", tt.q, tt.by, got, err, tt.want)
		}
	}
	if err := l.Sums(t.Context(), fleet.Query{}, []fleet.By{"year"}, func(fleet.Sum) error { return nil }); err == nil {
		t.Error("sums by the year")
	}
}
