package database

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// asking is what turns were asked for, and what they did at once.
type asking struct {
	turns[string]
	mu  sync.Mutex
	did [][]string
}

const takes = 100 * time.Microsecond

func newAsking() *asking {
	a := &asking{}
	a.id = func(s string) string { return s }
	a.gap = 2 * time.Millisecond
	a.do = func(_ context.Context, some []string) {
		time.Sleep(takes)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.did = append(a.did, some)
	}
	return a
}

// Who comes alone waits for nobody, however soon after another.
func TestWhoComesAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking()
		began := time.Now()
		for i := range 50 {
			if err := a.await(t.Context(), "key", strconv.Itoa(i)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 50*takes || len(a.did) != 50 {
			t.Errorf("50 that came one after the other took %v in %d turns, want %v", took, len(a.did), 50*takes)
		}
	})
}

// Of many who come all the time each has its turn, and there are no more turns than gaps;
// nobody waits for longer than a gap and two turns.
func TestManyShareATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking()
		began, asked := time.Now(), 0
		var mu sync.Mutex
		var all sync.WaitGroup
		for who := range 8 {
			all.Go(func() {
				for i := 0; time.Since(began) < 100*time.Millisecond; i++ {
					came := time.Now()
					if err := a.await(t.Context(), "key", strconv.Itoa(who)+" "+strconv.Itoa(i)); err != nil {
						t.Error(err)
					}
					if waited := time.Since(came); waited > a.gap+2*takes {
						t.Errorf("it waited %v", waited)
					}
					mu.Lock()
					asked++
					mu.Unlock()
					time.Sleep(300 * time.Microsecond)
				}
			})
		}
		all.Wait()
		time.Sleep(a.gap) // until the queue has ended
		did := 0
		for _, some := range a.did {
			did += len(some)
		}
		if turns, most := len(a.did), 100/2+2; did != asked || asked < 300 || turns > most {
			t.Errorf("%d asked and %d were answered in %d turns, want at most %d turns", asked, did, turns, most)
		}
	})
}
