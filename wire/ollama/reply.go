package ollama

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// replyJSON is a line of the stream, or a whole reply: the same with done set.
type replyJSON struct {
	Model      shape.Loose        `json:"model"`
	Message    *codec.ChatMessage `json:"message"`
	Done       bool               `json:"done"`
	DoneReason shape.Loose        `json:"done_reason"`
	PromptEval shape.LooseInt     `json:"prompt_eval_count"` // absent when all of the prompt was cached
	Eval       shape.LooseInt     `json:"eval_count"`
	Error      json.RawMessage    `json:"error"`
}

// stops maps done_reason; "load" and "unload" answer requests without messages.
var stops = map[shape.Loose]utp.Stop{
	"": utp.StopEnd, "stop": utp.StopEnd, "length": utp.StopLength, "load": utp.StopEnd, "unload": utp.StopEnd,
}

type answer struct {
	names *codec.Names
	one   bool
}

// Read reads a whole reply. An error body is an *wire.Error.
func (a answer) Read(body []byte, newID func() string) (utp.Reply, error) {
	r := a.Reader(newID)
	evs := append([]utp.Event(nil), r.Feed(wire.Frame{Data: body})...)
	evs = append(evs, r.Close()...)
	return utp.Collect(evs), r.Err()
}

// Reader reads a streamed reply, or a whole one as a single frame.
func (a answer) Reader(newID func() string) wire.Reader {
	return &reader{build: codec.Builder{Names: a.names, NewID: newID, One: a.one}}
}

type reader struct {
	build codec.Builder
	end   utp.End
	done  bool
	err   error
}

func (r *reader) Err() error { return r.err }

func (r *reader) Feed(f wire.Frame) []utp.Event {
	if !r.done {
		r.line(f.Data)
	}
	return r.build.Take()
}

func (r *reader) Close() []utp.Event {
	if !r.done {
		r.fail(wire.ErrCut)
	}
	return r.build.Take()
}

func (r *reader) fail(err error) {
	r.err, r.done, r.end.Stop = err, true, utp.StopError
	r.build.Finish(r.end, nil)
}

func (r *reader) line(data []byte) {
	var j replyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		e := wire.ReadError(0, data)
		e.Type = wire.NotThisAPI
		e.Message = "the server sent something that is no chat reply (" + err.Error() + "): " + e.Body
		r.fail(e)
		return
	}
	if len(j.Error) > 0 && string(j.Error) != "null" {
		r.fail(wire.ReadError(0, data))
		return
	}
	if j.Model != "" {
		r.end.Model = string(j.Model)
	}
	r.message(&j, data)
	if j.Done {
		r.finish(&j)
	}
}

// message reads the message, also a bare one. Every call is whole.
func (r *reader) message(j *replyJSON, data []byte) {
	m := j.Message
	if m == nil {
		m = new(codec.ChatMessage)
		_ = json.Unmarshal(data, m)
		j.Done = j.Done || len(m.ToolCalls) > 0
	}
	if text, _ := m.Reason(); text != "" {
		r.build.Think(text, utp.Think{})
	}
	r.build.Text(m.Content.Text)
	for _, f := range m.Fragments(true) {
		r.build.Call(f)
	}
}

func (r *reader) finish(j *replyJSON) {
	stop, known := stops[j.DoneReason]
	if !known {
		stop = utp.StopEnd
	}
	r.done, r.end.Stop = true, stop
	r.end.Usage = utp.Usage{Input: int(j.PromptEval), Output: int(j.Eval)}
	r.build.Finish(r.end, nil)
}
