// Package price computes what the tokens of a model cost. Prices are a list by model
// names or globs, all in one currency. A model that is not listed has an unknown
// price; it is never free.
package price

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Money is an amount in billionths of the currency.
type Money int64

// Unit is one of the currency.
const Unit Money = 1e9

// String writes an amount as a decimal number: "0.0125".
func (m Money) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	text := fmt.Sprintf("%s%d.%09d", sign, n/uint64(Unit), n%uint64(Unit))
	text = strings.TrimRight(text, "0")
	return strings.TrimSuffix(text, ".")
}

// MarshalText writes what UnmarshalText reads.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a decimal number exactly: "20", "0.5". It refuses a number finer
// than Money: rounded to 0 it would mean no limit.
func (m *Money) UnmarshalText(b []byte) error {
	text, negative := strings.CutPrefix(string(b), "-")
	whole, part, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole, "0") + part
	n, err := strconv.ParseUint("0"+whole+part+strings.Repeat("0", max(0, decimals-len(part))), 10, 63)
	if err != nil || whole+part == "" || len(part) > decimals || len(digits) > decimals+len(part) {
		return errors.New(`want an amount of money such as "20" or "0.5", below 1000000000 and with at most 9 decimals`)
	}
	if *m = Money(n); negative {
		*m = -*m
	}
	return nil
}

// decimals is how many digits an amount has after the point, and at most before it.
const decimals = 9

// Price is the cost of a million tokens of a model.
type Price struct {
	Input      float64  `toml:"input"`
	Output     float64  `toml:"output"`      // including reasoning
	Cached     *float64 `toml:"cached"`      // input that was read from the provider's cache; nil: as Input
	CacheWrite *float64 `toml:"cache_write"` // input that was written to it; nil: as Input
	Long       *Long    `toml:"long"`        // long prompts; nil: they cost the same
	Batch      *Batch   `toml:"batch"`       // batch requests; nil: they cost the same
	Dated      string   `toml:"dated"`       // the date of the provider's list: "2026-11-01"
}

// Long is the price of a request whose prompt has more than Above tokens. It applies to
// all tokens of the request, as it does at the providers.
type Long struct {
	Above  int      `toml:"above"`
	Input  float64  `toml:"input"`
	Output float64  `toml:"output"`
	Cached *float64 `toml:"cached"`
	Write  *float64 `toml:"cache_write"`
}

// Batch is the price of requests that are answered within a day.
type Batch struct {
	Input  float64  `toml:"input"`
	Output float64  `toml:"output"`
	Cached *float64 `toml:"cached"`
}

// Check returns an error for prices that are not valid.
func (p Price) Check() error {
	bad := func(f float64) bool { return !(f >= 0 && f < 1e9) }
	of, perhaps := []float64{p.Input, p.Output}, []*float64{p.Cached, p.CacheWrite}
	if _, err := time.Parse(time.DateOnly, p.Dated); p.Dated != "" && err != nil {
		return fmt.Errorf("dated = %q: want a day such as 2026-11-01", p.Dated)
	}
	if l := p.Long; l != nil {
		if l.Above <= 0 {
			return fmt.Errorf("long.above = %d: want the tokens above which a prompt is long", l.Above)
		}
		of, perhaps = append(of, l.Input, l.Output), append(perhaps, l.Cached, l.Write)
	}
	if b := p.Batch; b != nil {
		of, perhaps = append(of, b.Input, b.Output), append(perhaps, b.Cached)
	}
	for _, f := range perhaps {
		if f != nil {
			of = append(of, *f)
		}
	}
	for _, f := range of {
		if bad(f) {
			return fmt.Errorf("a million tokens for %g: want 0 or more", f)
		}
	}
	return nil
}

// rates are the prices of a million tokens of each kind.
type rates struct{ input, cached, written, output float64 }

func ratesOf(input, output float64, cached, written *float64) rates {
	r := rates{input, input, input, output}
	if cached != nil {
		r.cached = *cached
	}
	if written != nil {
		r.written = *written
	}
	return r
}

func (p Price) rates(prompt int, batch bool) rates {
	switch {
	case batch && p.Batch != nil:
		return ratesOf(p.Batch.Input, p.Batch.Output, p.Batch.Cached, nil)
	case p.Long != nil && prompt > p.Long.Above:
		return ratesOf(p.Long.Input, p.Long.Output, p.Long.Cached, p.Long.Write)
	}
	return ratesOf(p.Input, p.Output, p.Cached, p.CacheWrite)
}

// perMillion returns the cost of tokens at a price per million, rounded up.
func perMillion(tokens int, rate float64) Money {
	// Prices are rounded to a millionth of the currency per million tokens, so that one
	// token costs a whole number of thousandths of a Money.
	hi, lo := bits.Mul64(uint64(max(tokens, 0)), uint64(math.Round(rate*1e6)))
	lo, carry := bits.Add64(lo, 999, 0)
	hi += carry
	if hi >= 1000 {
		return most
	}
	n, _ := bits.Div64(hi, lo, 1000)
	return Money(min(n, uint64(most)))
}

// most caps every cost. It is more than any budget can be, and small enough that a few
// of them add up without overflow.
const most Money = 1e18

// Cost returns what a reply cost by the provider's count.
func (p Price) Cost(u utp.Usage) Money { return p.cost(u, false) }

// BatchCost returns the Cost of a request in a batch.
func (p Price) BatchCost(u utp.Usage) Money { return p.cost(u, true) }

func (p Price) cost(u utp.Usage, batch bool) Money {
	r := p.rates(u.Prompt(), batch)
	return sum(perMillion(u.Input, r.input), perMillion(u.CacheRead, r.cached), perMillion(u.CacheWrite, r.written), perMillion(u.Completion(), r.output))
}

// Most returns the most that a request with at most these tokens in and out can cost,
// at the highest price of each.
func (p Price) Most(prompt, output int) Money {
	near, far := p.rates(0, false), p.rates(prompt, false)
	in := perMillion(prompt, max(near.input, near.cached, near.written, far.input, far.cached, far.written))
	if in > 0 {
		in = sum(in, 2) // input, cached and written tokens are each rounded up
	}
	return sum(in, perMillion(output, max(near.output, far.output)))
}

// Affords returns how many tokens of a reply an amount pays for after a prompt.
func (p Price) Affords(amount Money, prompt int) int {
	rest := amount - p.Most(prompt, 0)
	dearest := max(p.rates(0, false).output, p.rates(prompt, false).output)
	switch {
	case rest < 0:
		return 0
	case dearest == 0:
		return math.MaxInt32
	}
	return int(min(float64(rest)/(dearest*1e3), math.MaxInt32))
}

func sum(of ...Money) (n Money) {
	for _, m := range of {
		n = min(n+m, most)
	}
	return n
}

// List holds prices by model name or glob.
type List map[string]Price

// Of returns the price of a model at a backend: that of its name, else of the longest
// glob that matches it. "BACKEND/MODEL" takes precedence over "MODEL".
func (l List) Of(backend, model string) (p Price, known bool) {
	if backend != "" {
		if p, known = l.of(backend + "/" + model); known {
			return p, known
		}
	}
	return l.of(model)
}

func (l List) of(model string) (Price, bool) {
	best, known := "", false
	for glob := range l {
		if grammar.Fits([]string{strings.ToLower(glob)}, model) && (!known || len(glob) > len(best) || len(glob) == len(best) && glob < best) {
			best, known = glob, true
		}
	}
	return l[best], known
}
