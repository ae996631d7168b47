package gateway_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

// leased is a ledger with one replica, and nothing to settle.
type leased struct {
	fleet.Ledger
	until  atomic.Int64 // of the lease, in nanoseconds since 1970
	sweeps atomic.Int64
}

func (l *leased) Lease(_ context.Context, replica string, until time.Time) error {
	if replica == "a" {
		l.until.Store(until.UnixNano())
	}
	return nil
}

func (l *leased) Sweep(context.Context, time.Time) (int, error) {
	l.sweeps.Add(1)
	return 0, nil
}

// A replica that runs always has a lease, also when one renewal is lost, and charges
// what others have left; one that has ended has none for long.
func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leased{}
		g, err := gateway.New(gateway.Config{Absent: "nothing is asked", Ledger: l, Replica: "a", NewID: replicas.ID})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var ended atomic.Bool
		go func() {
			g.Tend(ctx)
			ended.Store(true)
		}()
		left := func() time.Duration { return time.Until(time.Unix(0, l.until.Load())) }
		for range 600 {
			time.Sleep(time.Second)
			if left() < 20*time.Second {
				t.Fatalf("the lease is good for %s more: a lost renewal ends it", left())
			}
		}
		if n := l.sweeps.Load(); n < 50 {
			t.Errorf("it looked %d times in ten minutes for what others have left", n)
		}
		cancel()
		synctest.Wait()
		if !ended.Load() {
			t.Error("it goes on")
		}
		if time.Sleep(40 * time.Second); left() > 0 {
			t.Error("a replica that has ended has a lease")
		}
	})
}
