package extract_test

import (
	"context"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend/extract"
)

// The first reply to a question is a call, written as text and parsed.
func Example() {
	r := &utp.Request{
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "Where are tool calls parsed?")},
		Tools:    []utp.Tool{{Name: "search_code"}},
	}
	for e, err := range extract.New().Stream(context.Background(), r) {
		if err != nil {
			panic(err)
		}
		if e.Kind == utp.EventCallEnd {
			fmt.Println(e.Call.Source, e.Call.Name, string(e.Call.Args))
		}
	}
	// Output: text:hermes search_code {"query":"tool calls parsed","limit":8}
}
