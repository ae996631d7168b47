package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/gateway"
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
		{"words in parentheses", "Action: run_commands(what was asked)", right, `{"commands":["ls"]}`, 2},
		{"arguments in parentheses", "Action: run_commands(commands=[\"ls\"])", right, `{"commands":["ls"]}`, 1},
		{"a tool that is none", "Action: no_such_tool\nAction Input: {\"commands\": [\"ls\"]}", right, "Action: no_such_tool", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, front := range apis {
				for _, stream := range []bool{false, true} {
					m := newModel(apiNamed("ollama"), func(turn int, _ *utp.Request) []utp.Event {
						if turn == 1 {
							return says("Thought: I look at the files.\n" + tt.action)
						}
						return says(tt.second)
					})

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
					if got != tt.want && (tt.want[0] == '{' || !strings.HasPrefix(got, tt.want)) || len(m.Asked()) != tt.tries {
						t.Errorf("%s, stream %v: %q after %d requests, want %q after %d", front.name, stream, got, len(m.Asked()), tt.want, tt.tries)
					}
				}
			}
		})
	}
}

// TestReActTextIsTheSameInEveryAPIAndHistory has a model think, call and answer
// in ReAct, told so or not, whatever the client's API, whether the client sends
// the conversation again or names the reply that it continues, with the tools or
// without: the labels of thoughts and answers are no content. Of a model that
// was not told so they are, until its calls follow the label of a thought.
//
// contract: P-35 P-37 A-22
func TestReActTextIsTheSameInEveryAPIAndHistory(t *testing.T) {
	for _, tt := range []struct {
		name          string
		form          []format.Layer
		thought       string // before the call
		first, second string // the texts that come out
	}{
		{"told", inReact, "Thought: I need a tool.\n", "", "It rains."},
		{"told otherwise", natively, "Thought: I need a tool.\n", "Thought: I need a tool.\n", "It rains."},
		{"told otherwise, without a label", natively, "", "", "Thought: I know it.\nFinal answer: It rains."},
	} {
		for _, front := range apis {
			for _, stream := range []bool{false, true} {
				for _, history := range []string{"resent", "resent without tools", "resent, no call allowed", "named"} {
					if history == "named" && front.name != "responses" {
						continue
					}
					m := newModel(apis[0], func(turn int, _ *utp.Request) []utp.Event {
						if turn == 1 {
							return says(tt.thought + "Action: get_weather\nAction Input: {\"city\": \"Paris\"}")
						}
						return says("Thought: I know it.\nFinal answer: It rains.")
					})
					url := start(t, m, backend.Config{Provider: "openai", Formats: tt.form}, func(c *gateway.Config) { c.NewID = ids() })
					name := fmt.Sprintf("%s, %s, stream %v, %s", tt.name, front.name, stream, history)

					q := offer(stream)
					q.Extra = json.RawMessage(`{"responses":{"store":true}}`)
					first, err := front.ask(t, url, q)
					calls := first.Calls()
					if err != nil || len(calls) != 1 || first.Text() != tt.first {
						t.Fatalf("%s: %q, %d calls, %v", name, first.Text(), len(calls), err)
					}
					q.Messages = append(q.Messages, first.Message, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{
						utp.Result{CallID: calls[0].ID, Name: calls[0].Name, Status: utp.StatusOK, Parts: []utp.Part{utp.Text{Text: "12 degrees"}}}}})
					switch history {
					case "resent without tools":
						q.Tools = nil
					case "resent, no call allowed":
						q.Choice.Mode = utp.ChoiceNone
					case "named":
						q.Messages = q.Messages[2:]
						q.Extra = json.RawMessage(`{"responses":{"previous_response_id":"` + first.ID + `"}}`)
					}
					second, err := front.ask(t, url, q)
					if text := second.Text(); err != nil || strings.TrimSpace(text) != tt.second {
						t.Errorf("%s: the answer is %q, %v", name, text, err)
					}
				}
			}
		}
	}
}
