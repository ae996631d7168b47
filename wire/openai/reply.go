package openai

import (
	"errors"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// stops maps finish_reason. "error" and "abort" are OpenRouter's, vLLM's and
// SGLang's words for a reply that broke.
var stops = map[string]utp.Stop{
	"stop": utp.StopEnd, "length": utp.StopLength, "tool_calls": utp.StopTool, "function_call": utp.StopTool,
	"content_filter": utp.StopFilter, "error": utp.StopError, "abort": utp.StopError,
	"insufficient_system_resource": utp.StopError,  // DeepSeek
	"model_length":                 utp.StopLength, // Mistral
}

type answer struct {
	names *codec.Names
	back  map[string]*dialect.Coercion // by the tools' own names
	model string
}

func (a answer) reader(newID func() string) wire.Reader {
	return &reader{answer: a, Incoming: codec.NewIncoming(provider, a.model, a.names, newID)}
}

type reader struct {
	codec.Incoming
	answer
	in       replyJSON
	piece    deltaJSON
	finished bool // a finish_reason or [DONE] was seen
	held     *held
	chosen   shape.Fields  // what only this API says of the choice
	details  []shape.Value // reasoning_details that only their server understands
}

func (r *reader) Feed(f wire.Frame) []utp.Event {
	switch {
	case r.Over, len(f.Data) == 0, f.Event == "ping":
	case f.Done():
		r.finished = true
		r.close()
	default:
		r.chunk(f.Data)
	}
	return r.Take()
}

func (r *reader) Close() []utp.Event {
	if r.finished {
		r.close()
	}
	r.Fail(wire.ErrCut)
	return r.Take()
}

func (r *reader) close() {
	if r.End.Stop == "" {
		r.End.Stop = utp.StopEnd
	}
	r.release(false)
	if len(r.details) > 0 {
		r.Extra = r.Extra.Set("reasoning_details", shape.List(r.details).Raw)
	}
	if len(r.chosen) > 0 {
		r.About = r.About.Set(options, shape.List([]shape.Value{{Raw: r.chosen.Raw()}}).Raw)
	}
	if r.End.Stop == utp.StopError {
		r.Fail(&wire.Error{Message: "the server broke the reply off"})
	}
	r.Finish()
}

func (r *reader) chunk(data []byte) {
	j := &r.in
	if err := ofReply.Into(j, shape.Value{Raw: data}); err != nil {
		e := wire.ReadError(0, data)
		e.Type = wire.NotThisAPI
		e.Message = "the server sent something that is no chat completion (" + err.Error() + "): " + e.Body
		r.Fail(e)
		return
	}
	if k := j.Error.Kind(); k != 0 && k != 'f' || j.Object == "error" { // vLLM's older form
		r.Fail(wire.ReadError(0, data))
		return
	}
	r.note(j)
	for i := range j.Choices {
		if j.Choices[i].Index == 0 {
			r.choice(&j.Choices[i])
		}
	}
	switch {
	case j.Choices != nil:
	case ofAnother(j.Rest):
		r.Foreign(data, errors.New("want choices, and this is another API's"))
	default:
		r.bare(j.Message, data)
	}
}

// ofAnother knows what Anthropic and OpenAI's Responses send: read as a bare message
// it would be an empty reply.
func ofAnother(rest shape.Fields) bool {
	kind := shape.Value{Raw: rest.Get("type")}.String()
	return kind == "message_start" || kind == "message" && rest.Get("stop_reason") != nil || strings.HasPrefix(kind, "response.")
}

// note keeps what stands beside the choices.
func (r *reader) note(j *replyJSON) {
	if j.ID != "" {
		r.End.ID = string(j.ID)
	}
	if j.Model != "" {
		r.End.Model = string(j.Model)
	}
	if j.Usage != nil {
		r.End.Usage = j.Usage.usage()
	}
	if j.Choices != nil {
		r.About = told(r.About, j.Rest)
	}
}

// told adds the fields that say something.
func told(f, more shape.Fields) shape.Fields {
	for _, m := range more {
		if s := string(m.Value); s != "null" && s != "{}" && m.Name != "obfuscation" {
			f = f.Set(m.Name, slices.Clone(m.Value))
		}
	}
	return f
}

// bare reads a reply without choices, which may be a message.
func (r *reader) bare(message shape.Value, data []byte) {
	if message.IsZero() {
		message.Raw = data
	}
	if r.message(message, true) || r.piece.Role == "assistant" {
		r.finished = true
	}
}

func (r *reader) choice(c *optionJSON) {
	r.chosen = told(r.chosen, c.Rest)
	if !c.Delta.IsZero() {
		r.message(c.Delta, false)
		if c.Logprobs.Kind() == '{' {
			r.Beside(codec.PackExtra(provider, shape.Fields{{Name: "logprobs", Value: c.Logprobs.Raw}}))
		}
	}
	if !c.Message.IsZero() {
		r.message(c.Message, true)
		r.finished = r.finished || r.in.Object != "chat.completion.chunk"
		if !c.Logprobs.IsZero() {
			r.About = told(r.About, shape.Fields{{Name: "logprobs", Value: c.Logprobs.Raw}})
		}
	}
	if c.Finish == nil || *c.Finish == "" {
		return
	}
	stop, known := stops[string(*c.Finish)]
	if !known {
		stop = utp.StopEnd
	}
	r.stop(stop, c.StopReason.String())
}

func (r *reader) stop(stop utp.Stop, sequence string) {
	r.finished = true
	if r.End.Stop != utp.StopFilter {
		r.End.Stop = stop
	}
	if stop == utp.StopEnd && sequence != "" {
		r.End.Stop, r.End.StopSeq = utp.StopSequence, sequence
	}
	cut := stop == utp.StopLength || stop == utp.StopError
	r.release(cut)
	r.EndCalls(cut)
}

// message takes a delta or, whole, a complete message. It reports whether it
// said anything.
func (r *reader) message(v shape.Value, whole bool) (some bool) {
	d := &r.piece
	if ofDelta.Into(d, v) != nil {
		return false
	}
	said := codec.ReadContent(d.Content)
	if whole && d.Content.Kind() == 0 { // Cohere
		said = codec.ReadContent(d.Text)
	}
	some = r.reasoning(d, said.Think, whole)
	r.Text(said.Text)
	if d.Refusal != "" {
		r.Text(string(d.Refusal))
		r.End.Stop = utp.StopFilter
	}
	calls := codec.Listed(d.ToolCalls)
	if d.FunctionCall.Kind() == '{' {
		calls = append(calls, shape.Value{Raw: ofCall.Write(callJSON{Index: new(int)}, shape.Fields{{Name: "function", Value: d.FunctionCall.Raw}})})
	}
	for _, c := range calls {
		r.call(c, whole)
	}
	r.keep(d.Rest)
	return some || said.Text != "" || d.Refusal != "" || len(calls) > 0
}

// keep keeps what the API says of the message; that there is nothing to say is nothing.
func (r *reader) keep(rest shape.Fields) {
	for _, f := range rest {
		if s := string(f.Value); s != "[]" && s != "{}" {
			r.Keep(shape.Fields{f})
		}
	}
}

// reasonOf is the reasoning beside a message's content and the field that it came
// in. A server that sends it in two fields sends it twice.
func reasonOf(d *deltaJSON) (words, field string) {
	for _, f := range []struct {
		name  string
		value *shape.Value
	}{{"reasoning_content", &d.ReasoningContent}, {"reasoning", &d.Reasoning}, {"thinking", &d.Thinking}, {"tool_plan", &d.Plan}} {
		if words = codec.ReadContent(*f.value).Text; words != "" {
			return words, f.name
		}
	}
	return "", ""
}

// reasoning takes reasoning; inner is what stood in the content. Of a stream the
// words come first, and what seals them behind them.
func (r *reader) reasoning(d *deltaJSON, inner string, whole bool) (some bool) {
	words, field := reasonOf(d)
	if field == "" {
		words, field = inner, "content"
	}
	about := utp.Think{Provider: provider, Extra: origins[field]}
	if !whole {
		r.Think(words, about)
		words = ""
	}
	about.Text = words
	thinks, others := reasoned(about, codec.Listed(d.Details))
	r.details = append(r.details, others...)
	for _, t := range thinks {
		switch {
		case !whole:
			r.Sign(t)
		case t.Provider == provider: // a text, in which there may be calls
			r.Think(t.Text, t)
			r.EndPart()
		default:
			r.Part(t)
		}
	}
	return words != "" || whole && len(thinks) > 0
}

// call takes a piece of a call.
func (r *reader) call(v shape.Value, whole bool) {
	read := codec.ReadCall
	if whole {
		read = codec.ReadWholeCall
	}
	f, rest := read(v)
	if custom := rest.Get("custom"); custom != nil {
		c, _ := ofCustom.Read(shape.Value{Raw: custom})
		f.Name, f.Args = c.Name, c.Input
		r.hold(&held{Fragment: f, custom: true})
		return
	}
	if len(rest) > 0 {
		f.Extra = callExtra(rest)
	}
	back := r.back[r.names.In(f.Name)]
	if back != nil || r.held != nil && f.Index == r.held.Index && f.Name == "" {
		r.hold(&held{Fragment: f, back: back})
		return
	}
	r.release(false)
	r.Call(f)
}

// held is a call that can be given only when it is complete.
type held struct {
	codec.Fragment
	custom bool // the arguments are free text
	back   *dialect.Coercion
}

// hold collects a call until another begins.
func (r *reader) hold(h *held) {
	if r.held != nil && r.held.Index == h.Index && h.Name == "" {
		r.held.Args += h.Args
		if len(h.Extra) > 0 {
			r.held.Extra = h.Extra
		}
		return
	}
	r.release(false)
	r.held = h
}

// release gives the call that was held. One that was cut stays open.
func (r *reader) release(cut bool) {
	h := r.held
	if h == nil {
		return
	}
	r.held = nil
	if h.custom {
		h.Args = string(codec.CustomArgs(h.Args))
		if cut {
			h.Args = h.Args[:len(h.Args)-1]
		}
	} else {
		h.Args = string(h.back.Apply([]byte(h.Args)))
	}
	r.Call(h.Fragment)
}
