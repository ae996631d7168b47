package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
)

// inReact tells every model its tools in ReAct.
var inReact = []format.Layer{{Format: "react"}}

// runCommands is a tool that takes no other argument than its own.
var runCommands = utp.Tool{Name: "run_commands", Schema: json.RawMessage(`{"type":"object","properties":{"commands":{"type":"array","items":{"type":"string"}}},"required":["commands"],"additionalProperties":false}`)}

// TestReActCallThatDoesNotFitIsNeverAnEmptyAnswer writes calls of ReAct that do
// not fit their schema or cannot be read, behind a thought: they are handed on
// or asked for again, and otherwise their words are the answer, whole and
// streamed alike, in every API.
//
// contract: P-31
func TestReActCallThatDoesNotFitIsNeverAnEmptyAnswer(t *testing.T) {
	const right = `{"name": "run_commands", "arguments": {"commands": ["ls"]}}`
	for _, tt := range []struct {
		name, action, second string
		want                 string // the arguments of a call, or words of the answer
		tries                int
	}{
		{"another key", "Action: run_commands\nAction Input: {\"command\": \"ls\"}", right, `{"command":"ls"}`, 1},
		{"no argument", "Action: run_commands\nAction Input: {}", right, `{}`, 1},
		{"one too many", "Action: run_commands\nAction Input: {\"commands\": [\"ls\"], \"why\": \"so\"}", right, `{"commands":["ls"],"why":"so"}`, 1},
		{"not to be read", "Action: run_commands\nAction Input: {\"commands\": ]}", right, `{"commands":["ls"]}`, 2},
		{"not to be read twice", "Action: run_commands\nAction Input: {\"commands\": ]}", "No.", "Action: run_commands", 2},
		{"arguments in parentheses", "Action: run_commands(\"ls\")", right, `{"commands":["ls"]}`, 2},
		{"a tool that is none", "Action: no_such_tool\nAction Input: {\"commands\": [\"ls\"]}", right, "Action: no_such_tool", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, front := range apis {
				for _, stream := range []bool{false, true} {
					m := &model{api: apiNamed("ollama"), say: func(turn int, _ *utp.Request) []utp.Event {
						if turn == 1 {
							return says("Thought: I look at the files.\n" + tt.action)
						}
						return says(tt.second)
					}}
					q := offer(stream)
					q.Tools = []utp.Tool{runCommands}
					reply, err := front.ask(t, start(t, m, backend.Config{Provider: "ollama", Formats: inReact}), q)
					if err != nil {
						t.Fatalf("%s, stream %v: %v", front.name, stream, err)
					}
					got := reply.Text()
					if calls := reply.Calls(); len(calls) == 1 && calls[0].Name == "run_commands" && got == "" {
						got = strings.ReplaceAll(string(calls[0].Args), " ", "")
					}
					if got != tt.want && (tt.want[0] == '{' || !strings.HasPrefix(got, tt.want)) || len(m.asked) != tt.tries {
						t.Errorf("%s, stream %v: %q after %d requests, want %q after %d", front.name, stream, got, len(m.asked), tt.want, tt.tries)
					}
				}
			}
		})
	}
}
