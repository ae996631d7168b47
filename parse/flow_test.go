package parse_test

import (
	"encoding/json"
	"slices"
	"strings"
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
		"Cats and a fig to eat [x] as [y] ~ in -> a `tick` or — [" + call + " to a",
		"A turn that ends in a",
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

// A byte that may begin something waits, and the piece before it does not. What the
// provider says of a piece goes with all of it or is dropped.
func TestLastByteOfAPieceWaits(t *testing.T) {
	p := parse.New(parse.Config{Tools: offered})
	var got []string
	for _, piece := range []string{"It is a", " list", " of f", "iles", " [", "x] a", "s is"} {
		for _, e := range p.Through(utp.Event{Kind: utp.EventText, Text: piece, Extra: []byte(`1`)}) {
			got = append(got, e.Text+"|"+string(e.Extra))
		}
	}
	want := []string{"It is |", "a list|", " of |", "files|", " |", "[x] |", "as is|"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An event is the caller's: what it sets there does not come with the next.
func TestEventsOfAFlowAreTheCallers(t *testing.T) {
	p := parse.New(parse.Config{})
	p.Feed("It is ")
	for range 3 {
		evs := p.Feed("so, ")
		if e := evs[0]; len(evs) != 1 || e.Call != nil || e.Value != nil || e.Problem != nil || e.End != nil || e.Extra != nil {
			t.Fatalf("%+v", evs)
		}
		evs[0] = utp.Event{Kind: utp.EventProblem, Part: 7, Call: &utp.Call{}, Value: utp.Text{}, Problem: &utp.Problem{}, End: &utp.End{}, Extra: []byte("1")}
	}
}

// Words in small pieces of which many wait take little memory: many share it.
func TestPiecesThatWaitShareMemory(t *testing.T) {
	words := strings.Repeat("of a", 1000)
	allocs := testing.AllocsPerRun(5, func() {
		p := parse.New(parse.Config{})
		for i := 0; i < len(words); i += 4 {
			p.Feed(words[i : i+4])
		}
	})
	if allocs > 100 {
		t.Errorf("%.0f allocations for 1,000 pieces", allocs)
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
