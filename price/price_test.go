package price_test

import (
	"math"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/price"
)

func of(f float64) *float64 { return &f }

var model = price.Price{Input: 3, Output: 15, Cached: of(0.3), CacheWrite: of(3.75), Long: &price.Long{Above: 200000, Input: 6, Output: 22.5, Cached: of(0.6)},
	Batch: &price.Batch{Input: 1.5, Output: 7.5}}

// Every kind of token has its price; reasoning costs what output does, and a long
// prompt makes all of its request dearer.
func TestCost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		usage utp.Usage
		want  string
		batch string
	}{
		{"nothing", utp.Usage{}, "0", "0"},
		{"in and out", utp.Usage{Input: 1000, Output: 100}, "0.0045", "0.00225"},
		{"cached", utp.Usage{Input: 1000, CacheRead: 10000, CacheWrite: 2000, Output: 0}, "0.0135", "0.0195"},
		{"reasoning", utp.Usage{Output: 10, Reasoning: 90}, "0.0015", "0.00075"},
		{"at the edge", utp.Usage{Input: 200000}, "0.6", "0.3"},
		{"long", utp.Usage{Input: 200001, Output: 1000}, "1.222506", "0.3075015"},
		{"long by what was cached", utp.Usage{Input: 1, CacheRead: 200000}, "0.120006", "0.3000015"},
	} {
		if got := model.Cost(tt.usage).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if got := model.BatchCost(tt.usage).String(); got != tt.batch {
			t.Errorf("%s in a batch: %s, want %s", tt.name, got, tt.batch)
		}
	}
}

// No usage within the bounds costs more than the bound, wherever the tokens are.
func TestMostIsTheMost(t *testing.T) {
	cheap := price.Price{Input: 0.0375, Output: 0.15}
	written := price.Price{Input: 1, Output: 9, CacheWrite: of(4), Long: &price.Long{Above: 200000, Input: 2, Output: 3, Write: of(7)}}
	read := price.Price{Input: 1, Output: 1, Cached: of(3), Long: &price.Long{Above: 200000, Input: 1, Output: 1, Cached: of(5)}}
	for _, p := range []price.Price{model, cheap, written, read, {}} {
		for _, prompt := range []int{0, 1, 999, 200000, 200001, 5000000} {
			for _, out := range []int{0, 1, 4096} {
				bound := p.Most(prompt, out)
				for _, u := range []utp.Usage{{Input: prompt, Output: out}, {CacheRead: prompt, Reasoning: out}, {CacheWrite: prompt, Output: out}, {Input: prompt / 3, CacheRead: prompt / 3, CacheWrite: prompt / 3, Output: out / 2, Reasoning: out / 2}} {
					if cost := p.Cost(u); cost > bound {
						t.Errorf("%+v costs %s, over the bound %s", u, cost, bound)
					}
				}
				if n := p.Affords(bound, prompt); out > 0 && n < out-1 || p.Most(prompt, n) > bound {
					t.Errorf("%s pays for %d tokens behind %d, want %d", bound, n, prompt, out)
				}
			}
		}
	}
	for _, p := range []price.Price{{Input: 1e8}, {Input: 1e8, Output: 1e8}, {Output: 999999999}} { // above all budgets, and it can be added
		if huge := p.Most(math.MaxInt, math.MaxInt); huge != 1e18 || p.Cost(utp.Usage{Input: math.MaxInt, CacheRead: math.MaxInt, Output: math.MaxInt}) != huge {
			t.Errorf("what cannot be counted is %s", huge)
		}
	}
}

func TestList(t *testing.T) {
	l := price.List{"gpt-*": {Input: 1}, "gpt-5*": {Input: 2}, "cloud/gpt-5*": {Input: 3}, "GPT-5-mini": {Input: 4}}
	for _, tt := range []struct {
		backend, model string
		want           float64
		known          bool
	}{
		{"a", "gpt-4o", 1, true}, {"a", "gpt-5", 2, true}, {"cloud", "gpt-5", 3, true}, {"a", "openai/gpt-5", 2, true}, {"", "gpt-5-mini", 4, true}, {"a", "llama", 0, false},
	} {
		if p, known := l.Of(tt.backend, tt.model); known != tt.known || p.Input != tt.want {
			t.Errorf("%s/%s: %g, %v", tt.backend, tt.model, p.Input, known)
		}
	}
}

func TestMoneyIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]price.Money{"20": 20 * price.Unit, "0.5": price.Unit / 2, "0.000000001": 1, "-3.25": -3.25e9, "999999999.123456789": 999999999123456789} {
		var m price.Money
		if err := m.UnmarshalText([]byte(text)); err != nil || m != want || m.String() != text {
			t.Errorf("%s: %d, %s, %v", text, m, m, err)
		}
	}
	for _, text := range []string{"", ".", "-", "much", "NaN", "1e30", "1e3", "0x10", "+5", "1_000", "1.-5", "0.0000000001", "1000000000"} {
		if err := new(price.Money).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// A price is an amount, in every place where one stands, and its day is one.
func TestWhatIsNoPrice(t *testing.T) {
	one, less := 1.0, -1.0
	for _, p := range []price.Price{
		{}, {Input: 3, Output: 15, Cached: &one, CacheWrite: &one, Dated: "2026-11-01"},
		{Long: &price.Long{Above: 1, Cached: &one, Write: &one}, Batch: &price.Batch{Cached: &one}},
	} {
		if err := p.Check(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for name, p := range map[string]price.Price{
		"input": {Input: -1}, "output": {Output: math.NaN()}, "cached": {Cached: &less}, "cache_write": {CacheWrite: &less},
		"long.above": {Long: &price.Long{}}, "long.input": {Long: &price.Long{Above: 1, Input: -1}},
		"long.cached": {Long: &price.Long{Above: 1, Cached: &less}}, "long.cache_write": {Long: &price.Long{Above: 1, Write: &less}},
		"batch.output": {Batch: &price.Batch{Output: 1e9}}, "batch.cached": {Batch: &price.Batch{Cached: &less}},
		"dated": {Dated: "yesterday"}, "dated, no such day": {Dated: "2026-02-30"},
	} {
		if p.Check() == nil {
			t.Errorf("%s: it is taken for a price", name)
		}
	}
}
