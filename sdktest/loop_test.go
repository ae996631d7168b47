package sdktest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
)

// loops are the SDKs that run tools by themselves until the model is done.
var loops = map[*sdk]string{
	npmChat: "openai", npmAnthropic: "anthropic", npmGemini: "gemini",
	aiChat: "ai-openai", aiResponses: "ai-responses", aiAnthropic: "ai-anthropic", aiGemini: "ai-gemini",
}

func says(text string, calls ...utp.Call) utp.Reply {
	r := utp.Reply{Message: utp.Message{Role: utp.RoleAssistant}, End: utp.End{Stop: utp.StopEnd}}
	if text != "" {
		r.Parts = append(r.Parts, utp.Text{Text: text})
	}
	for _, c := range calls {
		r.Parts, r.Stop = append(r.Parts, c), utp.StopTool
	}
	return r
}

// An SDK that runs the tools of a program goes through every turn by itself.
func TestSDKsRunTheLoop(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"x":{}}}`)
	r := hello()
	r.Tools = []utp.Tool{{Name: "f", Description: "F.", Schema: schema}, {Name: "g", Description: "G.", Schema: schema}}
	one := utp.Call{ID: "call_1", Name: "f", Args: []byte(`{"x":1}`)}
	two, three := utp.Call{ID: "call_2", Name: "g", Args: []byte(`{"x":[2,{}]}`)}, utp.Call{ID: "call_3", Name: "f", Args: []byte(`{}`)}
	replies := []utp.Reply{says("Looking.", one), says("", two, three), says("All done.")}
	want := *r
	for _, reply := range replies[:2] {
		want.Messages = append(want.Messages, reply.Message)
		for _, c := range reply.Calls() {
			want.Messages = append(want.Messages, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "ran "+c.Name)}})
		}
	}
	for s, name := range loops {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", s.name, stream), func(t *testing.T) {
				url, seen := listen(t, &model{replies: replies})
				var got struct {
					Text string
					Ran  []call
				}
				if err := node.order(npmOrder{SDK: name, Order: "loop", URL: url, Request: r, Stream: stream}, &got); err != nil {
					t.Fatalf("%v\n%s", err, seen.last().reply)
				}
				ran := []call{{"f", value(one.Args)}, {"g", value(two.Args)}, {"f", value(three.Args)}}
				if diff := cmp.Diff(ran, got.Ran); diff != "" || got.Text != "All done." {
					t.Errorf("text %q, ran (-want +got):\n%s", got.Text, diff)
				}
				s.same(t, &want, seen.last(), stream)
			})
		}
	}
}
