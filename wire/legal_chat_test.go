package wire_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// legalOpenAI is the state machine of chat completions' streams: chunks of one
// id, the role first, calls with dense indexes that begin with id and name and
// go on without, one finish_reason, then at most a chunk of counts without
// choices, then [DONE]. Source: API reference, "Chat completion chunk".
func legalOpenAI(frames []wire.Frame) string {
	s := chatStream{}
	for i, f := range frames {
		if wrong := s.frame(f, i == len(frames)-1); wrong != "" {
			return fmt.Sprintf("frame %d: %s: %s", i, wrong, f.Data)
		}
	}
	if s.state != "done" {
		return "no [DONE]"
	}
	return ""
}

type chatStream struct {
	state string // "", "open", "finished", "counted", "done"
	id    string
	calls []string // the arguments of each
}

type chatCall struct {
	Index    *int
	ID, Type string
	Function struct{ Name, Arguments string }
	Custom   *struct{ Name, Input string }
}

type chatChunk struct {
	ID, Object, Model string
	Created           *int64
	Usage             *struct{ Total *int }
	Choices           []struct {
		Index  *int
		Finish *string `json:"finish_reason"`
		Delta  *struct {
			Role  string
			Calls []chatCall `json:"tool_calls"`
		}
	}
}

func (s *chatStream) frame(f wire.Frame, last bool) string {
	if string(f.Data) == "[DONE]" {
		if s.state != "finished" && s.state != "counted" || !last {
			return "[DONE] comes last, behind the finish_reason"
		}
		s.state = "done"
		return ""
	}
	var c chatChunk
	if err := json.Unmarshal(f.Data, &c); err != nil {
		return err.Error()
	}
	if s.id == "" {
		s.id = c.ID
	}
	switch {
	case f.Event != "" || c.Object != "chat.completion.chunk" || c.ID == "" || c.ID != s.id || c.Created == nil || c.Model == "":
		return "not a chunk of this reply"
	case len(c.Choices) == 0 && c.Choices != nil && c.Usage != nil && s.state == "finished":
		s.state = "counted"
		return ""
	case len(c.Choices) != 1 || c.Choices[0].Index == nil || c.Choices[0].Delta == nil || c.Usage != nil:
		return "want one choice with a delta"
	}
	return s.choice(c)
}

func (s *chatStream) choice(c chatChunk) string {
	choice := c.Choices[0]
	switch {
	case (s.state == "") != (choice.Delta.Role == "assistant"):
		return "the role comes first and once"
	case s.state != "" && s.state != "open":
		return "comes after the finish_reason"
	}
	s.state = "open"
	for _, call := range choice.Delta.Calls {
		if wrong := s.call(call); wrong != "" {
			return wrong
		}
	}
	if choice.Finish != nil {
		s.state = "finished"
		return s.finish(*choice.Finish)
	}
	return ""
}

func (s *chatStream) call(c chatCall) string {
	name := c.Function.Name
	if c.Custom != nil {
		name = c.Custom.Name
	}
	switch {
	case c.Index == nil || *c.Index < 0 || *c.Index > len(s.calls):
		return "an index that leaves some out"
	case *c.Index == len(s.calls):
		if c.ID == "" || c.Type == "" || name == "" {
			return "a call that begins without id, type or name"
		}
		s.calls = append(s.calls, "")
	case *c.Index != len(s.calls)-1 || c.ID != "" || name != "":
		return "a call that goes on after another began, or begins twice"
	}
	s.calls[*c.Index] += c.Function.Arguments
	if c.Custom != nil {
		s.calls[*c.Index] = "{}"
	}
	return ""
}

// finish wants a reason of the API, calls if and only if it is tool_calls, and
// arguments that are objects.
func (s *chatStream) finish(reason string) string {
	if !containsWord("stop length tool_calls content_filter", reason) {
		return "no finish_reason of the API: " + reason
	}
	if (reason == "tool_calls") != (len(s.calls) > 0) && reason != "content_filter" {
		return fmt.Sprintf("%s with %d calls", reason, len(s.calls))
	}
	for _, args := range s.calls {
		if !shape.IsObject([]byte(args)) {
			return "arguments " + args
		}
	}
	return ""
}

// legalOllama wants lines of a model and a time with a message of the assistant
// or, in the last alone, the end: calls whole, with dense indexes.
// Source: Ollama docs/api.md and api/types.go.
func legalOllama(frames []wire.Frame) string {
	calls := 0
	for i, f := range frames {
		var line ollamaLine
		if err := json.Unmarshal(f.Data, &line); err != nil {
			return err.Error()
		}
		last := i == len(frames)-1
		switch m := line.Message; {
		case f.Event != "" || line.Model == "" || line.Created.IsZero() || line.Done == nil || *line.Done != last || (line.Reason != "") != last:
			return fmt.Sprintf("line %d: %s", i, f.Data)
		case m == nil || m.Role != "assistant" || m.Content == nil:
			return fmt.Sprintf("line %d: no message: %s", i, f.Data)
		case last && (!containsWord("stop length", line.Reason) || len(m.Calls) > 0 || *m.Content != ""):
			return fmt.Sprintf("the end: %s", f.Data)
		}
		for _, c := range line.Message.Calls {
			if c.Function.Name == "" || c.Function.Index != calls || !shape.IsObject(c.Function.Arguments) {
				return fmt.Sprintf("line %d: call %d: %s", i, calls, f.Data)
			}
			calls++
		}
	}
	if len(frames) == 0 {
		return "nothing"
	}
	return ""
}

type ollamaLine struct {
	Model   string
	Created time.Time `json:"created_at"`
	Done    *bool
	Reason  string `json:"done_reason"`
	Message *struct {
		Role    string
		Content *string
		Calls   []struct {
			ID       string
			Function struct {
				Index     int
				Name      string
				Arguments json.RawMessage
			}
		} `json:"tool_calls"`
	}
}
