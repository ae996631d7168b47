package backend_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
)

// Optional arguments that are empty texts are left out of native calls and of
// calls in text, streamed or whole, and of the deltas as of the call.
//
// contract: R-11
func TestEmptyArgumentsAreLeftOut(t *testing.T) {
	tool := utp.Tool{Name: "search_code", Schema: json.RawMessage(
		`{"type":"object","properties":{"query":{"type":"string"},"in":{"type":"string"}},"required":["query"]}`)}
	for name, script := range map[string]string{
		"text":   "-- turn --\n-- text --\n<tool_call>{\"name\": \"search_code\", \"arguments\": {\"query\": \"\", \"in\": \"\"}}</tool_call>\n",
		"native": "-- turn --\n-- call search_code --\n{\"query\": \"\", \"in\": \"\"}\n",
	} {
		for _, whole := range []bool{false, true} {
			for drop, want := range map[bool]string{true: `{"query":""}`, false: `{"query":"","in":""}`} {
				r := setUp(t, inline(t, script), backend.Config{DropEmpty: drop, Whole: whole})
				var evs []utp.Event
				var deltas, raw strings.Builder
				for e, err := range r.Stream(t.Context(), question(tool)) {
					if err != nil {
						t.Fatal(err)
					}
					evs = append(evs, e)
					raw.WriteString(e.Raw)
					if e.Kind == utp.EventCallDelta {
						deltas.WriteString(e.Text)
					}
				}
				got := utp.Collect(evs).Calls()
				flat := func(s string) string { return strings.ReplaceAll(s, " ", "") }
				if len(got) != 1 || flat(string(got[0].Args)) != want || deltas.Len() > 0 && flat(deltas.String()) != want {
					t.Errorf("%s, whole %v, drop %v: %+v, deltas %s, want %s", name, whole, drop, got, &deltas, want)
				}
				if fixed := len(got) == 1 && slices.ContainsFunc(got[0].Fixes, func(f utp.Fix) bool { return f.Path == "/in" }); fixed != drop {
					t.Errorf("%s, whole %v, drop %v: the fixes do not tell: %+v", name, whole, drop, got)
				}
				if name == "text" && !strings.Contains(raw.String(), `"in": ""`) {
					t.Errorf("drop %v: the raw text is lost: %q", drop, &raw)
				}
			}
		}
	}
}
