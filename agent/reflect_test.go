package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

type (
	point struct {
		X int `json:"x"`
	}
	unseen struct {
		ID string `json:"id"`
	}
	other struct {
		Name string
		Both int
	}
	more struct {
		Both int
	}
	Leaf struct {
		Depth int `json:"depth"`
	}
	nested struct { // of encoding/json's rules for embedded structs, each
		unseen
		*Leaf
		other `json:"other"`
		more
		Named point `json:"named"`
		Name  string
		_     int
	}
	tree struct {
		Name     string           `json:"name"`
		Children []*tree          `json:"children,omitempty"`
		ByName   map[string]*tree `json:"by_name,omitempty"`
	}
	forest map[string]forest
	lists  []lists
	chain  struct {
		Next *chain `json:"next"`
		Rest lists  `json:"rest,omitempty"`
	}
	pair[T any] struct {
		One T   `json:"one"`
		All []T `json:"all"`
	}
	colour string
)

// run gives a function that returns its arguments some of them.
func run[In any](t *testing.T, args string) (*agent.Function, utp.Result) {
	t.Helper()
	f := agent.Func("f", "", func(_ context.Context, in In) (In, error) { return in, nil })
	return f, agent.Functions(f).Run(t.Context(), utp.Call{ID: "1", Name: "f", Args: []byte(args)})
}

// What a type's schema allows, encoding/json reads into it.
func TestSchemaAllowsWhatCanBeRead(t *testing.T) {
	type try struct {
		in   func(args string) (*agent.Function, utp.Result)
		args string
		want string // "": the arguments as they are
	}
	for name, c := range map[string]try{
		"a pointer to a struct":  {func(a string) (*agent.Function, utp.Result) { return run[*point](t, a) }, `{"x":1}`, ""},
		"a generic type":         {func(a string) (*agent.Function, utp.Result) { return run[pair[point]](t, a) }, `{"one":{"x":1},"all":[{"x":2}]}`, ""},
		"a type within itself":   {func(a string) (*agent.Function, utp.Result) { return run[tree](t, a) }, `{"name":"a","children":[{"name":"b","by_name":{"c":{"name":"c"}}}]}`, ""},
		"a map within itself":    {func(a string) (*agent.Function, utp.Result) { return run[forest](t, a) }, `{"a":{"b":{}}}`, ""},
		"such a type in another": {func(a string) (*agent.Function, utp.Result) { return run[pair[chain]](t, a) }, `{"one":{"next":{"next":null,"rest":[[],[[]]]}},"all":[]}`, ""},
		"raw JSON":               {func(a string) (*agent.Function, utp.Result) { return run[struct{ J json.RawMessage }](t, a) }, `{"J":{"a":["<"]}}`, ""},
		"anything":               {func(a string) (*agent.Function, utp.Result) { return run[struct{ A any }](t, a) }, `{"A":[1,"a",null]}`, ""},
		"bytes":                  {func(a string) (*agent.Function, utp.Result) { return run[struct{ B []byte }](t, a) }, `{"B":"aGk="}`, ""},
		"a time":                 {func(a string) (*agent.Function, utp.Result) { return run[struct{ T time.Time }](t, a) }, `{"T":"2026-01-02T03:04:05Z"}`, ""},
		"a duration":             {func(a string) (*agent.Function, utp.Result) { return run[struct{ D time.Duration }](t, a) }, `{"D":5}`, ""},
		"a large number":         {func(a string) (*agent.Function, utp.Result) { return run[struct{ N *big.Int }](t, a) }, `{"N":123456789012345678901234567890}`, ""},
		"a number as it stands":  {func(a string) (*agent.Function, utp.Result) { return run[struct{ N json.Number }](t, a) }, `{"N":12.50}`, ""},
		"a text of its own":      {func(a string) (*agent.Function, utp.Result) { return run[struct{ A netip.Addr }](t, a) }, `{"A":"127.0.0.1"}`, ""},
		"keys that are numbers":  {func(a string) (*agent.Function, utp.Result) { return run[map[int]string](t, a) }, `{"1":"a"}`, ""},
		"a number in a text": {func(a string) (*agent.Function, utp.Result) {
			return run[struct {
				N int `json:"n,string"`
			}](t, a)
		}, `{"n":5}`, `{"n":"5"}`},
		"a whole number with a dot": {func(a string) (*agent.Function, utp.Result) { return run[point](t, a) }, `{"x":3.0}`, `{"x":3}`},
		"null for what may be left out": {func(a string) (*agent.Function, utp.Result) {
			return run[struct {
				P *int `json:"p,omitempty"`
			}](t, a)
		}, `{"p":null}`, `{}`},
	} {
		f, r := c.in(c.args)
		want := c.want
		if want == "" {
			want = c.args
		}
		if r.Status != utp.StatusOK || r.Text() != want {
			t.Errorf("%s: %s %s\nwant %s\nby the schema %s", name, r.Status, r.Text(), want, f.Schema)
		}
	}
}

// A type that contains itself is told once: the outermost as "#", others by their names.
func TestSchemaOfATypeWithinItself(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{schemaOf[forest](), `{"type":"object","additionalProperties":{"$ref":"#"}}`},
		{schemaOf[struct{ L lists }](), `{"type":"object","properties":{"L":{"type":"array","items":{"$ref":"#/$defs/lists1"}}},"required":["L"],"additionalProperties":false,` +
			`"$defs":{"lists1":{"type":"array","items":{"$ref":"#/$defs/lists1"}}}}`},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func schemaOf[In any]() string {
	return string(agent.Func("f", "", func(context.Context, In) (string, error) { return "", nil }).Schema)
}

// What cannot be read is refused by the schema, before the function.
func TestSchemaRefusesWhatCannotBeRead(t *testing.T) {
	type limits struct {
		Small int8     `json:"small"`
		Count uint     `json:"count"`
		Pair  [2]int   `json:"pair"`
		Tone  colour   `json:"tone" enum:"red,green"`
		Steps []int    `json:"steps,omitzero" enum:"1,2"`
		Exact *float64 `json:"exact"`
	}
	const fits = `{"small":1,"count":1,"pair":[1,2],"tone":"red","steps":[2]}`
	if _, r := run[limits](t, fits); r.Status != utp.StatusOK {
		t.Fatal(r.Text())
	}
	for old, wrong := range map[string]string{`"small":1`: `"small":128`, `"count":1`: `"count":-1`, `[1,2]`: `[1]`, `"red"`: `"blue"`, `[2]`: `[3]`, `"small":1,`: ``} {
		if _, r := run[limits](t, strings.Replace(fits, old, wrong, 1)); !strings.Contains(r.Text(), "do not fit its schema") {
			t.Errorf("%s: %s %s", wrong, r.Status, r.Text())
		}
	}
}

// The properties are the keys that encoding/json writes.
func TestSchemaHasTheFieldsOfJSON(t *testing.T) {
	f := agent.Func("f", "", func(context.Context, nested) (string, error) { return "", nil })
	var schema struct {
		Properties map[string]any
		Required   []string
	}
	var written map[string]any
	b, err := json.Marshal(nested{Leaf: &Leaf{}})
	if err := errors.Join(err, json.Unmarshal(b, &written), json.Unmarshal(f.Schema, &schema)); err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(schema.Properties)), slices.Sorted(maps.Keys(written)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if slices.Contains(schema.Required, "depth") || !slices.Contains(schema.Required, "id") {
		t.Errorf("required: %v", schema.Required)
	}
}

// A function answers in its own words, with its bytes, or in JSON as it would be read.
func TestFuncAnswers(t *testing.T) {
	word := "a word"
	for name, c := range map[string]struct {
		out    any
		status utp.Status
		want   string
	}{
		"a string": {"<b>", utp.StatusOK, "<b>"}, "a pointer to one": {&word, utp.StatusOK, word}, "bytes": {[]byte("as read"), utp.StatusOK, "as read"},
		"raw JSON": {json.RawMessage(`{"a": "<"}`), utp.StatusOK, `{"a": "<"}`}, "marks of HTML": {map[string]string{"a": "<b> & c"}, utp.StatusOK, `{"a":"<b> & c"}`},
		"nothing": {nil, utp.StatusOK, "null"}, "an error as a value": {errors.New("no such city"), utp.StatusFailed, "no such city"},
	} {
		g := agent.Functions(agent.Func("f", "", func(context.Context, struct{}) (any, error) { return c.out, nil }))
		if r := g.Run(t.Context(), utp.Call{ID: "1", Name: "f", Args: []byte(`{}`)}); r.Status != c.status || r.Text() != c.want {
			t.Errorf("%s: %s %q, want %s %q", name, r.Status, r.Text(), c.status, c.want)
		}
	}
	g := agent.Functions(agent.Func("f", "", func(context.Context, struct{}) (string, error) { panic("out of ideas") }))
	if r := g.Run(t.Context(), utp.Call{ID: "1", Name: "f", Args: []byte(`{}`)}); r.Status != utp.StatusFailed || !strings.Contains(r.Text(), "out of ideas") {
		t.Errorf("a panic: %s %q", r.Status, r.Text())
	}
}
