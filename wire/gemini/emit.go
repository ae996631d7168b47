package gemini

import (
	"encoding/base64"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// reasons maps utp.Stop to finishReason: there is none for calls.
var reasons = map[utp.Stop]string{
	utp.StopEnd: "STOP", utp.StopSequence: "STOP", utp.StopTool: "STOP", utp.StopPause: "STOP",
	utp.StopLength: "MAX_TOKENS", utp.StopFilter: "SAFETY",
}

// reason is the finishReason of an end; what Gemini itself said stays.
func reason(end utp.End) (reason, message string) {
	own, _ := codec.UnpackExtra(end.Extra, provider)
	if said := own.Text("finishReason"); stops[said] == end.Stop && said != "" {
		return said, own.Text("finishMessage")
	}
	return reasons[end.Stop], ""
}

func usage(u utp.Usage) *usageJSON {
	return &usageJSON{Prompt: shape.LooseInt(u.Prompt()), Cached: shape.LooseInt(u.CacheRead), Output: shape.LooseInt(u.Output),
		Thoughts: shape.LooseInt(u.Reasoning), Total: shape.LooseInt(u.Prompt() + u.Completion())}
}

// chunk is a reply with some parts, and with its end if last is a Finish.
func chunk(id, model string, parts []shape.Value, last *utp.Event) chunkJSON {
	if parts == nil {
		parts = []shape.Value{}
	}
	out := chunkJSON{ID: id, Model: model}
	c := candidateJSON{Content: &contentJSON{Role: "model", Parts: parts}}
	var rest shape.Fields
	if last != nil {
		why, message := reason(*last.End)
		c.Reason, c.Message, out.Usage = shape.Loose(why), shape.Loose(message), usage(last.End.Usage)
		rest, _ = codec.UnpackExtra(last.Extra, provider)
	}
	out.Candidates = []shape.Value{{Raw: writeCandidate.Write(c, rest)}}
	return out
}

// Whole writes a complete reply. It fails for one that is broken.
func (Front) Whole(r *utp.Request, reply utp.Reply, s wire.Stamp) ([]byte, []wire.Loss, error) {
	id, model := s.Named(r, reply.End)
	var parts partList
	var out chunkJSON
	err := codec.Compose(r, reply, s, func(e utp.Event, words string) {
		if e.Kind != utp.EventFinish {
			parts.add(e, words)
			return
		}
		if e.End.Usage.CacheWrite > 0 {
			parts.Lose("usageMetadata", "what was written to a cache counted with the prompt", "there is no count of it")
		}
		out = chunk(id, model, parts.out, &e)
	})
	if err != nil {
		return nil, nil, err
	}
	return writeChunk.Write(out, nil), parts.Losses, nil
}

// partList makes parts of the events of a Sequence.
type partList struct {
	out []shape.Value
	codec.Outgoing
}

func (l *partList) put(p partJSON, extra json.RawMessage) {
	own, _ := codec.UnpackExtra(extra, provider)
	if p.Signature == "" {
		p.Signature = own.Text(signature)
	}
	l.out = append(l.out, nested(p, own.Without(signature)))
}

func (l *partList) add(e utp.Event, words string) {
	switch e.Kind {
	case utp.EventPartEnd:
		if t, think := e.Value.(utp.Think); think {
			l.put(partJSON{Text: &words, Thought: true, Signature: seal(t)}, nil)
		} else {
			l.put(partJSON{Text: &words}, nil)
		}
	case utp.EventCallEnd:
		args, _ := codec.CallObject(*e.Call)
		l.put(partJSON{Call: &callJSON{ID: e.Call.ID, Name: e.Call.Name, Args: args}}, e.Call.Extra)
	case utp.EventWhole:
		l.whole(e.Value)
	}
}

// whole writes a part that comes in one piece, if the API has one like it.
func (l *partList) whole(p utp.Part) {
	switch p := p.(type) {
	case utp.Text:
		l.put(partJSON{Text: &p.Text}, p.Extra)
	case utp.Think:
		l.put(partJSON{Text: &p.Text, Thought: true, Signature: seal(p)}, nil)
	case utp.Blob:
		l.put(file(p), p.Extra)
	case utp.Unknown:
		if p.Provider == provider {
			l.out = append(l.out, shape.Value{Raw: p.Raw})
			return
		}
		l.Unsaid("parts", p)
	}
}

// seal is Gemini's own signature, or one that brings another's back with the
// next request. Signatures are base64.
func seal(t utp.Think) string {
	if t.Provider != provider {
		return codec.Seal(t)
	}
	if _, err := base64.StdEncoding.DecodeString(t.Signature); err != nil {
		return ""
	}
	return t.Signature
}

// Writer writes a streamed reply. Calls are written when they are complete.
func (f Front) Writer(r *utp.Request, s wire.Stamp) wire.Writer {
	w := &writer{array: f.Framing(r) == wire.NDJSON}
	w.id, w.model = s.Named(r, utp.End{})
	w.Emitter = codec.Emitter{Sequence: codec.Sequence{NewID: s.NewID, Turn: len(r.Messages)}, Event: w.event, Fail: w.fail}
	return w
}

type writer struct {
	codec.Emitter
	id, model string
	array     bool
	begun     bool
}

// send writes a chunk. In an array it stands between brackets and commas.
func (w *writer) send(data []byte, last bool) {
	if w.array {
		opener := byte('[')
		if w.begun {
			opener = ','
		}
		data = append([]byte{opener}, data...)
		if last {
			data = append(data, ']')
		}
	}
	w.begun = true
	w.Send("", data)
}

func (w *writer) fail(err error) { w.send(shape.JSON(fault(wire.FaultOf(err)), nil).Raw, true) }

func (w *writer) event(e utp.Event) {
	var parts partList
	switch e.Kind {
	case utp.EventText:
		parts.put(partJSON{Text: &e.Text}, nil)
	case utp.EventThink:
		parts.put(partJSON{Text: &e.Text, Thought: true}, nil)
	case utp.EventPartEnd:
		t, _ := e.Value.(utp.Think)
		if s := seal(t); s != "" {
			parts.put(partJSON{Text: new(string), Thought: true, Signature: s}, nil)
		}
	case utp.EventFinish:
		empty := shape.JSON(partJSON{Text: new(string)}, nil)
		w.send(writeChunk.Write(chunk(w.id, w.model, []shape.Value{empty}, &e), nil), true)
		return
	default:
		parts.add(e, "")
	}
	if len(parts.out) > 0 {
		w.send(writeChunk.Write(chunk(w.id, w.model, parts.out, nil), nil), false)
	}
}
