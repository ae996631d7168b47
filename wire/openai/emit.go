package openai

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// reasons maps utp.Stop to finish_reason.
var reasons = map[utp.Stop]shape.Loose{
	utp.StopEnd: "stop", utp.StopSequence: "stop", utp.StopTool: "tool_calls", utp.StopPause: "stop",
	utp.StopLength: "length", utp.StopFilter: "content_filter",
}

func usage(u utp.Usage) *usageJSON {
	out := &usageJSON{Prompt: shape.LooseInt(u.Prompt()), Completion: shape.LooseInt(u.Completion()), Total: shape.LooseInt(u.Prompt() + u.Completion())}
	out.PromptHow = &promptHow{shape.LooseInt(u.CacheRead), shape.LooseInt(u.CacheWrite)}
	out.CompletionHow = &completionHow{shape.LooseInt(u.Reasoning)}
	return out
}

// besideCall is the inverse of callExtra.
func besideCall(extra json.RawMessage) shape.Fields {
	own, foreign := codec.UnpackExtra(extra, provider)
	if !foreign {
		return own
	}
	signature, others := codec.ThoughtSignature(extra)
	content, _ := shape.Members(shape.Value{Raw: own.Get("extra_content")})
	if signature != "" && content.Get("google") == nil {
		content = content.Set("google", shape.Fields(nil).WithText("thought_signature", signature).Raw())
	}
	if others = others.Without(provider); len(others) > 0 {
		content = content.Set(carry, others.Raw())
	}
	return own.Set("extra_content", content.Raw())
}

// detail is reasoning with what it needs to be sent back to who made it, or
// nothing if that is nothing.
func detail(t utp.Think, words string) (list []shape.Value) {
	if seal := codec.Seal(t); seal != "" && t.Provider != provider {
		d := detailJSON{Type: "reasoning.text", Text: words, Signature: seal, Format: "unknown"}
		list = append(list, shape.Value{Raw: ofDetail.Write(d, nil)})
	}
	return list
}

var (
	ofHead   = shape.Of[headJSON]()
	ofOption = shape.Of[optionJSON]()
)

// dialogue is what a client's request says of the form of its reply.
type dialogue struct {
	head   headJSON
	custom map[string]bool // tools with free text input
	old    bool            // a call is a function_call
	usage  bool            // a stream ends with the counts
}

func answering(r *utp.Request, end utp.End, s wire.Stamp, object string) dialogue {
	id, model := s.Named(r, end)
	d := dialogue{}
	d.head = headJSON{ID: id, Object: object, Created: s.Unix, Model: model}
	for _, t := range r.Tools {
		if t.Kind == utp.CustomTool {
			if d.custom == nil {
				d.custom = map[string]bool{}
			}
			d.custom[t.Name] = true
		}
	}
	own, _ := codec.UnpackExtra(r.Extra, provider)
	o, err := ofOptions.Read(shape.Value{Raw: own.Get("stream_options")})
	d.usage = err == nil && o.IncludeUsage
	d.old = own.Get(legacy) != nil
	return d
}

// end closes a reply's only choice. own belongs to that, rest to the reply.
func (d *dialogue) end(c *optionJSON, end utp.End) (own, rest shape.Fields) {
	reason := reasons[end.Stop]
	if d.old && end.Stop == utp.StopTool {
		reason = "function_call"
	}
	c.Finish = &reason
	if end.StopSeq != "" {
		c.StopReason = shape.Quote(end.StopSeq)
	}
	rest, _ = codec.UnpackExtra(end.Extra, provider)
	c.Logprobs.Raw = rest.Get("logprobs")
	if list, err := (shape.Value{Raw: rest.Get(options)}).Elements(); err == nil && len(list) > 0 {
		own, _ = shape.Members(list[0])
	}
	return own, rest.Without("logprobs", options)
}

// Whole writes a complete reply. It fails for one that is broken.
func (Front) Whole(r *utp.Request, reply utp.Reply, s wire.Stamp) ([]byte, []wire.Loss, error) {
	w := whole{dialogue: answering(r, reply.End, s, "chat.completion")}
	var body []byte
	err := codec.Compose(r, reply, s, func(e utp.Event, words string) {
		if e.Kind != utp.EventFinish {
			w.add(e, words)
			return
		}
		var c optionJSON
		of, rest := w.end(&c, *e.End)
		if c.Logprobs.Raw == nil {
			c.Logprobs = null
		}
		own, _ := codec.UnpackExtra(e.Extra, provider)
		c.Message = w.message(own)
		w.head.Choices, w.head.Usage = []shape.Value{{Raw: ofOption.Write(c, of)}}, usage(e.End.Usage)
		body = ofHead.Write(w.head, rest)
	})
	if err != nil {
		return nil, nil, err
	}
	return body, w.Losses, nil
}

// whole collects a complete message.
type whole struct {
	dialogue
	text, think string
	details     []shape.Value
	calls       []shape.Value
	codec.Outgoing
}

func (w *whole) add(e utp.Event, words string) {
	switch e.Kind {
	case utp.EventPartEnd:
		if t, ok := e.Value.(utp.Think); ok {
			w.think += words
			w.details = append(w.details, detail(t, words)...)
		} else {
			w.text += words
		}
	case utp.EventCallEnd:
		w.calls = append(w.calls, w.call(*e.Call, nil))
	case utp.EventWhole:
		switch p := e.Value.(type) {
		case utp.Text:
			w.text += p.Text
		case utp.Think:
			w.details = append(w.details, detail(p, "")...)
		default:
			w.Unsaid("content", p)
		}
	}
}

// null is what fields hold that the API always writes.
var null = shape.Value{Raw: json.RawMessage("null")}

// message has a null content beside calls when there is no text.
func (w *whole) message(rest shape.Fields) shape.Value {
	if rest.Get(refusal) == nil {
		rest = append(shape.Fields{{Name: refusal, Value: null.Raw}}, rest...)
	}
	m := messageJSON{Role: "assistant", Content: shape.Quote(w.text), ToolCalls: w.calls}
	if w.text == "" && len(w.calls) > 0 {
		m.Content = shape.Value{}
	}
	if w.think != "" {
		m.ReasoningContent = shape.Quote(w.think)
	}
	m.Details = append(m.Details, w.details...)
	if w.old && len(w.calls) > 0 {
		c, _ := ofCall.Read(w.calls[0])
		m.ToolCalls, m.FunctionCall = nil, shape.Value{Raw: ofFunction.Write(*c.Function, nil)}
	}
	return shape.Value{Raw: ofMessage.Write(m, rest)}
}

// call writes a complete call. One of a custom tool has its input as it is.
func (d *dialogue) call(c utp.Call, index *int) shape.Value {
	j := callJSON{Index: index, ID: c.ID, Type: "function"}
	if input, ok := codec.CustomInput(c); ok && d.custom[c.Name] {
		j.Type, j.Custom = "custom", &customCall{c.Name, input}
	} else {
		args, _ := codec.CallObject(c)
		j.Function = &functionCall{c.Name, shape.Quote(string(args))}
	}
	return shape.Value{Raw: ofCall.Write(j, besideCall(c.Extra))}
}

// Writer writes a streamed reply. Calls get dense indexes in the order in which
// they begin.
func (Front) Writer(r *utp.Request, s wire.Stamp) wire.Writer {
	w := &writer{dialogue: answering(r, utp.End{}, s, "chat.completion.chunk")}
	w.Emitter = codec.Emitter{Sequence: codec.Sequence{NewID: s.NewID, Turn: len(r.Messages)}, Event: w.event, Fail: w.fail}
	return w
}

type writer struct {
	dialogue
	codec.Emitter
	begun bool // the role is written
	think []byte
	index int  // of the call
	whole bool // it is written when it is complete
	open  bool // it is begun, and written as it comes
	// beside is that what belongs to the call is written.
	beside bool
}

// fail writes the error; the end mark does not follow.
func (w *writer) fail(err error) {
	_, body := Front{}.Error(err)
	w.Send("", body)
}

func (w *writer) send(c optionJSON, own, rest shape.Fields) {
	w.head.Choices = append(w.head.Choices[:0], shape.Value{Raw: ofOption.Copy(&c, own)})
	w.Send("", ofHead.Copy(&w.head, rest))
}

func (w *writer) delta(d deltaJSON) {
	w.send(optionJSON{Delta: shape.Value{Raw: ofDelta.Write(d, nil)}}, nil, nil)
}

// calls writes an entry of tool_calls.
func (w *writer) call(c shape.Value) {
	w.delta(deltaJSON{ToolCalls: shape.JSON([]shape.Value{c}, nil)})
}

func (w *writer) event(e utp.Event) {
	if !w.begun {
		w.begun = true
		w.delta(deltaJSON{Role: "assistant", Content: shape.Quote("")})
	}
	switch e.Kind {
	case utp.EventText:
		own, _ := codec.UnpackExtra(e.Extra, provider)
		w.send(optionJSON{Delta: shape.Value{Raw: ofDelta.Write(deltaJSON{Content: shape.Quote(e.Text)}, nil)}, Logprobs: shape.Value{Raw: own.Get("logprobs")}}, nil, nil)
	case utp.EventThink:
		w.think = append(w.think, e.Text...)
		w.delta(deltaJSON{ReasoningContent: shape.Quote(e.Text)})
	case utp.EventPartEnd:
		t, ok := e.Value.(utp.Think)
		switch {
		case ok:
			w.detail(t)
		case w.open: // the output limit cut the call
			w.open = false
			w.index++
		}
	case utp.EventCallStart, utp.EventCallDelta, utp.EventCallEnd:
		w.callEvent(e)
	case utp.EventWhole:
		switch p := e.Value.(type) {
		case utp.Text:
			w.delta(deltaJSON{Content: shape.JSON(p.Text, nil)})
		case utp.Think:
			w.detail(p)
		}
	case utp.EventFinish:
		w.finish(e)
	}
}

func (w *writer) detail(t utp.Think) {
	if list := detail(t, string(w.think)); list != nil {
		w.delta(deltaJSON{Details: shape.JSON(list, nil)})
	}
	w.think = nil
}

// callEvent writes a piece of a call. A custom call is written when it is complete.
func (w *writer) callEvent(e utp.Event) {
	if e.Kind == utp.EventCallStart {
		w.whole = w.custom[e.Call.Name]
	}
	j := callJSON{Index: &w.index}
	switch {
	case w.old:
		w.oldCall(e)
	case e.Kind == utp.EventCallEnd && w.whole:
		w.call(w.dialogue.call(*e.Call, &w.index))
	case e.Kind == utp.EventCallEnd:
		if rest := besideCall(e.Call.Extra); rest != nil && !w.beside {
			j.Function = &functionCall{Arguments: shape.JSON("", nil)} // clients check that it is there
			w.call(shape.Value{Raw: ofCall.Write(j, rest)})
		}
	case w.whole:
	case e.Kind == utp.EventCallStart:
		j.ID, j.Type, j.Function = e.Call.ID, "function", &functionCall{e.Call.Name, shape.Quote("")}
		rest := besideCall(e.Call.Extra) // clients look for it here
		w.beside = rest != nil
		w.call(shape.Value{Raw: ofCall.Write(j, rest)})
	default:
		j.Function = &functionCall{Arguments: shape.Quote(e.Text)}
		w.call(shape.Value{Raw: ofCall.Write(j, nil)})
	}
	w.open = e.Kind != utp.EventCallEnd && !w.whole
	if e.Kind == utp.EventCallEnd {
		w.index++
	}
}

// oldCall writes a piece of a function_call, of which a message has one.
func (w *writer) oldCall(e utp.Event) {
	f := functionCall{Arguments: shape.Quote(e.Text)}
	if e.Kind == utp.EventCallStart {
		f.Name = e.Call.Name
	}
	if w.index == 0 && e.Kind != utp.EventCallEnd {
		w.delta(deltaJSON{FunctionCall: shape.Value{Raw: ofFunction.Write(f, nil)}})
	}
}

func (w *writer) finish(e utp.Event) {
	var c optionJSON
	of, rest := w.end(&c, *e.End)
	own, _ := codec.UnpackExtra(e.Extra, provider)
	c.Delta = shape.Value{Raw: ofDelta.Write(deltaJSON{}, own)}
	w.send(c, of, rest)
	if w.dialogue.usage {
		w.head.Choices, w.head.Usage = []shape.Value{}, usage(e.End.Usage)
		w.Send("", ofHead.Write(w.head, nil))
	}
	w.Send("", []byte("[DONE]"))
}
