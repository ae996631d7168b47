package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Every built-in dialect reads what it writes, without a fix.
func TestBuiltInDialectsPass(t *testing.T) {
	for _, g := range grammar.All() {
		b, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dialect.Load(b); err != nil {
			t.Error(err)
		}
	}
}

// A record whose own calls are not read back as they are written is refused, with
// the line of the fault or the call that shows it.
func TestLoadRunsTheRoundTrip(t *testing.T) {
	for name, c := range map[string]struct {
		record string
		want   []string
	}{
		"a closer of white space": {"{\"name\": \"mine\", \"body\": \"tagged\",\n\"call\": {\"open\": \"<c {name}>\", \"close\": \"</c>\"},\n\"arg\": {\"open\": \"«{key}» \", \"close\": \"\\n\"}}",
			[]string{"line 3", "arg.close", "white space alone"}},
		"arguments without a closer": {`{"name": "mine", "body": "tagged", "call": {"open": "<c {name}>", "close": "</c>"}, "arg": {"open": "«{key}» "}}`,
			[]string{`<c book_table>«place» `, "read back", "want markers"}},
		"a marker that ends the value": {`{"name": "mine", "body": "tagged", "call": {"open": "<c {name}>", "close": "</c>"}, "arg": {"open": "[{key}=", "close": "a"}}`,
			[]string{"cannot be written", "place"}},
		"no JSON":         {"{\n\"name\": mine}", []string{"line 2", "no JSON"}},
		"a wrong type":    {"{\n\n\"name\": 5}", []string{"line 3", "name: want a text, not number"}},
		"an unknown key":  {"{\"name\": \"x\",\n\"hook\": 5}", []string{"line 2", `"hook"`, "manifest"}},
		"two records":     {`{"name": "x", "body": "json"} {}`, []string{"one record"}},
		"an end too soon": {"{\n", []string{"line 2", "ends too early"}},
	} {
		g, err := dialect.Load([]byte(c.record))
		if err == nil {
			t.Errorf("%s: it loads %+v", name, g)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %q in it", name, err, want)
			}
		}
	}
}
