package embed_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/wire/embed"
)

func Example() {
	q, err := embed.Read(embed.Gemini, "/v1beta/models/nomic-embed-text:embedContent", []byte(`{"content":{"parts":[{"text":"Why is the sky blue?"}]}}`))
	if err != nil {
		panic(err)
	}
	path, body, _ := q.Open(embed.Ollama)
	fmt.Println(path, string(body))
	reply, err := q.ReadReply(embed.Ollama, []byte(`{"embeddings":[[0.01,-0.5]],"prompt_eval_count":7}`))
	answer, _ := q.WriteReply(reply)
	fmt.Println(string(answer), err)
	// Output:
	// /api/embed {"model":"nomic-embed-text","input":["Why is the sky blue?"]}
	// {"embedding":{"values":[0.01,-0.5]},"usageMetadata":{"promptTokenCount":7}} <nil>
}
