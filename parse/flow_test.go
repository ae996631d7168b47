package parse_test

import (
	"encoding/json"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// A piece in which nothing begins is handed on as it stands. What it opens and
// closes counts all the same: code within a line, the line, a token's beginning.
func TestPiecesThatFlowCount(t *testing.T) {
	const call = `<tool_call>{"name": "search_code", "arguments": {"query": "a"}}</tool_call>`
	for _, s := range []string{
		"Code `is this. " + call + "` It is.",
		"Code `a` and `b` stand there. " + call + " `c`",
		"One tick ` stands there.\nThen this. " + call + " `c`",
		"Words that end here.\n{\"name\": \"search_code\", \"arguments\": {\"query\": \"a\"}}",
		"It is 3 < 4.\n" + call,
		"A list of <s> and\nthen " + call + "\n</s>",
		"Words that end </s>",
		"@@ -1 +1 @@\n+ " + call + "\n",
		"> quoted words and\n> " + call + "\n",
	} {
		want := comesTo(parse.Text(parse.Config{Tools: offered}, s))
		for n := 1; n < 12; n++ {
			p := parse.New(parse.Config{Tools: offered})
			var evs []utp.Event
			for i := 0; i < len(s); i += n {
				evs = append(evs, p.Feed(s[i:min(i+n, len(s))])...)
			}
			if got := comesTo(utp.Collect(append(evs, p.Close(false)...))); got != want {
				t.Errorf("%q in pieces of %d:\n got %s\nwant %s", s, n, got, want)
			}
		}
	}
}

// comesTo is what a reply comes to.
func comesTo(r utp.Reply) string {
	b, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
