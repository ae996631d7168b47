package parse_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
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
	constants map[string]json.RawMessage // schemas of the tools of the row's test file
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
	constants := map[string]json.RawMessage{}
	for i, r := range out {
		switch {
		case strings.HasPrefix(r.ID, "llamacpp/"):
			for _, t := range r.Tools {
				constants[t.Function.Name] = t.Function.Schema
			}
		case strings.HasPrefix(r.ID, "llamacpp-legacy/"):
			out[i].constants = constants
		}
	}
	return out
}

// offered are the row's tools. Expected names that the row does not declare, as
// its engine did not look at the tools, are declared as another row of the same test
// file declares them, or with an open schema. Where the engine found no name and the
// row declares nothing, no tools are known.
func (r row) offered() *schema.Set {
	var list []utp.Tool
	if len(r.Tools) == 0 && slices.ContainsFunc(r.Expect.ToolCalls, func(c expected) bool { return c.Name == "" }) {
		return nil
	}
	seen := map[string]bool{}
	for _, t := range r.Tools {
		list = append(list, t.Function)
		seen[t.Function.Name] = true
	}
	for _, c := range r.Expect.ToolCalls {
		if c.Name != "" && !seen[c.Name] {
			list = append(list, utp.Tool{Name: c.Name, Schema: r.elsewhere(c.Name)})
			seen[c.Name] = true
		}
	}
	return schema.Compile(list)
}

// elsewhere is the schema that today's tests of llama.cpp give a tool, for its older
// ones: those are of the same file, and their rows were recorded without tools.
func (r row) elsewhere(name string) json.RawMessage {
	if s := r.constants[name]; s != nil {
		return s
	}
	return json.RawMessage(`{"type":"object"}`)
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

// agrees compares calls by name and value. A call that the engine found no name
// for asserts its arguments alone.
func agrees(got []utp.Call, want []expected) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if want[i].Name != "" && got[i].Name != want[i].Name || !sameValue(got[i].Args, want[i].Arguments) {
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

// sort of difference between what a row's engine made of a text and what we make.
const (
	equal   = "equal"
	kept    = "call kept"
	refused = "call refused"
	typed   = "value typed otherwise"
	named   = "name mended"
)

// compare sorts a row by how its calls are read.
func compare(got []utp.Call, want []expected) string {
	switch {
	case agrees(got, want):
		return equal
	case len(got) > len(want):
		return kept
	case len(got) < len(want):
		return refused
	}
	for i := range got {
		if want[i].Name != "" && got[i].Name != want[i].Name {
			return named
		}
	}
	return typed
}

// score is how the rows of one grammar are read.
type score struct {
	rows, own, auto int
	kinds           map[string]int // of the differences with the grammar named
}

func (s *score) add(own, auto string) {
	s.rows++
	if own == equal {
		s.own++
	} else {
		s.kinds[own]++
	}
	if auto == equal {
		s.auto++
	}
}

// The least shares of well-formed rows that are read as their engine read them.
const (
	wantOwn  = 0.97
	wantAuto = 0.96
)

// TestConformance holds the parser to the recorded rows: well-formed ones are
// read as their engine read them, and from none a call is invented or a byte lost.
func TestConformance(t *testing.T) {
	var diff bytes.Buffer
	var ids, uncalled []string
	good, bad := map[string]*score{}, map[string]*score{}
	shown := map[string]int{}
	total, rest := &score{kinds: map[string]int{}}, &score{kinds: map[string]int{}}
	for _, r := range rows(t) {
		if strings.HasPrefix(r.Grammar, "reasoning:") || r.Expect.ToolCalls == nil {
			continue
		}
		own, auto := r.read(t, r.named()), r.read(t, r.config())
		into, sum := bad, rest
		if r.wellFormed() {
			into, sum = good, total
			r.countShown(shown, auto)
			ids = append(ids, r.ID)
			if len(r.Expect.ToolCalls) == 0 && len(auto) > 0 {
				uncalled = append(uncalled, r.ID+": "+auto[0].Name)
			}
		}
		if into[r.Grammar] == nil {
			into[r.Grammar] = &score{kinds: map[string]int{}}
		}
		for _, s := range []*score{into[r.Grammar], sum} {
			s.add(compare(own, r.Expect.ToolCalls), compare(auto, r.Expect.ToolCalls))
		}
		r.explain(&diff, "own", own)
		r.explain(&diff, "auto", auto)
	}
	t.Logf("well-formed: %s", total)
	t.Logf("the others:  %s", rest)
	if own, auto := total.shares(); own < wantOwn || auto < wantAuto {
		t.Errorf("well-formed rows: %.4f with the grammar named, %.4f without: want %.2f and %.2f", own, auto, wantOwn, wantAuto)
	}
	if n := sum(shown); float64(n) > mostShown*float64(total.rows) {
		t.Errorf("the calls of %d of %d well-formed rows are text because of where they stand", n, total.rows)
	}
	golden.File(t, "testdata/uncalled.txt", strings.Join(uncalled, "\n")+"\n")
	golden.File(t, "testdata/wellformed.txt", strings.Join(ids, "\n")+"\n")
	golden.Between(t, "../docs/conformance.md", "shown", shownTable(shown, total.rows))
	golden.Between(t, "../docs/conformance.md", "table", table(good, total)+"\n"+table(bad, rest))
	if *conformanceDiff != "" {
		if err := os.WriteFile(*conformanceDiff, diff.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// mostShown is the largest share of well-formed rows whose calls may be text
// because of where they stand.
const mostShown = 0.01

// countShown counts a row some of whose calls are text because of where they stand.
func (r row) countShown(shown map[string]int, got []utp.Call) {
	c := r.config()
	c.Policy.Shown = true
	reply := parse.Text(c, r.Input)
	if len(r.Expect.ToolCalls) == 0 || len(reply.Calls()) <= len(got) {
		return
	}
	kind := "ordinary text with words on its line"
	for _, p := range parse.Text(r.config(), r.Input).Problems {
		if p.Kind == utp.ProblemQuoted {
			kind = "markers in a sentence"
		}
	}
	if kind[0] == 'o' && strings.Contains(r.Input, "```") {
		kind = "a code fence with words behind it"
	}
	shown[kind]++
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func shownTable(shown map[string]int, rows int) string {
	var b strings.Builder
	b.WriteString("| place | rows | share |\n|---|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(shown)) {
		fmt.Fprintf(&b, "| %s | %d | %.2f %% |\n", kind, shown[kind], 100*float64(shown[kind])/float64(rows))
	}
	fmt.Fprintf(&b, "| all | %d | %.2f %% |\n", sum(shown), 100*float64(sum(shown))/float64(rows))
	return b.String()
}

// read gives the calls of a row, and holds the reading to the laws: no byte is
// lost, and no call has a name that the text has not.
func (r row) read(t *testing.T, c parse.Config) []utp.Call {
	t.Helper()
	evs := feed(c, r.Input, strings.Contains(r.Notes, "finish_reason=length"))
	var raw strings.Builder
	for _, e := range evs {
		raw.WriteString(e.Raw)
	}
	if raw.String() != r.Input {
		t.Errorf("%s: the events cover %q, want %q", r.ID, raw.String(), r.Input)
	}
	calls := utp.Collect(evs).Calls()
	for _, call := range calls {
		if call.Name != c.Forced && !r.names(call) {
			t.Errorf("%s: call of %s, which is not in %q", r.ID, call.Name, r.Input)
		}
	}
	return calls
}

// names reports whether a call's name is in the text, as it is or as it was
// before it was mended; XML has its own spelling.
func (r row) names(call utp.Call) bool {
	text := r.Input + html.UnescapeString(r.Input)
	said := func(name string) bool { return name != "" && strings.Contains(text, name) }
	return said(call.Name) || slices.ContainsFunc(call.Fixes, func(f utp.Fix) bool { return f.Now == call.Name && said(f.Was) })
}

func (r row) explain(w *bytes.Buffer, how string, got []utp.Call) {
	if kind := compare(got, r.Expect.ToolCalls); kind != equal && r.wellFormed() {
		g, _ := json.Marshal(got)
		want, _ := json.Marshal(r.Expect.ToolCalls)
		fmt.Fprintf(w, "%s %s %s: %s\n  notes %s\n  input %q\n  want %s\n  got  %s\n", how, r.Grammar, r.ID, kind, r.Notes, r.Input, want, g)
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

func (s *score) shares() (own, auto float64) {
	return float64(s.own) / float64(s.rows), float64(s.auto) / float64(s.rows)
}

func (s *score) String() string {
	own, auto := s.shares()
	return fmt.Sprintf("%d rows, %d equal with the grammar named (%.2f %%), %d without (%.2f %%)", s.rows, s.own, own*100, s.auto, auto*100)
}

// table lists the grammars with their rows.
func table(scores map[string]*score, total *score) string {
	var b strings.Builder
	b.WriteString("| grammar | rows | equal, named | equal, auto | the others |\n|---|---|---|---|---|\n")
	line := func(name string, s *score) {
		var kinds []string
		for _, k := range slices.Sorted(maps.Keys(s.kinds)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", s.kinds[k], k))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", name, s.rows, s.own, s.auto, strings.Join(kinds, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		line(name, scores[name])
	}
	line("all", total)
	return b.String()
}
