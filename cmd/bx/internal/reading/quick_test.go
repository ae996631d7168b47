package reading_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

// A line as programs write it is read without package json, and as json reads it: the
// same one with a field that is not known gets the same answer.
func TestQuickLinesAreReadAsJSON(t *testing.T) {
	const tools = `[{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]`
	known := `{"id":1,"input":"","tools":` + tools + "}\n"
	lines := []string{
		`{"id": 12, "op": "parse", "input": "I look.\r\n\t\/\b\f<tool_call>{\"name\": \"f\", \"arguments\": {\"n\": \"3\"}}</tool_call>", "kind": "text", "tools": ` + tools + `}`,
		`{"id":7,"input":"a \\ \/ \u00e9 \ud83d\ude00 é","kind":"auto","model":"qwen3","grammar":"hermes","prefill":"<think>","policy":"unknown=text"}`,
		`{"id":7,"op":"open","policy":"unknown=text"}`,
		`{"id":7,"op":"feed","piece":"x"}`,
		`{"id":7,"id":8,"input":"a","input":"b \"\b\f\r\t","tools":` + tools + `,"tools":` + tools + `}`,
		`{"id":07,"input":"a"}`,
		`{"id":7},"input":"a"}`,
		`{"id":7,"input":"` + "a\tb" + `"}`,
		`{"id":7,"input":"` + "a\xff" + `"}`,
		`{"id":7,"input":"a\\"}`,
		`{"id":7,"input":"a\\\"b"}`,
		`{"id":7,"input":"a","tools": ` + tools[1:] + `}`,
		`{"id":7,"input":"a","tools":` + tools + ` }`,
		`{}`,
	}
	same := func(t rapid.TB, line string) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "{")
		if !ok {
			return
		}
		comma := ","
		if strings.HasPrefix(strings.TrimSpace(rest), "}") {
			comma = ""
		}
		got, want := answers(t, known+"{"+rest), answers(t, known+`{"more":{}`+comma+rest)
		if got != want {
			t.Fatalf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	for _, line := range lines {
		same(t, line)
	}
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.SampledFrom(lines).Draw(rt, "line")
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(line)).Draw(rt, "at")
			to := min(len(line), at+rapid.IntRange(0, 2).Draw(rt, "without"))
			line = line[:at] + rapid.SampledFrom([]string{"", `"`, `\`, `\"`, "{", "}", "[", "]", ",", ":", " ", "\t", "0", "1", "-", ".5", "null", `"op":`, `"Op":`, "\r", "\x00", "\xc3", "\u2028"}).Draw(rt, "new") + line[to:]
		}
		same(rt, line)
	})
}

// answers are those to lines. Where one is no JSON depends on what stands before it.
func answers(t rapid.TB, lines string) string {
	got, _ := linesOf(t, reading.Options{}, lines)
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], "this is no JSON")
	}
	return strings.Join(got, "\n")
}
