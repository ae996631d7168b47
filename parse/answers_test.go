package parse_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// A model that was told nothing of ReAct and answers in its words: where the
// caller asks for it, what stands before the final answer is no part of it. All
// other text stays.
//
// contract: P-35
func TestAnswersInTheWordsOfReAct(t *testing.T) {
	long := strings.Repeat("It goes on. ", 100)
	for _, c := range []struct{ name, text, want string }{
		{"a thought and an answer", "Thought: I have read it.\n\nNothing is missing.\nFinal Answer: It rains.\n\nTake a coat.", `think "I have read it.\n\nNothing is missing."` + "\n" + `text "It rains.\n\nTake a coat."`},
		{"in bold, behind a reasoner's thinking", "<think>Hm.</think>\n\n**Thought:** I know it.\n**Final Answer:** It rains.", `think "Hm."` + "\n" + `think "I know it."` + "\n" + `text "It rains."`},
		{"a thought without an answer", "Thought: five.\n\nIt is 5.", `text "Thought: five.\n\nIt is 5."`},
		{"a thought behind words", "ReAct goes so:\nThought: I know.\nFinal Answer: 42", `text "ReAct goes so:\nThought: I know.\nFinal Answer: 42"`},
		{"an answer without a thought", "Final Answer: is what ReAct says.", `text "Final Answer: is what ReAct says."`},
		{"a transcript with a call", "Thought: I look.\nAction: now\nAction Input: {}\nFinal Answer: noon", `text "Thought: I look.\nAction: now\nAction Input: {}\nFinal Answer: noon"`},
		{"a long thought", "Thought: " + long + "\nFinal Answer: 42", `text "Thought: ` + long + `\nFinal Answer: 42"`},
		{"a call behind the thought", "Thought: I look.\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>", `text "Thought: I look.\n"` + "\n" + `call now {} from=text:hermes`},
	} {
		cfg := parse.Config{Tools: schema.Compile([]utp.Tool{{Name: "now"}}), Answers: true}
		for size := 1; size <= len(c.text); size++ {
			p := parse.New(cfg)
			var evs []utp.Event
			for i := 0; i < len(c.text); i += size {
				evs = append(evs, p.Feed(c.text[i:min(i+size, len(c.text))])...)
			}
			evs = append(evs, p.Close(false)...)
			var raw strings.Builder
			for _, e := range evs {
				raw.WriteString(e.Raw)
			}
			if raw.String() != c.text {
				t.Fatalf("%s, in pieces of %d: the events are of %q", c.name, size, raw.String())
			}
			if got := parse.Transcript(utp.Collect(evs)); got != c.want+"\n" {
				t.Fatalf("%s, in pieces of %d:\n%swant\n%s", c.name, size, got, c.want)
			}
		}
	}
	if got := parse.Text(parse.Config{}, "Thought: I know.\nFinal Answer: 42").Text(); got != "Thought: I know.\nFinal Answer: 42" {
		t.Errorf("unasked: %q", got)
	}
}
