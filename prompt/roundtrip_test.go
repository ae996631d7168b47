package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// turn is random calls with tools whose schemas they fit.
type turn struct {
	Calls []utp.Call
	Tools []utp.Tool
}

// words are texts that parsers stumble over.
var words = []string{
	"", " ", "\n", "Oslo", "5", "true", "null", "it's", `say "hi"`, "a, b) c] d}", `back\slash \n`, "two\nlines", "\n edge \n",
	"<b>x</b>", "a < b && c > d", "&lt;", "{\"a\": 1}", "[1, 2]", "naïve 😀 北京", "</tool_call>", "<tool_call>", "</parameter>", "</function>",
	"[TOOL_CALLS]", "```json\n{}\n```", "<|call|>", "<｜DSML｜invoke name=\"x\">", "]]>", "<![CDATA[", "]<]minimax[>[", "Action: x", "Observation: y",
	"</arg>", "<item>", "<|\"|>", "functions.x:0", "\t", "\u0001", "f(x=1)", "%s {name} {{tools}}",
}

func genTurn() *rapid.Generator[turn] {
	return rapid.Custom(func(t *rapid.T) (out turn) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z_]{1,8}[a-z0-9]([.-][a-z]{1,4})?`), 1, 3, rapid.ID).Draw(t, "names")
		for _, name := range names {
			v, s := genObject(2).Draw(t, "args").pair()
			out.Calls = append(out.Calls, utp.Call{Name: name, Args: v})
			out.Tools = append(out.Tools, utp.Tool{Name: name, Schema: s})
		}
		return out
	})
}

// sample is a value with the schema that it fits.
type sample struct{ value, schema string }

func (s sample) pair() (value, schema json.RawMessage) {
	return json.RawMessage(s.value), json.RawMessage(s.schema)
}

func genValue(depth int) *rapid.Generator[sample] {
	return rapid.Custom(func(t *rapid.T) sample {
		kinds := []string{"string", "string", "integer", "number", "boolean"}
		if depth > 0 {
			kinds = append(kinds, "array", "object")
		}
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "string":
			return sample{marshal(rapid.OneOf(rapid.SampledFrom(words), rapid.StringN(0, 12, -1)).Draw(t, "text")), `{"type":"string"}`}
		case "integer":
			return sample{fmt.Sprint(rapid.Int64().Draw(t, "n")), `{"type":"integer"}`}
		case "number":
			return sample{marshal(rapid.Float64Range(-1e6, 1e6).Draw(t, "x")), `{"type":"number"}`}
		case "boolean":
			return sample{fmt.Sprint(rapid.Bool().Draw(t, "b")), `{"type":"boolean"}`}
		case "array":
			item := genValue(depth-1).Draw(t, "item")
			n := rapid.IntRange(0, 3).Draw(t, "len")
			return sample{"[" + strings.TrimSuffix(strings.Repeat(item.value+",", n), ",") + "]", `{"type":"array","items":` + item.schema + `}`}
		}
		return genObject(depth-1).Draw(t, "object")
	})
}

func genObject(depth int) *rapid.Generator[sample] {
	return rapid.Custom(func(t *rapid.T) sample {
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9_]{0,7}`), 0, 3, rapid.ID).Draw(t, "keys")
		var values, schemas, required []string
		for _, k := range keys {
			v := genValue(depth).Draw(t, k)
			values = append(values, marshal(k)+":"+v.value)
			schemas = append(schemas, marshal(k)+":"+v.schema)
			required = append(required, marshal(k))
		}
		return sample{"{" + strings.Join(values, ",") + "}",
			`{"type":"object","properties":{` + strings.Join(schemas, ",") + `},"required":[` + strings.Join(required, ",") + `]}`}
	})
}

func marshal(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// said are the name and the arguments, which a grammar must bring back.
type said struct {
	Name string
	Args any
}

func sayings(t interface{ Fatalf(string, ...any) }, calls []utp.Call) (out []said) {
	for _, c := range calls {
		s := said{Name: c.Name}
		d := json.NewDecoder(strings.NewReader(string(c.Args)))
		d.UseNumber()
		if err := d.Decode(&s.Args); err != nil {
			t.Fatalf("arguments %q: %v", c.Args, err)
		}
		out = append(out, s)
	}
	return out
}

// What Calls prints, parse reads back: the same calls, no problem, and nothing
// left in the text. What it cannot print is an error.
func TestRoundTrip(t *testing.T) {
	for _, g := range grammar.All() {
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, g, []*grammar.Grammar{g}) })
		})
	}
}

// The same with every grammar listening at once. Not so muse: harmony reads its
// header, for both begin a message alike.
func TestRoundTripAuto(t *testing.T) {
	for _, g := range grammar.All() {
		if g.Name == "muse" {
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, g, nil) })
		})
	}
}

func roundTrip(t *rapid.T, g *grammar.Grammar, reading []*grammar.Grammar) {
	in := genTurn().Draw(t, "turn")
	text, err := prompt.Calls(g, in.Calls)
	if err != nil {
		t.Skip(err)
	}
	before := rapid.SampledFrom([]string{"", "Let me look.\n\n", "Ok.\n"}).Draw(t, "before")
	if g.Header.Open != "" {
		before = ""
	}
	if reading != nil {
		text = strings.TrimPrefix(text, g.Prefill)
	}
	r := parse.Text(parse.Config{Grammars: reading, Tools: schema.Compile(in.Tools)}, before+text)
	if d := cmp.Diff(sayings(t, in.Calls), sayings(t, r.Calls())); d != "" {
		t.Fatalf("printed\n%s\nwant -, got +\n%s\n%+v", text, d, r.Problems)
	}
	if len(r.Problems) > 0 || strings.TrimSpace(r.Text()) != strings.TrimSpace(before) {
		t.Fatalf("printed\n%s\ntext %q, problems %+v", text, r.Text(), r.Problems)
	}
}

// A call as a model was told to write it is found in that dialect, though all
// are read: it is no mismatch.
//
// contract: P-37
func TestWhatWasToldIsFoundAsTold(t *testing.T) {
	call := utp.Call{ID: "functions.get_weather:0", Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo","days":3}`)}
	for _, g := range grammar.All() {
		text, err := prompt.Calls(g, []utp.Call{call})
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		text = strings.TrimPrefix(text, g.Prefill)
		got := parse.Text(parse.Config{Prefer: []string{g.Name}, Tools: schema.Compile([]utp.Tool{weather})}, text).Calls()
		if len(got) != 1 || got[0].Source != "text:"+g.Name {
			t.Errorf("%s: %q reads as %+v", g.Name, text, got)
		}
	}
}
