package keys_test

import (
	"context"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/keys"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

// busy is a ledger with a request that is over just as its key is deleted.
type busy struct{ *database.DB }

func (b busy) DeleteKey(ctx context.Context, by, id string, now time.Time) error {
	if err := b.Put(ctx, []fleet.Item{{Owner: id, Key: "late", Value: []byte("late")}}, now); err != nil {
		return err
	}
	return b.DB.DeleteKey(ctx, by, id, now)
}

// A purge forgets what was kept before it and what comes while the key is deleted, and
// of no other key.
func TestAPurgeForgetsWhatComesMeanwhile(t *testing.T) {
	d, _ := office(t)
	desk := &keys.Desk{Books: busy{d}, State: d, NewID: replicas.ID, NewKey: replicas.ID, Now: time.Now, By: "me"}
	var ids []string
	for _, name := range []string{"ci", "other"} {
		k, _, err := desk.Create(t.Context(), name, keys.Change{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, k.ID)
		if err := d.Put(t.Context(), []fleet.Item{{Owner: k.ID, Key: "early", Value: []byte("early")}}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := desk.Delete(t.Context(), "ci", true); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1} {
		kept, err := d.Get(t.Context(), ids[i], []string{"early", "late"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, v := range kept {
			if v != nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%d things are kept of key %d, want %d", n, i, want)
		}
	}
}
