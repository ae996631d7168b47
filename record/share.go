package record

import (
	"fmt"
	"math"
)

// Z values of a normal distribution: how many standard deviations around the
// middle hold a part of it.
const (
	Z95 = 1.959963984540054 // 95 %
	Z99 = 2.575829303548901 // 99 %
)

// Share is how many of how many. Both may be fractions, as old evidence counts
// for less.
type Share struct {
	Good float64 `json:"good"`
	Of   float64 `json:"of"`
}

// Rate returns the share itself, from 0 to 1; 0 of 0 is 0.
func (s Share) Rate() float64 {
	if s.Of <= 0 {
		return 0
	}
	return s.Good / s.Of
}

// Plus returns both shares as one.
func (s Share) Plus(t Share) Share { return Share{s.Good + t.Good, s.Of + t.Of} }

// Times returns the share with the weight w.
func (s Share) Times(w float64) Share { return Share{s.Good * w, s.Of * w} }

// Interval is where the true share lies, from 0 to 1.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Interval returns where the true share lies with a certainty of 95 %.
func (s Share) Interval() Interval { return s.Within(Z95) }

// Within returns where the true share lies with the certainty that z stands
// for: the score interval of Wilson (1927), which stays inside of 0 and 1 and
// holds for few cases too. Of no cases nothing is known: 0 to 1.
func (s Share) Within(z float64) Interval {
	if s.Of <= 0 {
		return Interval{0, 1}
	}
	p, n := s.Rate(), s.Of
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n)) / (1 + z*z/n)
	in := Interval{max(0, middle-half), min(1, middle+half)}
	if p >= 1 {
		in.High = 1 // as it is without rounding
	}
	if p <= 0 {
		in.Low = 0
	}
	return in
}

// Minus returns how much s lies above t: the difference and its interval, by
// Newcombe's method 10 (1998), which takes the two score intervals together.
func (s Share) Minus(t Share, z float64) (diff float64, in Interval) {
	return s.Ranged(z).minus(t.Ranged(z))
}

// Above reports whether s lies above t with the certainty that z stands for.
func (s Share) Above(t Share, z float64) bool { return s.Ranged(z).Above(t.Ranged(z)) }

// Ranged is a share with its interval, for those that are compared often.
type Ranged struct {
	Share
	in Interval
}

// Ranged returns the share with the interval that z stands for.
func (s Share) Ranged(z float64) Ranged { return Ranged{s, s.Within(z)} }

func (s Ranged) minus(t Ranged) (diff float64, in Interval) {
	diff = s.Rate() - t.Rate()
	if s.Of <= 0 || t.Of <= 0 {
		return diff, Interval{-1, 1}
	}
	low := math.Hypot(s.Rate()-s.in.Low, t.in.High-t.Rate())
	high := math.Hypot(s.in.High-s.Rate(), t.Rate()-t.in.Low)
	return diff, Interval{diff - low, diff + high}
}

// Above reports whether s lies above t with the certainty of the two intervals.
func (s Ranged) Above(t Ranged) bool {
	if s.in.High <= t.in.Low || s.Rate() <= t.Rate() {
		return false
	}
	_, in := s.minus(t)
	return in.Low > 0
}

// String gives a share in words: "95 % of 212 (91 to 97 %)".
func (s Share) String() string {
	in := s.Interval()
	return fmt.Sprintf("%s of %.0f (%.0f to %s)", Percent(s.Rate()), s.Of, 100*in.Low, Percent(in.High))
}

// Percent gives a share from 0 to 1 in words: "95 %". It rounds no share to 100 or 0 that is neither.
func Percent(p float64) string {
	n := math.Round(100 * p)
	if p < 1 {
		n = min(n, 99)
	}
	if p > 0 {
		n = max(n, 1)
	}
	return fmt.Sprintf("%.0f %%", n)
}
