package lenient

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// value draws a JSON value.
func value(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "float")
	case 3:
		return rapid.Int64().Draw(t, "int")
	case 4:
		return content(t)
	case 5:
		list := make([]any, rapid.IntRange(0, 4).Draw(t, "len"))
		for i := range list {
			list[i] = value(t, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "len") {
		m[content(t)] = value(t, depth-1)
	}
	return m
}

// content draws a string of what is hard to tell from structure.
func content(t *rapid.T) string {
	hard := rapid.SampledFrom([]string{`"`, `'`, `",`, `", "a":`, `"}`, `"]`, ": ", "{", "}", "[", "]", "(", ")", "\\", "\n", "\t",
		"“", "’", "，", "：", "é", "北", "😀", "<", `<|"|>`, "<escape>", "//", "#", "None", "a", " ", "=", "\u2028", "\x00"})
	if rapid.IntRange(0, 3).Draw(t, "free") == 0 {
		return rapid.String().Draw(t, "string")
	}
	return strings.Join(rapid.SliceOfN(hard, 0, 8).Draw(t, "pieces"), "")
}

// jsonText writes a JSON value, with or without white space.
func jsonText(t *rapid.T) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(rapid.Bool().Draw(t, "html"))
	enc.SetIndent("", rapid.SampledFrom([]string{"", " ", "\t\t", strings.Repeat(" ", 70)}).Draw(t, "indent"))
	if err := enc.Encode(value(t, 4)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func options(t *rapid.T) Options {
	return Options{Quote: rapid.SampledFrom([]string{"", `<|"|>`, "<escape>"}).Draw(t, "quote"),
		Python: rapid.Bool().Draw(t, "python"), Strict: rapid.Bool().Draw(t, "strict")}
}

func TestValidIsNeverChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, s := options(t), jsonText(t)
		checkValid(t, o, s)
		junk := rapid.SampledFrom([]string{"", "\n", " ", "}", "]", "</tool_call>", " and so on", ",", "\"", ":"}).Draw(t, "junk")
		if c := s[0]; c == '{' || c == '[' || c == '"' {
			if out, n, fixes, err := Repair(s+junk, o); err != nil || string(out) != s || n != len(s) || fixes != nil {
				t.Fatalf("%q: %q %d %v %v", s+junk, out, n, fixes, err)
			}
		}
	})
}

func TestValidAtEverySplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, s := options(t), jsonText(t)
		if len(s) > 400 {
			s = `{"a": "b"}`
		}
		checkCuts(t, o, s)
		var r Reader
		if got := trace(&r, o, pieces(s, 1)...); !strings.Contains(got, "fixes []") || !strings.Contains(got, "done at") {
			t.Fatalf("%q: %s", s, got)
		}
	})
}

// The Writer's text of a valid value is the compact form of the value, but for
// escapes in keys.
func TestWriterCompacts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := jsonText(t)
		var r Reader
		var w Writer
		for in := s; ; {
			tok, n := r.Next(in)
			in = in[n:]
			if tok.Kind == More {
				r.End()
			}
			if tok.Kind == Fail {
				t.Fatalf("%q: %v", s, r.Err())
			}
			if tok.Kind == Done {
				break
			}
			w.Token(tok)
		}
		var got, want any
		if err := json.Unmarshal(w.Bytes(), &got); err != nil {
			t.Fatalf("%q → %q: %v", s, w.Bytes(), err)
		}
		_ = json.Unmarshal([]byte(s), &want)
		g, _ := json.Marshal(got)
		x, _ := json.Marshal(want)
		if !bytes.Equal(g, x) {
			t.Fatalf("%q → %q", s, w.Bytes())
		}
		if bytes.ContainsAny(w.Bytes(), "\n\t") {
			t.Fatalf("%q has white space", w.Bytes())
		}
	})
}

// damage makes the mistakes that models make.
func damage(t *rapid.T, s string) string {
	wrong := []string{"'", `"`, ",", ":", "}", "]", "{", "[", "(", ")", "=", "\\", "\n", " ", "None", "#", "//", "/*", "*/", "“", "”", "，",
		"：", "Ġ", "\ufeff", "\xff", "\xe2\x80", `\"`, `\n`, `"""`, "'''", "+", "r'", "1/2", "f(", "-", "<", `<|"|>`, "word", "é", "`", "`" + "``"}
	for range rapid.IntRange(1, 4).Draw(t, "edits") {
		at := rapid.IntRange(0, len(s)).Draw(t, "at")
		to := min(len(s), at+rapid.IntRange(0, 3).Draw(t, "drop"))
		s = s[:at] + rapid.SampledFrom(wrong).Draw(t, "insert") + s[to:]
	}
	return s
}

func TestDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, s := options(t), jsonText(t)
		o.Args = rapid.IntRange(0, 3).Draw(t, "args") == 0
		if o.Args {
			s = "(a=" + s + `, "x")`
		}
		if o.Python && rapid.Bool().Draw(t, "repr") {
			s = strings.NewReplacer(`"`, "'", "null", "None", "true", "True", "[", "(", "]", ")").Replace(s)
		}
		if len(s) > 300 {
			s = s[:300]
		}
		checkLaws(t, o, damage(t, s))
	})
}

// A value that is cut anywhere is whole, or says that it is not.
func TestCutOffIsNeverWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := jsonText(t)
		if s[0] != '{' && s[0] != '[' {
			return
		}
		s = s[:rapid.IntRange(0, len(s)-1).Draw(t, "cut")]
		var r Reader
		got := kinds(&r, s)
		r.End()
		got = append(got, kinds(&r, "")...)
		switch last := got[len(got)-1]; {
		case last == Done && r.Closed():
			t.Fatalf("%q is closed", s)
		case last == Fail && !r.Cut():
			t.Fatalf("%q: %v is no cut", s, r.Err())
		case last == Done && len(r.Fixes()) == 0:
			t.Fatalf("%q was completed without a fix", s)
		}
	})
}

func TestEvaluate(t *testing.T) {
	for in, want := range map[string]string{
		"1/6": "0.16666666666666666", "6*30.48": "182.88", "2**3": "8", "2**-1": "0.5", "2**3**2": "512", "-2**2": "-4",
		"7//2": "3", "-7//2": "-4", "7//-2": "-4", "7%3": "1", "-7%3": "2", "7%-3": "-2", "7.5//2": "3", "7.5%2": "1.5",
		"0**0": "1", "0**5": "0", "1**99": "1", "(-1)**99": "-1", "1e3*2": "2000", "0x10+1": "17", "1_000*2": "2000",
		"((1+2)*3)": "9", "1 - -2": "3", "+1 + 2": "3", "3 * (2 + 1) / 2": "4.5", "-(3)": "-3",
	} {
		r := Reader{o: Options{Python: true}}
		if got, err := r.evaluate(in); got != want || err != "" {
			t.Errorf("%s = %q %s, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"1/0", "1//0", "1%0", "9223372036854775807+1", "2**64", "-9223372036854775807-2",
		"9223372036854775807*2", "12345678901234567890*1", "1e308*10", "1 -2"} {
		r := Reader{o: Options{Python: true}}
		if got, err := r.evaluate(in); got != "" || err == "" {
			t.Errorf("%s = %q", in, got)
		}
	}
	for _, in := range []string{"", "1", "x", "1+", "(1", "1)", "01+1", "1.2.3", "*1", "1 2", "2024-01-02", "a+1", "."} {
		r := Reader{o: Options{Python: true}}
		if got, err := r.evaluate(in); got != "" || err != "" {
			t.Errorf("%s = %q %s, want no expression", in, got, err)
		}
	}
}

func TestKindNames(t *testing.T) {
	if More.String() != "more" || Fail.String() != "fail" || Kind(99).String() != "Kind(99)" {
		t.Error(More, Fail, Kind(99))
	}
}

func TestErrorText(t *testing.T) {
	_, _, _, err := Repair(`{"a": [1, x(2)]}`, Options{})
	if got := err.Error(); got != "offset 10 (/a/1): want a literal (calls are not evaluated)" {
		t.Error(got)
	}
	_, _, _, err = Repair(`x(2)`, Options{})
	if got := err.Error(); got != "offset 0: want a JSON value" {
		t.Error(got)
	}
}
