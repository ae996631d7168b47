package record_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/record"
)

// The figures are those of Newcombe's paper (Statistics in Medicine 17, 1998):
// 81 of 263, 15 of 148, 0 of 20 and 1 of 29.
func TestIntervalsAreWilsons(t *testing.T) {
	for _, c := range []struct{ good, of, low, high float64 }{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
	} {
		in := record.Share{Good: c.good, Of: c.of}.Interval()
		if math.Abs(in.Low-c.low) > 5e-5 || math.Abs(in.High-c.high) > 5e-5 {
			t.Errorf("%v of %v: %.4f to %.4f, want %.4f to %.4f", c.good, c.of, in.Low, in.High, c.low, c.high)
		}
	}
}

// 56 of 70 against 48 of 80 lies 0.0524 to 0.3339 above, by the second paper of
// Newcombe's of that year.
func TestDifferencesAreNewcombes(t *testing.T) {
	diff, in := record.Share{Good: 56, Of: 70}.Minus(record.Share{Good: 48, Of: 80}, record.Z95)
	if math.Abs(diff-0.2) > 1e-9 || math.Abs(in.Low-0.0524) > 5e-5 || math.Abs(in.High-0.3339) > 5e-5 {
		t.Errorf("%.4f, %.4f to %.4f", diff, in.Low, in.High)
	}
}

func TestAnIntervalHoldsItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.Float64Range(0, 1e6).Draw(t, "of")
		s := record.Share{Good: of * rapid.Float64Range(0, 1).Draw(t, "part"), Of: of}
		in, wide := s.Interval(), s.Within(record.Z99)
		if in.Low < 0 || in.High > 1 || in.Low > s.Rate()+1e-9 || in.High < s.Rate()-1e-9 {
			t.Fatalf("%v: %v", s, in)
		}
		if wide.Low > in.Low+1e-9 || wide.High < in.High-1e-9 {
			t.Fatalf("%v: 99 %% lies inside of 95 %%: %v, %v", s, wide, in)
		}
		other := record.Share{Good: of / 2, Of: of}
		if s.Above(other, record.Z95) && other.Above(s, record.Z95) {
			t.Fatalf("%v and %v lie above each other", s, other)
		}
	})
}
