package responses

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// composer makes the output items of the events of a Sequence.
type composer struct {
	id      string // of the response, for the ids of the items
	members map[string]member
	custom  map[string]bool // tools with free text input
	out     []json.RawMessage
	losses  []wire.Loss
}

func compose(r *utp.Request, id string) composer {
	c := composer{id: strings.TrimPrefix(id, "resp_"), members: members(r.Tools), custom: map[string]bool{}}
	for _, t := range r.Tools {
		c.custom[t.Name] = t.Kind == utp.CustomTool
	}
	return c
}

// itemID is the id of the item that comes next.
func (c *composer) itemID(prefix string) string {
	return fmt.Sprintf("%s_%s_%d", prefix, c.id, len(c.out))
}

const done, underway = "completed", "in_progress"

func (c *composer) text(status string, content ...outputText) messageItem {
	if content == nil {
		content = []outputText{}
	}
	return messageItem{ID: c.itemID("msg"), Type: "message", Status: status, Role: "assistant", Content: shape.JSON(content, nil)}
}

func plainText(s string) outputText {
	return outputText{Type: "output_text", Text: s, Annotations: []json.RawMessage{}, Logprobs: []json.RawMessage{}}
}

// thought is reasoning with its own encrypted content, or a seal that brings
// another provider's back with the next request.
func (c *composer) thought(words string, t utp.Think) reasoningItem {
	item := reasoningItem{ID: c.itemID("rs"), Type: "reasoning", Summary: []summaryPart{}, Encrypted: t.Signature}
	if t.Provider != provider {
		item.Encrypted = codec.Seal(t)
	} else if t.ItemID != "" {
		item.ID = t.ItemID
	}
	if words != "" {
		item.Summary = append(item.Summary, summaryPart{"summary_text", words})
	}
	return item
}

// call is the item of a call, one that begins or one that is complete.
func (c *composer) call(call utp.Call, status string) callItem {
	item := callItem{Type: "function_call", Status: status, CallID: call.ID, Name: call.Name}
	if m, inside := c.members[call.Name]; inside {
		item.Namespace, item.Name = m.namespace, m.name
	}
	var input string
	if status == done {
		input = string(call.Args)
	}
	if !c.isCustom(call) {
		item.ID, item.Arguments = c.itemID("fc"), &input
		return item
	}
	item.ID, item.Type, item.Input = c.itemID("ctc"), "custom_tool_call", &input
	if words, ok := codec.CustomInput(call); ok && status == done {
		input = words
	}
	return item
}

func (c *composer) isCustom(call utp.Call) bool {
	return call.Kind == utp.CustomCall || c.custom[call.Name]
}

func (c *composer) add(item any) json.RawMessage {
	raw := shape.JSON(item, nil).Raw
	c.out = append(c.out, raw)
	return raw
}

func (c *composer) lose(why string) {
	c.losses = append(c.losses, wire.Loss{Path: "output", What: "dropped", Why: why})
}

// head is a response without its output and its end.
func head(r *utp.Request, end utp.End, s wire.Stamp) responseJSON {
	p := r.Params
	id, model := s.Named(r, end)
	out := responseJSON{ID: id, Object: "response", Created: s.Unix, Status: underway, Model: model, Output: []json.RawMessage{},
		Parallel: r.Choice.Parallel == nil || *r.Choice.Parallel, Temperature: p.Temperature, TopP: p.TopP, MaxTokens: p.MaxTokens,
		ToolChoice: "auto", Tools: []struct{}{}}
	if r.Choice.Mode == utp.None || r.Choice.Mode == utp.Required {
		out.ToolChoice = string(r.Choice.Mode)
	}
	return out
}

// close gives a response its end. A pause is completed: the API has no word for it.
func (j *responseJSON) close(end utp.End, output []json.RawMessage) {
	j.Status, j.Output = done, append(j.Output, output...)
	switch end.Stop {
	case utp.StopLength:
		j.Status, j.Incomplete = "incomplete", &incompleteJSON{"max_output_tokens"}
	case utp.StopFilter:
		j.Status, j.Incomplete = "incomplete", &incompleteJSON{"content_filter"}
	}
	u := usageJSON{Input: shape.LooseInt(end.Usage.Prompt()), Output: shape.LooseInt(end.Usage.Completion())}
	u.InputHow.Cached, u.InputHow.Written = shape.LooseInt(end.Usage.CacheRead), shape.LooseInt(end.Usage.CacheWrite)
	u.OutputHow.Reasoning = shape.LooseInt(end.Usage.Reasoning)
	u.Total = u.Input + u.Output
	j.Usage = &u
}

// Whole writes a complete reply. It fails for one that is broken.
func (Front) Whole(r *utp.Request, reply utp.Reply, s wire.Stamp) ([]byte, []wire.Loss, error) {
	j := head(r, reply.End, s)
	c := compose(r, j.ID)
	err := codec.Compose(r, reply, s, func(e utp.Event, words string) {
		if e.Kind == utp.Finish {
			j.close(*e.End, c.out)
			return
		}
		c.part(e, words)
	})
	if err != nil {
		return nil, nil, err
	}
	return shape.JSON(j, nil).Raw, c.losses, nil
}

// part adds the item of a part that is complete.
func (c *composer) part(e utp.Event, words string) {
	switch e.Kind {
	case utp.PartEnd:
		if t, think := e.Value.(utp.Think); think {
			c.add(c.thought(words, t))
		} else {
			c.add(c.text(done, plainText(words)))
		}
	case utp.CallEnd:
		c.add(c.call(*e.Call, done))
	case utp.Whole:
		if item := c.whole(e.Value); item != nil {
			c.add(item)
		}
	}
}

// whole is the item of a part that comes in one piece, or nil.
func (c *composer) whole(p utp.Part) any {
	switch p := p.(type) {
	case utp.Text:
		return c.text(done, plainText(p.Text))
	case utp.Think:
		return c.thought(p.Text, p)
	case utp.Unknown:
		if p.Provider == provider {
			return p.Raw
		}
		c.lose("only " + p.Provider + " understands it")
	default:
		c.lose("an answer cannot hold files here")
	}
	return nil
}
