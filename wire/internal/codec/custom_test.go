package codec

import "testing"

func TestObject(t *testing.T) {
	for _, c := range []struct {
		args, raw, want string
		ok              bool
	}{
		{`{"a":1}`, "", `{"a":1}`, true},
		{"", "", "{}", true},
		{"", " null ", "{}", true},
		{"", `{"a":9007199254740993}`, `{"a":9007199254740993}`, true},
		{"", `{"a":<b>`, `{"_raw":"{\"a\":<b>"}`, false},
		{"[1]", "", `{"_raw":"[1]"}`, false},
	} {
		got, ok := Object([]byte(c.args), c.raw)
		if string(got) != c.want || ok != c.ok {
			t.Errorf("%q %q: got %s %v, want %s %v", c.args, c.raw, got, ok, c.want, c.ok)
		}
	}
}
