package cache_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/cache"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

func TestStateInRedis(t *testing.T) {
	address := replicas.Redis(t).Address
	replicas.State(t, func(t testing.TB) fleet.State {
		c, err := cache.Open(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	})
}

// Each question is one round trip.
func TestRoundTripsToRedis(t *testing.T) {
	via := replicas.Via(t, replicas.Redis(t).Address)
	c, err := cache.Open(via.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	replicas.OneTrip(t, via, c)
}

// An error says nothing of the password in an address.
func TestAddressesAreNotShown(t *testing.T) {
	if _, err := cache.Open("redis://me:sesame@[::1"); err == nil || err.Error() != "want redis://HOST:PORT/NUMBER" {
		t.Error(err)
	}
}
