package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// wide is a schema with n properties, deep one of n levels.
func wide(n int) json.RawMessage {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"p%d":{"type":"string"}`, i)
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.TrimPrefix(b.String(), ",") + `}}`)
}

func deep(n int) json.RawMessage {
	return json.RawMessage(strings.Repeat(`{"type":"array","description":"a list of lists of lists of lists, and so on without an end","items":`, n) + `{"type":"string"}` + strings.Repeat("}", n))
}

// A schema over the bounds is named as broken and not compiled: 40,000 properties
// would take half a minute. Its tool can still be called.
func TestHugeSchemasAreNotCompiled(t *testing.T) {
	long := json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", 300<<10) + `"}`)
	for name, tt := range map[string]struct {
		schema json.RawMessage
		want   string
	}{"properties": {wide(10_100), "more than 10000 keys"}, "depth": {deep(200), "more than 100 deep"}, "bytes": {long, "bytes: want 262144 at most"}} {
		set := schema.Compile([]utp.Tool{{Name: "f", Schema: tt.schema}})
		broken := set.Broken()
		if len(broken) != 1 || !strings.Contains(broken[0].Message, tt.want) {
			t.Errorf("%s: %v", name, broken)
		}
		args := json.RawMessage(`{"p1": "x", "n": 1}`)
		if got, _, issues := set.Check("f", args); string(got) != string(args) || len(issues) > 0 {
			t.Errorf("%s: %s, %v", name, got, issues)
		}
	}
	if broken := schema.Compile([]utp.Tool{{Name: "f", Schema: wide(1500)}}).Broken(); len(broken) > 0 {
		t.Error(broken)
	}
}

func TestLimitsOfASchema(t *testing.T) {
	quoted := json.RawMessage(`{"description":"{[{[:\":: \\","type":"object"}`)
	for _, tt := range []struct {
		limits schema.Limits
		schema json.RawMessage
		want   string
	}{
		{schema.Limits{}, nil, ""}, {schema.Limits{}, quoted, ""}, {schema.Limits{Depth: 1, Keys: 2}, quoted, ""},
		{schema.Limits{Keys: 1}, quoted, "more than 1 keys"}, {schema.Limits{Depth: 2}, wide(1), "more than 2 deep"},
		{schema.Limits{Bytes: 10}, quoted, "want 10 at most"}, {schema.Limits{Keys: 50_000, Bytes: 1 << 20}, wide(6_000), ""},
	} {
		err := tt.limits.Check(tt.schema)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.limits, err, tt.want)
		}
	}
}
