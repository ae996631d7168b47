package cost_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cost"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Known counts of o200k_base.
func TestTheTokenizer(t *testing.T) {
	count := cost.O200k()
	for text, want := range map[string]int{"": 0, "hello world": 2, "tiktoken is great!": 6, "    if x:": 4, "北京": 1} {
		if n, err := count(text); err != nil || n != want {
			t.Errorf("%q: %d tokens, %v; want %d", text, n, err, want)
		}
	}
}

var tools = []utp.Tool{
	{Name: "now", Description: "The time."},
	{Name: "read_file", Description: "Reads a file.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`)},
}

func measure(t *testing.T, all bool, tools ...utp.Tool) map[string]cost.Row {
	t.Helper()
	rows, err := cost.Measure(tools, cost.O200k(), all)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]cost.Row{}
	for i, r := range rows {
		if i > 0 && r.Tools < rows[i-1].Tools {
			t.Errorf("%s stands behind %s, which costs more", r.Form, rows[i-1].Form)
		}
		name := r.Form
		if r.Native {
			name = "native " + name
		}
		out[name] = r
	}
	return out
}

// contract: F-12
func TestMeasure(t *testing.T) {
	one, two, all := measure(t, false, tools[1]), measure(t, false, tools...), measure(t, true, tools...)
	if len(all) != len(grammar.All())+4 || len(two) >= len(all) {
		t.Errorf("%d forms, %d of all", len(two), len(all))
	}
	for name, r := range two {
		if r.Tools <= one[name].Tools || r.Call <= 0 || r.Each*2 != float64(r.Tools) || r.Share < 1 {
			t.Errorf("%s: %+v, one tool %+v", name, r, one[name])
		}
		if all[name].Tools != r.Tools {
			t.Errorf("%s costs %d among all and %d among the common", name, all[name].Tools, r.Tools)
		}
	}
	if two["openai-json"].Tools <= two["gemini-json"].Tools || two["autobyteus"].Tools <= two["hermes"].Tools {
		t.Errorf("a wrapper and an example for each tool cost nothing: %+v", two)
	}
}

func TestNothingToMeasure(t *testing.T) {
	if rows, err := cost.Measure(nil, cost.O200k(), true); rows != nil || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
	broken := errors.New("no vocabulary")
	_, err := cost.Measure(tools, func(string) (int, error) { return 0, broken }, false)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "cost of ") {
		t.Errorf("%v", err)
	}
}
