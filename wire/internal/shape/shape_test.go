package shape

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type inner struct {
	Name string          `json:"name"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

type outer struct {
	Text  string   `json:"text"`
	Empty string   `json:"empty,omitempty"`
	N     *int     `json:"n"`
	F     float64  `json:"f"`
	Yes   *bool    `json:"yes,omitempty"`
	List  []inner  `json:"list"`
	Words []string `json:"words,omitempty"`
	Any   Value    `json:"any,omitzero"`
	Num   LooseInt `json:"num"`
	Loose Loose    `json:"loose"`
	In    *inner   `json:"in,omitempty"`
	Rest  Fields   `json:"-"`
}

var outerShape = Of[outer]()

// What a shape writes is what encoding/json writes, and it reads it back.
func TestShapeWritesAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\"\\\n\r\t\b\x00", "<&>\u2028", "ü😀"}))
		n := rapid.Int().Draw(t, "n")
		yes := rapid.Bool().Draw(t, "yes")
		o := outer{Text: text.Draw(t, "text"), F: rapid.Float64().Draw(t, "f"), Num: LooseInt(n % 1e9), Loose: Loose(text.Draw(t, "loose"))}
		if yes {
			o.N, o.Yes = &n, &yes
			o.List = []inner{{Name: text.Draw(t, "name"), Raw: json.RawMessage(`{"a":[1,2]}`)}, {}}
			o.Words = []string{text.Draw(t, "word")}
			o.Any = Value{Raw: json.RawMessage(`[null]`)}
			o.In = &inner{}
		}
		got := outerShape.Write(o, nil)
		want, err := Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(got) && !strings.Contains(string(want), `\b`) && !strings.Contains(string(want), `\f`) && !strings.Contains(string(want), "e") {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		back, bad := outerShape.Read(Value{Raw: got})
		if bad != nil {
			t.Fatal(bad)
		}
		again := outerShape.Write(back, nil)
		if string(again) != string(got) || !json.Valid(got) {
			t.Fatalf("again %s\nfirst %s", again, got)
		}
	})
}

func TestShapeSaysWhereAndWhat(t *testing.T) {
	for body, want := range map[string]string{
		``:                                    "offset 0: want an object",
		`{"text":5}`:                          "text: offset 8: want a string",
		`{"list":[{"name":"a"},{"name":[]}]}`: "list[1].name: offset 30: want a string",
		`{"n":1.5}`:                           "n: offset 5: want an integer",
		`{"yes":"true"}`:                      "yes: offset 7: want true or false",
		`{"in":{"name":"a" "raw":1}}`:         `in: offset 18: want a comma or }`,
		`{"x":[1,{"y":tru}]}`:                 "x: offset 13: want a JSON value",
		`{"text":"a` + "\n" + `"}`:            `text: offset 10: want an escaped character: \n, \" or \u00XX`,
		`{"text":"\ud83d`:                     "text: offset 15: want a closing quote",
		`{"text":"\x"}`:                       `text: offset 9: want an escaped character: \n, \" or \u00XX`,
		`{"f":1e}`:                            "f: offset 7: want a digit",
		`{"f":1e999}`:                         "f: offset 5: want a number that a 64 bit float can hold",
		`{} x`:                                "offset 3: want nothing behind the JSON value",
		`{"a":1,}`:                            "offset 7: want a field name in quotes",
		`{"f":NaN}`:                           "f: offset 5: want a number",
	} {
		_, err := outerShape.Read(Value{Raw: []byte(body)})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

func TestShapeKeepsWhatItDoesNotName(t *testing.T) {
	body := `{"text":"\ud83d\ude00\ud83d!","num":"3","loose":{},"n":null,"future":{"a":1},"any":[ 1 ],"N":2,"n":3e2}`
	o, err := outerShape.Read(Value{Raw: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	if o.Text != "😀\uFFFD!" || o.Num != 3 || *o.N != 300 || o.Any.Kind() != '[' || o.Any.Offset != strings.Index(body, "[ 1 ]") {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff(Fields{{"future", json.RawMessage(`{"a":1}`)}, {"N", json.RawMessage("2")}}, o.Rest); diff != "" {
		t.Error(diff)
	}
	if got := outerShape.Write(outer{}, o.Rest); !strings.HasSuffix(string(got), `"loose":"","future":{"a":1},"N":2}`) {
		t.Errorf("%s", got)
	}
}

// What was read before leaves nothing behind.
func TestIntoIsRead(t *testing.T) {
	bodies := []string{`{}`, `{"text":"a","list":[{"name":"x"},{"name":"y","raw":1}],"n":1,"in":{"name":"z"},"future":[1],"more":2}`,
		`{"text":"a","list":[{"raw":[2]}],"n":null,"yes":false,"words":["u","v"],"any":{},"future":{}}`, `{"text":"b","list":[null,{"name":"x"}],"words":["u"],"num":"7","loose":5}`,
		`{"list":[],"in":{"raw":2},"f":1.5,"loose":null}`}
	rapid.Check(t, func(t *rapid.T) {
		var again outer
		for _, body := range rapid.SliceOfN(rapid.SampledFrom(bodies), 1, 8).Draw(t, "bodies") {
			fresh, err := outerShape.Read(Value{Raw: []byte(body)})
			if bad := outerShape.Into(&again, Value{Raw: []byte(body)}); err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			if got, want := outerShape.Copy(&again, again.Rest), outerShape.Write(fresh, fresh.Rest); string(got) != string(want) {
				t.Fatalf("%s\nagain %s\nfresh %s", body, got, want)
			}
		}
	})
}

func TestPartsOfAValue(t *testing.T) {
	v := Value{Raw: []byte(`{"a":{"type":1},"type":"text","bad`)}
	if text, err := v.TextAt("type"); text != "text" || err != nil {
		t.Error(text, err)
	}
	for body, want := range map[string]string{`{"a":1}`: "<nil>", `{"type":null}`: "<nil>", `[]`: "offset 0: want an object", `{"type":5}`: "type: offset 8: want a string", `{"a"`: "offset 4: want a colon"} {
		if text, err := (Value{Raw: []byte(body)}).TextAt("type"); text != "" || fmt.Sprint(err) != want && err != nil {
			t.Errorf("%s: %q, %v", body, text, err)
		}
	}
	err := Value{Raw: []byte(`[{"name":"a"},{"name":1}]`)}.Each(func(v Value) *Error {
		_, err := Of[inner]().Read(v)
		return err
	})
	if err == nil || err.Error() != "[1].name: offset 22: want a string" {
		t.Error(err)
	}
	if _, err := Of[inner]().Field("in", Value{}); err != nil {
		t.Error(err)
	}
	if _, err := Of[inner]().Field("in", Value{Raw: []byte(`5`)}); err == nil || err.Path != "in" {
		t.Error(err)
	}
	f := Fields(nil).With("a", Value{}).WithText("b", "").WithText("c", "x").With("d", Given(true, 1)).With("e", Given(false, 1))
	if got := string(f.Raw()); got != `{"c":"x","d":1}` || string(List([]Value{Quote("a\tb"), {Raw: []byte("1")}}).Raw) != `["a\tb",1]` {
		t.Error(got)
	}
}

// The scanner takes exactly what encoding/json takes.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\u00e9\n",true,null]}`, `[`, `{"a":01}`, `"\ud83d\ude00"`, `1.`, "\"\x7f\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := scanner{b: b}
		s.space()
		_, err := s.value()
		if err == nil {
			err = s.end()
		}
		if valid := json.Valid(b); valid != (err == nil) && !strings.Contains(string(b), strings.Repeat("[", 900)) {
			t.Fatalf("%q: valid %v, %v", b, valid, err)
		}
		var want string
		if got, err := (Value{Raw: b}).Text(); err == nil && (json.Unmarshal(b, &want) != nil || strings.ToValidUTF8(got, "\uFFFD") != strings.ToValidUTF8(want, "\uFFFD")) && notUTF8(b) < 0 {
			t.Fatalf("%q: %q, want %q", b, got, want)
		}
	})
}
