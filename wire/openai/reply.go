package openai

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// replyJSON is a whole reply or a chunk of one.
type replyJSON struct {
	ID      wire.Loose        `json:"id"`
	Model   wire.Loose        `json:"model"`
	Choices []choiceJSON      `json:"choices"`
	Usage   *usageJSON        `json:"usage"`
	Error   json.RawMessage   `json:"error"`
	Message *wire.ChatMessage `json:"message"` // a bare choice
}

type choiceJSON struct {
	Index        wire.LooseInt     `json:"index"`
	Delta        *wire.ChatMessage `json:"delta"`
	Message      *wire.ChatMessage `json:"message"`
	FinishReason wire.Loose        `json:"finish_reason"`
	StopReason   json.RawMessage   `json:"stop_reason"` // vLLM: the stop sequence, or a token's number
}

type usageJSON struct {
	Prompt     wire.LooseInt `json:"prompt_tokens"`
	Completion wire.LooseInt `json:"completion_tokens"`
	CacheHit   wire.LooseInt `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptHow  struct {
		Cached  wire.LooseInt `json:"cached_tokens"`
		Written wire.LooseInt `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	CompletionHow struct {
		Reasoning wire.LooseInt `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *usageJSON) usage() utp.Usage {
	read := int(max(u.PromptHow.Cached, u.CacheHit))
	out := utp.Usage{CacheRead: read, CacheWrite: int(u.PromptHow.Written), Output: int(u.Completion)}
	out.Input = max(0, int(u.Prompt)-read-out.CacheWrite)
	if r := int(u.CompletionHow.Reasoning); r <= out.Output {
		out.Output, out.Reasoning = out.Output-r, r
	}
	return out
}

// stops maps finish_reason. "error" and "abort" are OpenRouter's, vLLM's and
// SGLang's words for a reply that broke; the last is DeepSeek's.
var stops = map[wire.Loose]utp.Stop{
	"stop": utp.StopEnd, "length": utp.StopLength, "tool_calls": utp.StopTool, "function_call": utp.StopTool,
	"content_filter": utp.StopFilter, "error": utp.StopError, "abort": utp.StopError,
	"insufficient_system_resource": utp.StopError, "model_length": utp.StopLength, // Mistral
}

type answer struct{ names *wire.Names }

// Read reads a whole reply. An error body is an *wire.Error.
func (a answer) Read(body []byte, newID func() string) (utp.Reply, error) {
	r := a.Reader(newID)
	evs := append([]utp.Event(nil), r.Feed(wire.Frame{Data: body})...)
	evs = append(evs, r.Close()...)
	return utp.Collect(evs), r.Err()
}

// Reader reads a streamed reply, or a whole one as a single frame.
func (a answer) Reader(newID func() string) wire.Reader {
	return &reader{build: wire.Builder{Names: a.names, NewID: newID}}
}

type reader struct {
	build    wire.Builder
	end      utp.End
	finished bool // a finish_reason or [DONE] was seen
	closed   bool
	err      error
}

func (r *reader) Err() error { return r.err }

func (r *reader) Feed(f wire.Frame) []utp.Event {
	switch {
	case r.closed, len(f.Data) == 0, f.Event == "ping":
	case f.Done():
		r.finished = true
		r.finish()
	default:
		r.chunk(f.Data)
	}
	return r.build.Take()
}

func (r *reader) Close() []utp.Event {
	if !r.closed && !r.finished {
		r.fail(wire.ErrCut)
	}
	r.finish()
	return r.build.Take()
}

// fail ends the reply with an error.
func (r *reader) fail(err error) {
	r.err, r.end.Stop = err, utp.StopError
	r.finish()
}

func (r *reader) finish() {
	if r.closed {
		return
	}
	r.closed = true
	if r.end.Stop == "" {
		r.end.Stop = utp.StopEnd
	}
	r.build.Finish(r.end, nil)
}

func (r *reader) chunk(data []byte) {
	var j replyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		e := wire.ReadError(0, data)
		e.Type = wire.NotThisAPI
		e.Message = "the server sent something that is no chat completion (" + err.Error() + "): " + e.Body
		r.fail(e)
		return
	}
	if len(j.Error) > 0 && string(j.Error) != "null" && string(j.Error) != "false" {
		r.fail(wire.ReadError(0, data))
		return
	}
	r.note(&j, data)
	for i := range j.Choices {
		if j.Choices[i].Index == 0 {
			r.choice(&j.Choices[i])
		}
	}
}

// note keeps what stands beside the choices. A reply without choices may be a
// bare message.
func (r *reader) note(j *replyJSON, data []byte) {
	if j.ID != "" {
		r.end.ID = string(j.ID)
	}
	if j.Model != "" {
		r.end.Model = string(j.Model)
	}
	if j.Usage != nil {
		r.end.Usage = j.Usage.usage()
	}
	if j.Choices != nil {
		return
	}
	m := j.Message
	if m == nil {
		m = new(wire.ChatMessage)
		_ = json.Unmarshal(data, m)
	}
	if r.message(m, true) {
		r.finished = true
	}
}

func (r *reader) choice(c *choiceJSON) {
	if c.Delta != nil {
		r.message(c.Delta, false)
	}
	if c.Message != nil {
		r.message(c.Message, true)
	}
	if c.FinishReason == "" {
		return
	}
	stop, known := stops[c.FinishReason]
	if !known {
		stop = utp.StopEnd
	}
	r.stop(stop, c.StopReason)
}

func (r *reader) stop(stop utp.Stop, reason json.RawMessage) {
	r.finished = true
	if r.end.Stop != utp.StopFilter {
		r.end.Stop = stop
	}
	switch {
	case stop == utp.StopEnd && json.Unmarshal(reason, &r.end.StopSeq) == nil && r.end.StopSeq != "":
		r.end.Stop = utp.StopSequence
	case stop == utp.StopError:
		r.err = &wire.Error{Message: "the server broke the reply off"}
	}
	r.build.EndCalls(stop == utp.StopLength || stop == utp.StopError)
}

// message takes a delta or, whole, a complete message. It reports whether it
// said anything.
func (r *reader) message(m *wire.ChatMessage, whole bool) (some bool) {
	if text, field := m.Reason(); text != "" {
		extra, _ := wire.Marshal(origin{field})
		r.build.Think(text, utp.Think{Provider: provider, Extra: extra})
		some = true
	}
	r.build.Text(m.Content.Text)
	if m.Refusal != "" {
		r.build.Text(string(m.Refusal))
		r.end.Stop = utp.StopFilter
	}
	calls := m.Fragments(whole)
	for _, f := range calls {
		r.build.Call(f)
	}
	return some || m.Content.Text != "" || m.Refusal != "" || len(calls) > 0
}
