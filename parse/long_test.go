package parse_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// A broken call whose end is not found within 64 KB is a problem, as a shorter one is,
// and its text stays.
func TestLongBrokenCallIsAProblem(t *testing.T) {
	tools := schema.Compile([]utp.Tool{{Name: "f", Schema: []byte(`{"type":"object"}`)}})
	for name, text := range map[string]string{
		"deep":        `<tool_call>{"name":"f","arguments":{"x":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `}}</tool_call>`,
		"no JSON":     `<tool_call>{"name":"f","arguments":{"x":"a" "b" : ` + strings.Repeat("z", 100_000) + `}}</tool_call>`,
		"after words": "I look.\n" + `<tool_call>{"name":"f","arguments":{"x":"a" "b" : ` + strings.Repeat("z", 100_000) + `}}</tool_call>`,
	} {
		t.Run(name, func(t *testing.T) {
			c := parse.Config{Grammars: grammar.All(), Tools: tools}
			whole := parse.Text(c, text)
			if len(whole.Calls()) != 0 || len(whole.Problems) != 1 || whole.Problems[0].Kind != utp.ProblemMalformed || whole.Problems[0].Name != "f" || whole.Text() != text {
				t.Fatalf("%d calls, problems %v, %d bytes of %d", len(whole.Calls()), whole.Problems, len(whole.Text()), len(text))
			}
			p := parse.New(c)
			var events []utp.Event
			for i := 0; i < len(text); i += 7 {
				events = append(events, p.Feed(text[i:min(i+7, len(text))])...)
			}
			if cut := utp.Collect(append(events, p.Close(false)...)); len(cut.Problems) != 1 || cut.Problems[0].Error() != whole.Problems[0].Error() || cut.Text() != text {
				t.Errorf("in pieces: problems %v", cut.Problems)
			}
		})
	}
}
