package ollama

import (
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// reasons maps utp.Stop to done_reason: there is none for calls.
var reasons = map[utp.Stop]shape.Loose{
	utp.StopEnd: "stop", utp.StopSequence: "stop", utp.StopTool: "stop", utp.StopPause: "stop", utp.StopFilter: "stop", utp.StopLength: "length",
}

// speech is what a client's request says of the form of its reply.
type speech struct {
	head     replyJSON    // of the line that is written
	message  looseMessage // and of its message
	generate bool         // of /api/generate
	elapsed  func() time.Duration
	first    time.Duration // when the first event came
}

func speaking(r *utp.Request, end utp.End, s wire.Stamp) speech {
	_, model := s.Named(r, end)
	own, _ := codec.UnpackExtra(r.Extra, provider)
	head := replyJSON{Model: shape.Loose(model), Created: shape.Loose(time.Unix(s.Unix, 0).UTC().Format(time.RFC3339))}
	return speech{head: head, generate: own.Get(generate) != nil, elapsed: s.Elapsed}
}

// line writes a message with some of a reply, or with its end if last is a Finish.
func (s *speech) line(m looseMessage, last *utp.Event) []byte {
	j := &s.head
	var rest, own shape.Fields
	if last != nil {
		own, _ = codec.UnpackExtra(last.Extra, provider)
		rest = s.end(j, *last.End)
	}
	if s.generate {
		text := shape.Loose(m.Content.String())
		j.Response, j.Thinking = &text, shape.Loose(m.Thinking.String())
		return ofReply.Copy(j, rest)
	}
	if m.Role = "assistant"; m.Content.IsZero() {
		m.Content = empty
	}
	s.message = m
	j.Message.Raw = ofDelta.Copy(&s.message, own)
	return ofReply.Copy(j, rest)
}

var empty = shape.JSON("", nil)

// end says how a reply ended. The times are the server's own where it is Ollama.
func (s *speech) end(j *replyJSON, end utp.End) (rest shape.Fields) {
	j.Done, j.Reason = true, reasons[end.Stop]
	j.Prompt, j.Eval = shape.LooseInt(end.Usage.Prompt()), shape.LooseInt(end.Usage.Completion())
	rest, _ = codec.UnpackExtra(end.Extra, provider)
	for _, d := range durations(j) {
		if said := rest.Get(d.name); said != nil {
			_ = d.at.UnmarshalJSON(said)
			rest = rest.Without(d.name)
		}
	}
	if j.Total == 0 && s.elapsed != nil {
		j.Total, j.PromptDuration = shape.LooseInt(s.elapsed()), shape.LooseInt(s.first)
		j.EvalDuration = j.Total - j.PromptDuration
	}
	return rest
}

// Whole writes a complete reply. It fails for one that is broken.
func (Front) Whole(r *utp.Request, reply utp.Reply, s wire.Stamp) ([]byte, []wire.Loss, error) {
	w := whole{speech: speaking(r, reply.End, s)}
	var body []byte
	err := codec.Compose(r, reply, s, func(e utp.Event, words string) {
		if e.Kind != utp.EventFinish {
			w.add(e, words)
			return
		}
		w.ending(*e.End)
		body = w.line(w.message(), &e)
	})
	if err != nil {
		return nil, nil, err
	}
	return body, w.Losses, nil
}

// whole collects a complete message.
type whole struct {
	speech
	text, think string
	images      []shape.Value
	calls       []shape.Value
	codec.Outgoing
}

func (w *whole) add(e utp.Event, words string) {
	switch e.Kind {
	case utp.EventPartEnd:
		if t, ok := e.Value.(utp.Think); ok {
			w.think += words
			w.seal(t)
		} else {
			w.text += words
		}
	case utp.EventCallEnd:
		w.calls = append(w.calls, call(*e.Call, len(w.calls)))
		if w.generate {
			w.Lose("message.tool_calls", "dropped", "a reply of /api/generate has no calls")
		}
	case utp.EventWhole:
		w.part(e.Value)
	}
}

// seal reports what a client of this API cannot carry to the next turn.
func (w *whole) seal(t utp.Think) {
	if t.Signature != "" || t.Redacted {
		w.Lose("message.thinking", "its signature dropped", "a message has no place for it")
	}
}

func (w *whole) part(p utp.Part) {
	switch p := p.(type) {
	case utp.Text:
		w.text += p.Text
	case utp.Think:
		w.seal(p)
	case utp.Blob:
		if len(p.Data) > 0 && !w.generate {
			w.images = append(w.images, image(p))
			return
		}
		w.Lose("message.images", "dropped", "an answer holds images with their data")
	case utp.Unknown:
		w.Lose("message", "a part dropped", "only "+p.Provider+" understands it")
	}
}

// ending reports what the end of a reply cannot say.
func (w *whole) ending(end utp.End) {
	switch end.Stop {
	case utp.StopFilter, utp.StopPause, utp.StopSequence:
		w.Lose("done_reason", "sent as stop", "there is none for "+string(end.Stop))
	}
	if u := end.Usage; u.CacheRead+u.CacheWrite+u.Reasoning > 0 {
		w.Lose("prompt_eval_count, eval_count", "sums", "tokens are not counted by their kinds")
	}
}

func (w *whole) message() looseMessage {
	m := looseMessage{Content: shape.JSON(w.text, nil), Images: w.images}
	if w.think != "" {
		m.Thinking = shape.JSON(w.think, nil)
	}
	if len(w.calls) > 0 {
		m.ToolCalls = shape.JSON(w.calls, nil)
	}
	return m
}

func call(c utp.Call, index int) shape.Value {
	args, _ := codec.CallObject(c)
	own, _ := codec.UnpackExtra(c.Extra, provider)
	return shape.Value{Raw: ofCall.Write(callJSON{ID: c.ID, Function: functionJSON{index, c.Name, shape.Value{Raw: args}}}, own)}
}

// Writer writes a streamed reply. Calls are written when they are complete, those
// that are complete together in one line: clients take two lines for one call.
// Source: LiteLLM, ollama_chat, which ignores the index of a call.
func (Front) Writer(r *utp.Request, s wire.Stamp) wire.Writer {
	w := &writer{speech: speaking(r, utp.End{}, s)}
	w.Emitter = codec.Emitter{Sequence: codec.Sequence{NewID: s.NewID, Turn: len(r.Messages)}, Event: w.event, Fail: w.fail, Held: w.held}
	return w
}

type writer struct {
	speech
	codec.Emitter
	calls   int
	waiting []shape.Value // calls for the next line
}

// fail writes the error; no line with done follows.
func (w *writer) fail(err error) {
	w.held()
	_, body := Front{}.Error(err)
	w.Send("", body)
}

// held writes the calls that wait.
func (w *writer) held() {
	if len(w.waiting) > 0 {
		w.Send("", w.line(looseMessage{ToolCalls: shape.JSON(w.waiting, nil)}, nil))
		w.waiting = nil
	}
}

func (w *writer) event(e utp.Event) {
	if w.first == 0 && w.elapsed != nil {
		w.first = w.elapsed()
	}
	var m looseMessage
	switch e.Kind {
	case utp.EventText:
		m.Content = shape.JSON(e.Text, nil)
	case utp.EventThink:
		m.Thinking = shape.JSON(e.Text, nil)
	case utp.EventCallEnd:
		if w.generate {
			return // a reply of /api/generate has no calls
		}
		w.waiting = append(w.waiting, call(*e.Call, w.calls))
		w.calls++
		return
	case utp.EventWhole:
		if !m.whole(e.Value) {
			return
		}
	case utp.EventFinish:
		w.held()
		w.Send("", w.line(m, &e))
		return
	default:
		return
	}
	w.held()
	w.Send("", w.line(m, nil))
}

// whole takes a part that comes in one piece, if a message can hold it.
func (m *looseMessage) whole(p utp.Part) bool {
	switch p := p.(type) {
	case utp.Text:
		m.Content = shape.JSON(p.Text, nil)
		return true
	case utp.Blob:
		m.Images = []shape.Value{image(p)}
		return len(p.Data) > 0
	}
	return false
}

// Loaded is the answer to a request without messages, which asks only that the
// model be loaded.
func (Front) Loaded(r *utp.Request, s wire.Stamp) []byte {
	w := speaking(r, utp.End{}, s)
	w.head.Reason = "load"
	w.head.Done = true
	return w.line(looseMessage{}, nil)
}
