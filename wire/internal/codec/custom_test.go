package codec

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

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

// A call of a history that is broken JSON is mended where that is certain.
func TestArgumentsOfAHistoryAreMended(t *testing.T) {
	for raw, want := range map[string]string{
		`{"x":1,}`: `{"x":1}`, `{"x":{"y":[1]`: `{"x":{"y":[1]}}`, `{'x': True}`: `{"x":true}`, `{"x":1} and more`: `{"_raw":"{\"x\":1} and more"}`,
		`{"path": "a`: `{"_raw":"{\"path\": \"a"}`, `[1,]`: `{"_raw":"[1,]"}`, `{"x":1}`: `{"x":1}`, ``: `{}`,
	} {
		var o Outgoing
		got := o.Arguments("here", utp.Call{RawArgs: raw})
		if string(got) != want || len(o.Losses) > 0 != (raw != want && raw != "") {
			t.Errorf("%s: %s, want %s, %v", raw, got, want, o.Losses)
		}
	}
}
