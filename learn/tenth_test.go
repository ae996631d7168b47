package learn

import (
	"testing"

	"pgregory.net/rapid"
)

// However keys behave, none of them is more than a tenth of what is counted, and
// no more is cut off than that takes.
func TestAKeyIsATenthAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var keys []Tally
		for _, n := range rapid.SliceOfN(rapid.Float64Range(0.01, 500), 1, 30).Draw(t, "keys") {
			keys = append(keys, Tally{Good: n})
		}
		others := rapid.Float64Range(0.1, 100).Draw(t, "others")
		bound := tenth(others, keys)
		sum, largest, cut := others, 0.0, false
		for _, k := range keys {
			sum += min(k.size(), bound)
			largest = max(largest, min(k.size(), bound))
			cut = cut || k.size() > bound
		}
		if largest > keyPart*sum*(1+1e-9) {
			t.Fatalf("a key counts for %v of %v", largest, sum)
		}
		if cut && bound < keyPart*sum*(1-1e-9) {
			t.Fatalf("keys are cut to %v of %v", bound, sum)
		}
	})
}
