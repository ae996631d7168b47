package wire_test

import (
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// The body of an HTTP answer is read as it comes. One that breaks off ends in an error,
// after what came of it.
func ExampleEvents() {
	exchange, err := openai.Back{}.Open(&utp.Request{Model: "qwen3", Stream: true, Messages: utp.Question("Hi").Messages})
	if err != nil {
		panic(err)
	}
	body := strings.NewReader("data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\", you\"}}]}\n\n")
	for event, err := range wire.Events(exchange, body) {
		switch {
		case err != nil:
			fmt.Println("error:", err)
		case event.Kind == utp.EventText:
			fmt.Printf("%q\n", event.Text)
		}
	}
	// Output:
	// "Hello"
	// ", you"
	// error: the stream ended before the reply was complete
}

// A stream passes from bytes to frames to events.
func Example() {
	var back wire.Back = ollama.Back{}
	x, err := back.Open(&utp.Request{
		Model: "qwen3", Stream: true,
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "Weather in Paris?")},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("POST %s\n%s\n", x.Path, x.Body)

	decoder, reader := x.Framing.Decoder(), x.Reader(nil)
	frames, err := decoder.Feed([]byte(`{"message":{"content":"22°C"},"done":false}
{"message":{"content":""},"done":true,"done_reason":"stop","eval_count":3}
`))
	if err != nil {
		panic(err)
	}
	var evs []utp.Event
	for _, f := range frames {
		evs = append(evs, reader.Feed(f)...)
	}
	evs = append(evs, reader.Close()...)
	reply := utp.Collect(evs)
	fmt.Println(reply.Text(), reply.Stop, reply.Usage.Output, reader.Err())
	// Output:
	// POST /api/chat
	// {"model":"qwen3","messages":[{"role":"user","content":"Weather in Paris?"}],"stream":true}
	// 22°C end 3 <nil>
}
