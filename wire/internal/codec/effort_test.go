package codec

import "testing"

func TestEffort(t *testing.T) {
	for _, e := range []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} {
		if n, ok := Budget(e); !ok || Effort(n) != e {
			t.Errorf("%s: %d, %s", e, n, Effort(n))
		}
	}
	if _, ok := Budget("galactic"); ok || Effort(2000) != "low" || Effort(1<<20) != "max" || Effort(-1) != "none" {
		t.Error("efforts")
	}
}
