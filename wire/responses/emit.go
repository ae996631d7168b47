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
	codec.Outgoing
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

// head is a response without its output and its end.
func head(r *utp.Request, end utp.End, s wire.Stamp) responseJSON {
	p := r.Params
	id, model := s.Named(r, end)
	out := responseJSON{ID: id, Object: "response", Created: s.Unix, Status: underway, Model: model, Output: []json.RawMessage{},
		Parallel: r.Choice.Parallel == nil || *r.Choice.Parallel, Temperature: p.Temperature, TopP: p.TopP, MaxTokens: p.MaxTokens,
		ToolChoice: "auto", Tools: []struct{}{}}
	if r.Choice.Mode == utp.ChoiceNone || r.Choice.Mode == utp.ChoiceRequired {
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
		if e.Kind == utp.EventFinish {
			j.close(*e.End, c.out)
			return
		}
		c.part(e, words)
	})
	if err != nil {
		return nil, nil, err
	}
	return shape.JSON(j, nil).Raw, c.Losses, nil
}

// part adds the item of a part that is complete.
func (c *composer) part(e utp.Event, words string) {
	switch e.Kind {
	case utp.EventPartEnd:
		if t, think := e.Value.(utp.Think); think {
			c.add(c.thought(words, t))
		} else {
			c.add(c.text(done, plainText(words)))
		}
	case utp.EventCallEnd:
		c.add(c.call(*e.Call, done))
	case utp.EventWhole:
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
		c.Unsaid("output", p)
	default:
		c.Unsaid("output", p)
	}
	return nil
}

// Writer writes a streamed reply. Items are written one after another, so that
// their places are dense and in order.
func (Front) Writer(r *utp.Request, s wire.Stamp) wire.Writer {
	j := head(r, utp.End{}, s)
	w := &writer{response: j, composer: compose(r, j.ID)}
	w.Emitter = codec.Emitter{Sequence: codec.Sequence{NewID: s.NewID, Turn: len(r.Messages)}, Event: w.event, Fail: w.fail}
	return w
}

type writer struct {
	composer
	codec.Emitter
	response responseJSON
	number   int  // of the next event
	started  bool // response.created is written
	item     string
	words    []byte // of the open text or reasoning, or the arguments of the call
	open     *callItem
}

func (w *writer) fail(err error) {
	w.start()
	f := wire.FaultOf(err)
	w.response.Status = "failed"
	w.response.Error = &responseError{failure(f), f.Message}
	w.response.Output = append(w.response.Output, w.out...)
	w.send("failed", responseEvent{w.response})
}

// send writes an event: its type, its number, then body.
func (w *writer) send(name string, body any) {
	h := eventHead{"response." + name, w.number}
	w.number++
	head, tail := shape.JSON(h, nil).Raw, shape.JSON(body, nil).Raw
	w.Send(h.Type, append(append(head[:len(head)-1], ','), tail[1:]...))
}

// delta writes more of the open item.
func (w *writer) delta(name string, e deltaEvent) {
	e.Type, e.Number, e.Index, e.ItemID = "response."+name+".delta", w.number, len(w.out), w.item
	w.number++
	w.Send(e.Type, writeDelta.Write(e, nil))
}

func (w *writer) place() place { return place{len(w.out), w.item} }

func (w *writer) start() {
	if w.started {
		return
	}
	w.started = true
	w.send("created", responseEvent{w.response})
	w.send("in_progress", responseEvent{w.response})
}

func (w *writer) event(e utp.Event) {
	w.start()
	switch e.Kind {
	case utp.EventText:
		w.text(e.Text)
	case utp.EventThink:
		w.think(e.Text)
	case utp.EventPartEnd:
		switch t, think := e.Value.(utp.Think); {
		case think:
			w.endThink(t)
		case w.open != nil:
			w.cutCall()
		default:
			w.endText()
		}
	case utp.EventCallStart:
		item := w.call(*e.Call, underway)
		w.item, w.open = item.ID, &item
		w.added(item)
	case utp.EventCallDelta:
		w.arguments(e.Text)
	case utp.EventCallEnd:
		w.open = nil
		w.endCall(*e.Call)
	case utp.EventWhole:
		w.piece(e.Value)
	case utp.EventFinish:
		w.finish(*e.End)
	}
}

func (w *writer) added(item any) {
	w.send("output_item.added", itemEvent{len(w.out), shape.JSON(item, nil).Raw})
}

func (w *writer) done(item any) {
	index := len(w.out)
	w.send("output_item.done", itemEvent{index, w.add(item)})
	w.item, w.words = "", nil
}

func (w *writer) text(s string) {
	if w.item == "" {
		item := w.composer.text(underway)
		w.item = item.ID
		w.added(item)
		w.send("content_part.added", contentEvent{w.place(), 0, plainText("")})
	}
	w.words = append(w.words, s...)
	w.delta("output_text", deltaEvent{Delta: s, Content: new(int), Logprobs: []json.RawMessage{}})
}

func (w *writer) endText() {
	words := string(w.words)
	w.send("output_text.done", textDoneEvent{w.place(), 0, words, []struct{}{}})
	w.send("content_part.done", contentEvent{w.place(), 0, plainText(words)})
	w.done(w.composer.text(done, plainText(words)))
}

func (w *writer) think(s string) {
	if w.item == "" {
		item := w.thought("", utp.Think{Provider: provider})
		w.item = item.ID
		w.added(item)
		w.send("reasoning_summary_part.added", summaryPartEvent{w.place(), 0, summaryPart{"summary_text", ""}})
	}
	w.words = append(w.words, s...)
	w.delta("reasoning_summary_text", deltaEvent{Delta: s, Summary: new(int)})
}

func (w *writer) endThink(t utp.Think) {
	words := string(w.words)
	w.send("reasoning_summary_text.done", summaryDoneEvent{w.place(), 0, words})
	w.send("reasoning_summary_part.done", summaryPartEvent{w.place(), 0, summaryPart{"summary_text", words}})
	item := w.thought(words, t)
	item.ID = w.item
	w.done(item)
}

// isInput reports that the open item is a custom call: its input is text, not
// JSON, and goes out when it is complete.
func (w *writer) isInput() bool { return len(w.item) > 3 && w.item[:3] == "ctc" }

func (w *writer) arguments(s string) {
	if !w.isInput() {
		w.words = append(w.words, s...)
		w.delta("function_call_arguments", deltaEvent{Delta: s})
	}
}

// cutCall leaves a call as the output limit cut it.
func (w *writer) cutCall() {
	item := *w.open
	if item.Status, w.open = "incomplete", nil; !w.isInput() {
		args := string(w.words)
		item.Arguments = &args
	}
	w.done(item)
}

func (w *writer) endCall(c utp.Call) {
	if input, ok := codec.CustomInput(c); ok {
		c.RawArgs = input
	}
	if c.Kind = utp.FunctionCall; w.isInput() {
		c.Kind = utp.CustomCall
	}
	item := w.call(c, done)
	item.ID = w.item
	if w.isInput() {
		w.delta("custom_tool_call_input", deltaEvent{Delta: *item.Input})
		w.send("custom_tool_call_input.done", inputEvent{w.place(), *item.Input})
	} else {
		w.send("function_call_arguments.done", argumentsEvent{w.place(), item.Name, *item.Arguments})
	}
	w.done(item)
}

// piece writes a part in one piece.
func (w *writer) piece(p utp.Part) {
	if t, ok := p.(utp.Text); ok {
		w.text(t.Text)
		w.endText()
		return
	}
	if item := w.whole(p); item != nil {
		w.added(item)
		w.done(item)
	}
}

func (w *writer) finish(end utp.End) {
	w.response.close(end, w.out)
	w.send(w.response.Status, responseEvent{w.response})
}
