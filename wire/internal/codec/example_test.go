package codec_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
)

// Two calls arrive at the same time; a client is told one after the other.
func Example() {
	var b codec.Builder
	b.Call(codec.Fragment{Index: 0, ID: "a", Name: "ls", Args: "{"})
	b.Call(codec.Fragment{Index: 1, ID: "b", Name: "grep", Args: `{"q":"x"}`})
	b.Call(codec.Fragment{Index: 0, Args: "}"})
	b.Finish(utp.End{Stop: utp.StopTool}, nil)

	var s codec.Sequence
	for _, e := range b.Take() {
		for _, e := range s.Add(e) {
			if e.Kind == utp.EventCallEnd {
				fmt.Println(e.Part, e.Call.ID, e.Call.Name, string(e.Call.Args))
			}
		}
	}
	// Output:
	// 0 a ls {}
	// 1 b grep {"q":"x"}
}
