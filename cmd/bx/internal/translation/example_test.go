package translation_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/translation"
)

func Example() {
	from, _ := translation.Named("anthropic")
	to, _ := translation.Named("ollama")
	t := translation.Translation{From: from, To: to}
	t.Request([]byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"metadata":{"team":"blue"}}`))
	fmt.Printf("%s%s\n%v\n", t.Out, t.Path, t.Losses)
	// Output:
	// {
	//   "model": "m",
	//   "messages": [
	//     {
	//       "role": "user",
	//       "content": "Hi"
	//     }
	//   ],
	//   "stream": false,
	//   "options": {
	//     "num_predict": 9
	//   }
	// }
	// /api/chat
	// [{metadata said in part only anthropic has all of it}]
}
