package translate_test

import (
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire/translate"
)

// A client of Anthropic's API asks a server that has OpenAI's.
func Example() {
	x, err := translate.Pair{From: translate.Anthropic, To: translate.OpenAI}.Request([]byte(
		`{"model":"qwen3","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"metadata":{"team":"blue"}}`))
	if err != nil {
		panic(err)
	}
	fmt.Printf("POST %s\n%s\n", x.Path, x.Body)
	for _, l := range x.Losses {
		fmt.Printf("%s: %s: %s\n", l.Path, l.What, l.Why)
	}

	answer, _, err := x.Reply([]byte(`{"id":"c1","model":"qwen3","choices":[{"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(answer))
	// Output:
	// POST /v1/chat/completions
	// {"model":"qwen3","messages":[{"role":"user","content":"Hi"}],"max_tokens":9}
	// metadata: said in part: only anthropic has all of it
	// {"id":"c1","type":"message","role":"assistant","model":"qwen3","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}
}

// A stream is passed on as it comes: here the reader of a reply of Ollama's has
// the words before the reply is over.
func ExampleStream() {
	answer, err := translate.Pair{From: translate.Ollama, To: translate.OpenAI, Model: "qwen3"}.Answer()
	if err != nil {
		panic(err)
	}
	s := answer.Stream()
	for _, piece := range []string{`{"message":{"content":"He`, "llo.\"},\"done\":false}\n", "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n"} {
		out := string(s.Feed([]byte(piece)))
		fmt.Println(strings.Count(out, "Hello."), strings.Count(out, "[DONE]"))
	}
	if _, err := s.Close(); err != nil {
		panic(err)
	}
	// Output:
	// 0 0
	// 1 0
	// 0 1
}
