package anthropic

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// reasons maps utp.Stop to stop_reason.
var reasons = map[utp.Stop]string{
	utp.StopEnd: "end_turn", utp.StopSequence: "stop_sequence", utp.StopTool: "tool_use",
	utp.StopLength: "max_tokens", utp.StopFilter: "refusal", utp.StopPause: "pause_turn",
}

// reason is the stop_reason of an end; what Anthropic itself said stays.
func reason(end utp.End) (stop string, seq *string) {
	stop = reasons[end.Stop]
	if end.Stop == utp.StopSequence {
		seq = &end.StopSeq
	}
	own, _ := codec.UnpackExtra(end.Extra, provider)
	if said := own.Text("stop_reason"); said != "" && stops[said] == end.Stop {
		stop = said
	}
	return stop, seq
}

// usage writes the counts. The input is without the cached part, the output
// with the reasoning.
func usage(end utp.End) shape.Value {
	u := end.Usage
	out := usageJSON{Input: shape.LooseInt(u.Input), CacheWrite: shape.LooseInt(u.CacheWrite), CacheRead: shape.LooseInt(u.CacheRead),
		Output: shape.LooseInt(u.Completion())}
	if u.Reasoning > 0 {
		out.How = &usageHow{shape.LooseInt(u.Reasoning)}
	}
	own, _ := codec.UnpackExtra(end.Extra, provider)
	rest, _ := shape.Members(shape.Value{Raw: own.Get("usage")})
	return shape.JSON(out, rest)
}

// heading is what a reply carries besides its content.
func heading(r *utp.Request, end utp.End, s wire.Stamp) replyJSON {
	id, model := s.Named(r, end)
	return replyJSON{ID: shape.Loose(id), Type: "message", Role: "assistant", Model: shape.Loose(model), Content: []json.RawMessage{}}
}

// Whole writes a complete reply. It fails for one that is broken.
func (Front) Whole(r *utp.Request, reply utp.Reply, s wire.Stamp) ([]byte, []wire.Loss, error) {
	out := heading(r, reply.End, s)
	var blocks blockList
	var rest shape.Fields
	err := codec.Compose(r, reply, s, func(e utp.Event, words string) {
		if e.Kind != utp.EventFinish {
			blocks.add(e, words)
			return
		}
		stop, seq := reason(*e.End)
		out.Stop, out.StopSeq, out.Usage = &stop, seq, usage(*e.End)
		rest, _ = codec.UnpackExtra(e.Extra, provider)
	})
	if err != nil {
		return nil, nil, err
	}
	out.Content = append(out.Content, blocks.out...)
	return shape.JSON(out, rest).Raw, blocks.Losses, nil
}

// blockList makes blocks of the events of a Sequence.
type blockList struct {
	out []json.RawMessage
	codec.Outgoing
}

func (b *blockList) add(e utp.Event, words string) {
	switch e.Kind {
	case utp.EventPartEnd:
		if t, think := e.Value.(utp.Think); think {
			b.put(thinkingBlock{Type: "thinking", Thinking: words, Signature: signature(t)}, t.Extra)
		} else {
			b.put(textBlock{Type: "text", Text: words}, nil)
		}
	case utp.EventCallEnd:
		args, _ := codec.CallObject(*e.Call)
		b.put(toolUseBlock{Type: "tool_use", ID: e.Call.ID, Name: e.Call.Name, Input: args}, e.Call.Extra)
	case utp.EventWhole:
		b.whole(e.Value)
	}
}

func (b *blockList) put(v any, extra json.RawMessage) {
	rest, _ := codec.UnpackExtra(extra, provider)
	b.out = append(b.out, shape.JSON(v, rest).Raw)
}

// whole writes a part that comes in one piece, if the API has a block for it.
func (b *blockList) whole(p utp.Part) {
	switch p := p.(type) {
	case utp.Text:
		b.put(textBlock{Type: "text", Text: p.Text}, p.Extra)
	case utp.Think:
		if p.Redacted && p.Provider == provider {
			b.put(redactedBlock{Type: "redacted_thinking", Data: p.Signature}, p.Extra)
			return
		}
		b.put(thinkingBlock{Type: "thinking", Thinking: p.Text, Signature: signature(p)}, nil)
	case utp.Unknown:
		if p.Provider == provider {
			b.out = append(b.out, p.Raw)
			return
		}
		b.Unsaid("content", p)
	default:
		b.Unsaid("content", p)
	}
}

// signature is Anthropic's own, or a seal that brings another's back with the
// next request.
func signature(t utp.Think) string {
	if t.Provider == provider {
		return t.Signature
	}
	return codec.Seal(t)
}

// Writer writes a streamed reply. One block is open at a time.
func (Front) Writer(r *utp.Request, s wire.Stamp) wire.Writer {
	w := &writer{request: r, stamp: s}
	w.Emitter = codec.Emitter{Sequence: codec.Sequence{NewID: s.NewID, Turn: len(r.Messages)}, Event: w.event, Fail: w.fail}
	return w
}

type writer struct {
	codec.Emitter
	request *utp.Request
	stamp   wire.Stamp
	started bool // message_start is written
	open    bool // a block is
	index   int  // of the open block
}

func (w *writer) fail(err error) {
	w.Send("error", shape.JSON(fault(wire.FaultOf(err)), nil).Raw)
}

func (w *writer) start() {
	if w.started {
		return
	}
	w.started = true
	head := heading(w.request, utp.End{}, w.stamp)
	head.Usage = usage(utp.End{})
	w.Send("message_start", shape.JSON(startEvent{"message_start", shape.JSON(head, nil).Raw}, nil).Raw)
}

func (w *writer) event(e utp.Event) {
	w.start()
	switch e.Kind {
	case utp.EventText:
		if !w.open {
			w.begin(textBlock{Type: "text"}, nil)
		}
		w.Send(delta, writeText.Write(deltaEvent[textDelta]{delta, w.index, textDelta{"text_delta", e.Text}}, nil))
	case utp.EventThink:
		if !w.open {
			w.begin(thinkingBlock{Type: "thinking"}, nil)
		}
		w.Send(delta, writeThinking.Write(deltaEvent[thinkingDelta]{delta, w.index, thinkingDelta{"thinking_delta", e.Text}}, nil))
	case utp.EventPartEnd:
		if t, think := e.Value.(utp.Think); think {
			w.sign(t)
		}
		w.stop()
	case utp.EventCallStart:
		w.begin(toolUseBlock{Type: "tool_use", ID: e.Call.ID, Name: e.Call.Name, Input: json.RawMessage("{}")}, e.Call.Extra)
	case utp.EventCallDelta:
		w.Send(delta, writeArguments.Write(deltaEvent[jsonDelta]{delta, w.index, jsonDelta{"input_json_delta", e.Text}}, nil))
	case utp.EventCallEnd:
		w.stop()
	case utp.EventWhole:
		w.whole(e.Value)
	case utp.EventFinish:
		w.finish(e)
	}
}

func (w *writer) begin(v any, extra json.RawMessage) {
	w.open = true
	rest, _ := codec.UnpackExtra(extra, provider)
	w.Send("content_block_start", shape.JSON(blockEvent{"content_block_start", w.index, shape.JSON(v, rest).Raw}, nil).Raw)
}

// delta is the event that continues a block.
const delta = "content_block_delta"

func (w *writer) sign(t utp.Think) {
	if s := signature(t); s != "" {
		w.Send(delta, writeSignature.Write(deltaEvent[signatureDelta]{delta, w.index, signatureDelta{"signature_delta", s}}, nil))
	}
}

func (w *writer) stop() {
	w.open = false
	w.Send("content_block_stop", shape.JSON(stopEvent{"content_block_stop", w.index}, nil).Raw)
	w.index++
}

// whole writes a part in one piece: reasoning that is not shown as its signature
// alone, all else as the block that it is.
func (w *writer) whole(p utp.Part) {
	if t, ok := p.(utp.Think); ok && (!t.Redacted || t.Provider != provider) {
		w.begin(thinkingBlock{Type: "thinking"}, nil)
		w.sign(t)
		w.stop()
		return
	}
	var blocks blockList
	blocks.whole(p)
	for _, b := range blocks.out {
		w.begin(b, nil)
		w.stop()
	}
}

func (w *writer) finish(e utp.Event) {
	stop, seq := reason(*e.End)
	rest, _ := codec.UnpackExtra(e.Extra, provider)
	w.Send("message_delta", shape.JSON(endEvent{"message_delta", shape.JSON(endDelta{stop, seq}, rest).Raw, usage(*e.End).Raw}, nil).Raw)
	w.Send("message_stop", shape.JSON(headJSON{"message_stop"}, nil).Raw)
}
