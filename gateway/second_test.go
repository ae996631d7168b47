package gateway

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// What a model is told before the second try, to the letter.
func TestWhatIsWrongIsSaid(t *testing.T) {
	x := &exchange{request: &utp.Request{Tools: []utp.Tool{{Name: "a", Description: "is <a>", Schema: []byte(`{"type":"object"}`)}, {Name: "b"}}}}
	const wanted = ` Answer again with nothing but one JSON object {"name": …, "arguments": {…}} for one of these tools:` + "\n" +
		`{"name":"a","description":"is <a>","parameters":{"type":"object"}}` + "\n" + `{"name":"b"}` + "\n"
	call := utp.Reply{Message: utp.Message{Parts: []utp.Part{utp.Call{Name: "c"}}}}
	broken := utp.Reply{Problems: []utp.Problem{{Kind: utp.ProblemMalformed, Offset: 3, Message: "1 < 2 && \"x\""}}}
	for _, tt := range []struct {
		why   string
		said  utp.Reply
		wrong string
	}{
		{"no call", call, "Your answer calls c, which may not be called now."},
		{"no call", utp.Reply{}, "Your answer had to be a call of a tool, and it was none."},
		{"broken call", broken, `The tool call in your answer cannot be read (offset 3: malformed: 1 < 2 && "x").`},
		{"broken call", utp.Reply{}, "The tool call in your answer cannot be read."},
	} {
		if got := x.complaint(tt.why, tt.said); got != tt.wrong+wanted {
			t.Errorf("%s:\n got %q\nwant %q", tt.why, got, tt.wrong+wanted)
		}
	}
}
