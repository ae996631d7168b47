package lenient_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp/lenient"
)

func TestObject(t *testing.T) {
	for _, c := range []struct {
		in, want string
		fixes    int
		ok       bool
	}{
		{`{"a": 1}`, `{"a": 1}`, 0, true},
		{`"{\"a\":1}"`, `{"a":1}`, 1, true},
		{`{'a': 1,} and more`, `{"a":1}`, 3, true},
		{`{}`, `{}`, 0, true},
		{`{not json}`, ``, 0, false},
		{`[1]`, ``, 0, false},
		{`"text"`, ``, 0, false},
		{"```json\n{\"a\": 1}\n```", `{"a": 1}`, 2, true},
		{"json\n{\"a\": 1}", `{"a": 1}`, 1, true},
		{`Here you go: {"a": 1}`, `{"a": 1}`, 1, true},
		{`"a": 1, "b": "x"`, `{"a": 1, "b": "x"}`, 1, true},
		{`It is not known. Whatever {} may stand in such a text, it is no object of arguments`, ``, 0, false},
		{``, ``, 0, false},
	} {
		got, fixes, ok := lenient.Object(c.in, lenient.Options{})
		if ok != c.ok || ok && (string(got) != c.want || len(fixes) != c.fixes) {
			t.Errorf("%s: %s %v %v, want %s %d %v", c.in, got, fixes, ok, c.want, c.fixes, c.ok)
		}
	}
}

// An ambiguous quote is an error unless a guess is asked for; then it is content.
func TestGuess(t *testing.T) {
	const in = `{"a": "x}} {"name": "g", "b": 1}`
	if _, _, _, err := lenient.Repair(in, lenient.Options{}); err == nil {
		t.Fatal("an ambiguous text is read without a guess")
	}
	got, _, fixes, err := lenient.Repair(in, lenient.Options{Guess: true})
	if want := `{"a":"x}} {\"name\": \"g","b":1}`; err != nil || string(got) != want || len(fixes) == 0 {
		t.Errorf("%s %v %v, want %s", got, fixes, err, want)
	}
}
