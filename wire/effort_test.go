package wire_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp/wire"
)

func TestEffort(t *testing.T) {
	for _, e := range []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} {
		if n, ok := wire.Budget(e); !ok || wire.Effort(n) != e {
			t.Errorf("%s: %d, %s", e, n, wire.Effort(n))
		}
	}
	if _, ok := wire.Budget("galactic"); ok || wire.Effort(2000) != "low" || wire.Effort(1<<20) != "max" || wire.Effort(-1) != "none" {
		t.Error("efforts")
	}
}

func TestNearestEffort(t *testing.T) {
	levels := []string{"low", "medium", "high"}
	for _, c := range []struct {
		effort string
		takes  []string
		want   string
	}{
		{"high", levels, "high"}, {"xhigh", levels, "high"}, {"max", levels, "high"}, {"minimal", levels, "low"}, {"none", levels, "low"},
		{"lots", levels, "medium"}, {"medium", []string{"low", "high"}, "low"}, {"high", []string{"none", "default"}, ""}, {"none", []string{"none", "low"}, "none"},
	} {
		if got := wire.NearestEffort(c.effort, c.takes); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.effort, c.takes, got, c.want)
		}
	}
}
