package parse_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var (
	conformanceDir  = flag.String("conformance", "../../shared/conformance", "folder of recorded conformance rows")
	conformanceDiff = flag.String("conformance-diff", "", "write the rows that are read otherwise to this file")
)

// row is one recorded case: what an engine made of a model's output.
type row struct {
	ID, Source, Grammar, Input, Notes string
	Family                            string `json:"model_family"`
	Tools                             []struct{ Function utp.Tool }
	Context                           struct {
		GenerationPrompt string `json:"generation_prompt"`
		Forced           bool   `json:"thinking_forced_open"`
	}
	Expect struct {
		Content, Reasoning *string
		ToolCalls          []expected `json:"tool_calls"`
	}
}

type expected struct {
	Name      string
	Arguments json.RawMessage
}

func rows(t *testing.T) (out []row) {
	files, _ := filepath.Glob(filepath.Join(*conformanceDir, "*.jsonl"))
	if len(files) == 0 {
		t.Skipf("conformance rows not present in %s", *conformanceDir)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 64<<20)
		for n := 1; sc.Scan(); n++ {
			var r row
			if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			if r.ID == "" {
				r.ID = fmt.Sprintf("%s:%d", filepath.Base(name), n)
			}
			out = append(out, r)
		}
	}
	return out
}

// offered are the row's tools. Expected names that the row does not declare, as
// its engine did not look at the tools, are declared with an open schema.
func (r row) offered() *schema.Set {
	var list []utp.Tool
	seen := map[string]bool{}
	for _, t := range r.Tools {
		list = append(list, t.Function)
		seen[t.Function.Name] = true
	}
	for _, c := range r.Expect.ToolCalls {
		if !seen[c.Name] {
			list = append(list, utp.Tool{Name: c.Name, Schema: json.RawMessage(`{"type":"object"}`)})
			seen[c.Name] = true
		}
	}
	return schema.Compile(list)
}

func (r row) prefill() string {
	if r.Context.Forced || strings.HasPrefix(r.Notes, "reasoning is OPEN") {
		return "<think>"
	}
	if i := strings.LastIndex(r.Context.GenerationPrompt, "assistant"); i >= 0 {
		return r.Context.GenerationPrompt
	}
	return r.Context.GenerationPrompt
}

// agrees compares calls by name and value.
func agrees(got []utp.Call, want []expected) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i].Name != want[i].Name || !sameValue(got[i].Args, want[i].Arguments) {
			return false
		}
	}
	return true
}

func sameValue(a, b json.RawMessage) bool {
	if len(b) == 0 || string(b) == "null" {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(x, y)
}

type tally struct{ own, auto, rows, ownNone, autoNone, none int }

// TestConformance counts how many recorded rows are read as their engine read them.
func TestConformance(t *testing.T) {
	var diff bytes.Buffer
	tallies := map[string]*tally{}
	total := &tally{}
	for _, r := range rows(t) {
		if strings.HasPrefix(r.Grammar, "reasoning:") || r.Expect.ToolCalls == nil {
			continue
		}
		if !r.wellFormed() {
			continue
		}
		n := tallies[r.Grammar]
		if n == nil {
			n = &tally{}
			tallies[r.Grammar] = n
		}
		got := map[string][]utp.Call{"auto": r.parse(r.config()), "own": r.parse(r.named())}
		for _, into := range []*tally{n, total} {
			into.add(len(r.Expect.ToolCalls) > 0, agrees(got["own"], r.Expect.ToolCalls), agrees(got["auto"], r.Expect.ToolCalls))
		}
		for name, got := range got {
			if !agrees(got, r.Expect.ToolCalls) {
				g, _ := json.Marshal(got)
				w, _ := json.Marshal(r.Expect.ToolCalls)
				fmt.Fprintf(&diff, "%s %s %s\n  notes %s\n  input %q\n  want %s\n  got  %s\n", name, r.Grammar, r.ID, r.Notes, r.Input, w, g)
			}
		}
	}
	report(t, tallies, total)
	if *conformanceDiff != "" {
		if err := os.WriteFile(*conformanceDiff, diff.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// config is what the row says of its request. The policy for tools that were
// not offered is the engine's: it keeps their calls, or it does not.
func (r row) config() parse.Config {
	c := parse.Config{Tools: r.offered(), Prefill: r.prefill()}
	c.Policy.Unknown = parse.TextUnknown
	for _, want := range r.Expect.ToolCalls {
		if !c.Tools.Has(want.Name) {
			c.Policy.Unknown = parse.KeepUnknown
		}
	}
	if strings.Contains(r.Source, "named_tool_choice") {
		c.Forced = r.Expect.ToolCalls[0].Name
	}
	return c
}

// named is the same with the row's grammar ranked first.
func (r row) named() parse.Config {
	c := r.config()
	for _, g := range grammar.Named(r.Grammar) {
		c.Prefer = append(c.Prefer, g.Name)
	}
	return c
}

func (r row) parse(c parse.Config) []utp.Call {
	return utp.Collect(feed(c, r.Input, strings.Contains(r.Notes, "finish_reason=length"))).Calls()
}

func (n *tally) add(calls, own, auto bool) {
	one := map[bool]int{true: 1}
	if calls {
		n.rows, n.own, n.auto = n.rows+1, n.own+one[own], n.auto+one[auto]
	} else {
		n.none, n.ownNone, n.autoNone = n.none+1, n.ownNone+one[own], n.autoNone+one[auto]
	}
}

func report(t *testing.T, tallies map[string]*tally, total *tally) {
	var names []string
	for name := range tallies {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Logf("%-28s %s", name, tallies[name])
	}
	t.Logf("%-28s %s", "all", total)
}

func (n *tally) String() string {
	return fmt.Sprintf("calls: own %d auto %d of %d; none: own %d auto %d of %d", n.own, n.auto, n.rows, n.ownNone, n.autoNone, n.none)
}
