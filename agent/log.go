package agent

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// How much of a model's words may be held back before it is logged and shown.
const (
	heldTime  = 200 * time.Millisecond
	heldBytes = 1 << 10
)

// journal writes the log of a turn. What it could not write once, it does not try
// again: the turn goes on without.
type journal struct {
	session Session
	ctx     context.Context // of the writes; it outlives the turn's
	held    []Event         // words of one kind, neither logged nor shown yet
	bytes   int
	wrote   time.Time // when words were logged last
}

// hold keeps words back until there are enough of them, and reports that it did.
func (t *turn) hold(e Event) bool {
	j := &t.journal
	if j.session == nil || e.Kind != Text && e.Kind != Think {
		return false
	}
	if len(j.held) > 0 && j.held[0].Kind != e.Kind {
		t.flush()
	}
	j.held, j.bytes = append(j.held, e), j.bytes+len(e.Text)
	if j.bytes >= heldBytes || t.Now().Sub(j.wrote) >= heldTime {
		t.flush()
	}
	return true
}

// paced passes a stream on. When it is silent, what is held is logged and shown.
func (t *turn) paced(stream iter.Seq2[utp.Event, error]) iter.Seq2[utp.Event, error] {
	if t.journal.session == nil {
		return stream
	}
	return func(yield func(utp.Event, error) bool) {
		type item struct {
			e   utp.Event
			err error
		}
		items, more, left := make(chan item), make(chan bool), make(chan bool)
		defer close(left)
		go func() {
			defer close(items)
			for e, err := range stream {
				select {
				case items <- item{e, err}:
				case <-left:
					return
				}
				select {
				case <-more:
				case <-left:
					return
				}
			}
		}()
		silent := time.NewTimer(heldTime)
		for {
			select {
			case i, ok := <-items:
				if !ok || !yield(i.e, i.err) {
					return
				}
				silent.Reset(heldTime)
				more <- true
			case <-silent.C:
				t.flush()
			}
		}
	}
}

// flush logs what is held and shows it.
func (t *turn) flush() {
	j := &t.journal
	held := j.held
	if len(held) == 0 {
		return
	}
	j.held, j.bytes, j.wrote = nil, 0, t.Now()
	e := transcript.Entry{Kind: transcript.Text, Round: held[0].Round}
	if held[0].Kind == Think {
		e.Kind = transcript.Thinking
	}
	for _, h := range held {
		e.Text += h.Text
	}
	t.write(e)
	for _, h := range held {
		t.show(h)
	}
}

// log writes entries behind what is held.
func (t *turn) log(es ...transcript.Entry) {
	if len(es) > 0 {
		t.flush()
		t.write(es...)
	}
}

func (t *turn) write(es ...transcript.Entry) {
	j := &t.journal
	if j.session == nil {
		return
	}
	now := t.Now()
	for i := range es {
		es[i].Time = now
		if es[i].Round == 0 {
			es[i].Round = t.answer.Requests
		}
	}
	if err := j.session.Append(j.ctx, es...); err != nil {
		j.session = nil
		t.warn("from here on this turn is not kept in the session: "+err.Error(), nil)
	}
}

// logReply logs a reply and makes it part of the conversation.
func (t *turn) logReply(m utp.Message) {
	if len(m.Parts) > 0 {
		t.log(transcript.Entry{Kind: transcript.Reply, Message: &m})
		t.add(m)
	}
}

// logQuestion logs what the turn is about, before the first request.
func (t *turn) logQuestion() {
	ms := t.ask.Messages[systems(t.ask.Messages):]
	for i := range ms {
		kind := transcript.Message
		if i == len(ms)-1 {
			kind = transcript.Question
		}
		t.log(transcript.Entry{Kind: kind, Message: &ms[i]})
	}
}

// logEnd logs how the turn ended.
func (t *turn) logEnd(err error) {
	e := transcript.Entry{Kind: transcript.End, Reason: transcript.Answered, Usage: &t.answer.Usage, Model: t.answer.Model}
	switch {
	case t.left || errors.Is(err, ErrStopped):
		e.Reason = transcript.Stopped
	case err != nil:
		e.Reason, e.Text = transcript.Failed, err.Error()
	}
	t.log(e)
}

// entriesOf is what the log says of an event. Replies, and results that no run
// gave, have entries of their own.
func (t *turn) entriesOf(e Event) []transcript.Entry {
	call := transcript.Entry{Kind: transcript.Call, Call: e.Call, By: e.By}
	if e.Call != nil {
		call.Tier = t.tier(e.Call.Name).String()
	}
	switch e.Kind {
	case Round:
		return []transcript.Entry{{Kind: transcript.Request, Tokens: e.Tokens, Window: e.Window}}
	case Problem:
		return []transcript.Entry{{Kind: transcript.Problem, Problem: e.Problem}}
	case Pending:
		call.Decision = transcript.Asked
	case Started:
		call.Decision = transcript.Allowed
	case Succeeded, Failed, Denied:
		result := t.resultEntry(e)
		if e.Refusal == NotRefused {
			return []transcript.Entry{result}
		}
		call.Decision, call.By = transcript.Denied, string(e.Refusal)
		return []transcript.Entry{call, result}
	case Warning, Forced, Suggestion, Summed:
		return []transcript.Entry{{Kind: transcript.Kind(e.Kind.String()), Text: e.Text}}
	default:
		return nil
	}
	return []transcript.Entry{call}
}

// resultEntry has the result as the model will read it.
func (t *turn) resultEntry(e Event) transcript.Entry {
	r := *e.Result
	r.Parts, _ = cutParts(r.Parts, t.MaxResult)
	return transcript.Entry{Kind: transcript.Result, Result: &r, Refusal: string(e.Refusal), Cached: e.Cached, Took: e.Duration}
}
