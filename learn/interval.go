package learn

import "math"

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
	return Interval{max(0, middle-half), min(1, middle+half)}
}

// Minus returns how much s lies above t: the difference and its interval, by
// Newcombe's method 10 (1998), which takes the two score intervals together.
func (s Share) Minus(t Share, z float64) (diff float64, in Interval) {
	diff = s.Rate() - t.Rate()
	if s.Of <= 0 || t.Of <= 0 {
		return diff, Interval{-1, 1}
	}
	a, b := s.Within(z), t.Within(z)
	low := math.Hypot(s.Rate()-a.Low, b.High-t.Rate())
	high := math.Hypot(a.High-s.Rate(), t.Rate()-b.Low)
	return diff, Interval{diff - low, diff + high}
}

// Above reports whether s lies above t with the certainty that z stands for.
func (s Share) Above(t Share, z float64) bool {
	_, in := s.Minus(t, z)
	return in.Low > 0
}
