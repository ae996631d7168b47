package responses

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

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
	words    []byte // of the open text or reasoning
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
	case utp.TextDelta:
		w.text(e.Text)
	case utp.ThinkDelta:
		w.think(e.Text)
	case utp.PartEnd:
		if t, think := e.Value.(utp.Think); think {
			w.endThink(t)
		} else {
			w.endText()
		}
	case utp.CallStart:
		item := w.call(*e.Call, underway)
		w.item = item.ID
		w.added(item)
	case utp.CallDelta:
		w.arguments(e.Text)
	case utp.CallEnd:
		w.endCall(*e.Call)
	case utp.Whole:
		w.piece(e.Value)
	case utp.Finish:
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
		w.delta("function_call_arguments", deltaEvent{Delta: s})
	}
}

func (w *writer) endCall(c utp.Call) {
	kind := utp.FunctionCall
	if w.isInput() {
		kind = utp.CustomCall
		if words, ok := codec.CustomInput(c); ok {
			c.RawArgs = words
		}
	}
	c.Kind = kind
	item := w.call(c, done)
	item.ID = w.item
	if kind == utp.CustomCall {
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
