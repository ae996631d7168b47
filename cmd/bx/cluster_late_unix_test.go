//go:build unix

package main

import (
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

// A replica that stands still for longer than its lease is charged in full by the
// others; when it goes on it settles, which corrects the charge.
func TestClusterCorrectsWhatComesLate(t *testing.T) {
	if !*long {
		t.Skip("by make cluster")
	}
	c := newCluster(t, false, true, "")
	c.held = make(chan struct{})
	key := c.key(t, "k", fleet.Amount{Money: 1000 * price.Unit})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			if status, text, err := ask(c.replicas[0].url, key, 50, i%2 == 0, padding); err != nil || status != http.StatusOK {
				t.Errorf("%d %v %s", status, err, text)
			}
		})
	}
	ended := func(what fleet.Ending, late bool) {
		t.Helper()
		n := 0
		for range 400 {
			n = 0
			if err := c.ledger.Entries(t.Context(), fleet.Query{Endings: []fleet.Ending{what}}, func(e fleet.Entry) error {
				if e.Late == late {
					n++
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if n == 6 {
				return
			}
			time.Sleep(250 * time.Millisecond)
		}
		t.Fatalf("%d of 6 are %s, late %v", n, what, late)
	}
	for c.sum().Requests < 6 {
		time.Sleep(5 * time.Millisecond)
	}
	ended(fleet.Open, false)
	if err := c.replicas[0].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ended(fleet.Unsettled, false)
	if err := c.replicas[0].cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	close(c.held)
	all.Wait()
	ended(fleet.Settled, true)
	t.Log(c.compare(t))
}
