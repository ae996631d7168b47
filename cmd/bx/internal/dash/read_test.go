package dash_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
)

func operatorOf(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, d: dash.New(config())}
	b.signIn(`{"key":"` + operator + `"}`)
	return b
}

func TestReadGivesWhatTheReaderGives(t *testing.T) {
	b := operatorOf(t)
	got := text(t, b.ask("POST", "/ui/read", `{"text":"<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1,}}</tool_call>","tools":"[{\"name\":\"f\"}]","cut":true}`))
	for _, want := range []string{`"name":"f"`, `"status":"repaired"`, `"why":"trailing comma"`, `"kind":"marker"`, `\u003ctool_call\u003e`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	b := operatorOf(t)
	for name, of := range map[string]struct{ body, want string }{
		"too long": {`{"text":"` + strings.Repeat("x", 256<<10+1) + `"}`, "the text has 262145 bytes"},
		"no tools": {`{"text":"x","tools":"{"}`, "tools"},
		"no JSON":  {`{`, "this is no JSON of a request"},
		"too much": {`{"text":"` + strings.Repeat("x", 2<<20) + `"}`, "too large"},
	} {
		if got := text(t, b.ask("POST", "/ui/read", of.body)); !strings.Contains(got, of.want) {
			t.Errorf("%s: %s, want %s", name, got, of.want)
		}
	}
}
