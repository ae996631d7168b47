package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// Turn answers the last user message of r. It yields an event for each step;
// the last is Final, or an error, which is an *Error. To stop, end ctx or stop
// reading. What a reply calls runs when the reply is complete. The event that
// comes with an error has an Answer: what was said and done until then.
//
// r holds the system message and the question. Its Tools are replaced by what
// the gate offers; a Choice that requires a call counts for the first request.
func Turn(ctx context.Context, c Config, r *utp.Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if a, err := play(ctx, c, r, func(e Event) bool { return yield(e, nil) }); err != nil && err != errLeft {
			yield(Event{Round: a.Requests, Answer: &a}, err)
		}
	}
}

// Ask answers like Turn and gives the outcome in one piece. With an error the
// Answer holds what had been done so far.
func Ask(ctx context.Context, c Config, r *utp.Request) (Answer, error) {
	return play(ctx, c, r, func(Event) bool { return true })
}

// errLeft says that the reader of the events went away.
var errLeft = errors.New("the reader left")

// turn is the state of one question.
type turn struct {
	Config
	ask      utp.Request   // as given; Messages are in msgs
	msgs     []utp.Message // sent: system, history, question, and what the turn adds
	ids      *ids
	memory   memory
	answer   Answer
	guide    string // goes along with the question
	ran      int    // calls run, of MaxCalls
	mended   bool   // the last reply was answered with a correction
	urged    bool   // the model was reminded of its tools
	before   *reply // what it had answered, until it has said something else
	send     func(Event) bool
	left     bool
	cancel   context.CancelFunc
	fitting  fitting
	journal  journal
	progress progress
	partial  strings.Builder // the text of the reply that is under way
}

func play(ctx context.Context, c Config, r *utp.Request, send func(Event) bool) (Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t, err := begin(ctx, c, r, send)
	if err != nil {
		return Answer{}, err
	}
	t.cancel = cancel
	t.journal.session, t.journal.ctx = t.Session, context.WithoutCancel(ctx)
	t.logQuestion()
	t.guide = t.Guide.text(ctx)
	if err = t.rounds(ctx); err != nil {
		return t.answer, t.broken(ctx, err)
	}
	return t.answer, nil
}

// broken ends a turn without an answer. What came of one is given.
func (t *turn) broken(ctx context.Context, err error) error {
	t.flush()
	if t.answer.Text == "" {
		t.answer.Text = strings.TrimSpace(t.partial.String())
	}
	err = t.failed(ctx, err)
	t.logEnd(err)
	return err
}

// begin makes the state of a turn, up to the first request.
func begin(ctx context.Context, c Config, r *utp.Request, send func(Event) bool) (*turn, error) {
	c, err := c.defaults()
	if err != nil {
		return nil, &Error{0, err}
	}
	t := &turn{Config: c, ask: *r, send: send, answer: Answer{Calls: []Done{}}}
	if err := t.open(ctx); err != nil {
		return nil, t.failed(ctx, err)
	}
	return t, nil
}

// failed words the end of a turn without an answer.
func (t *turn) failed(ctx context.Context, err error) error {
	if t.left {
		return errLeft
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrStopped, context.Cause(ctx))
	}
	return &Error{t.answer.Requests, err}
}

// open puts the history between the system message and the question.
func (t *turn) open(ctx context.Context) error {
	var past []utp.Message
	if t.Session != nil {
		log, err := t.Session.Entries(ctx)
		if err != nil {
			return fmt.Errorf("reading the session: %w", err)
		}
		past = transcript.Messages(log)
	}
	head := systems(t.ask.Messages)
	t.msgs = append(t.msgs, t.ask.Messages[:head]...)
	t.msgs = append(t.msgs, Select(past, t.History)...)
	t.msgs = append(t.msgs, t.ask.Messages[head:]...)
	t.fitting.question = len(t.msgs) - 1
	if t.Turn == "" {
		t.Turn = strconv.Itoa(questions(past) + questions(t.ask.Messages))
	}
	t.ids = newIDs(t.Turn, t.msgs)
	return nil
}

// systems counts the leading system messages.
func systems(ms []utp.Message) (n int) {
	for n < len(ms) && ms[n].Role == utp.RoleSystem {
		n++
	}
	return n
}

func questions(ms []utp.Message) (n int) {
	for _, m := range ms {
		if m.Role == utp.RoleUser {
			n++
		}
	}
	return n
}

// rounds asks, runs and repeats until there is an answer.
func (t *turn) rounds(ctx context.Context) error {
	for spent := 0; t.Config.Rounds < 0 || spent < t.Config.Rounds; spent++ {
		rep, err := t.request(ctx, false)
		if err != nil {
			return t.fallBack(ctx, err)
		}
		t.before = nil
		why, done := "", false
		switch {
		case len(rep.calls) > 0:
			why, err = t.calls(ctx, rep)
		case rep.Stop == utp.StopPause:
			t.logReply(rep.Message)
		case rep.broken():
			why = t.correct(rep, spent+1 == t.Config.Rounds)
		case t.idle() && !rep.stuck && spent+1 != t.Config.Rounds:
			t.urge(rep)
		default:
			done = true
		}
		if err != nil || done {
			return t.finish(rep, err)
		}
		if why == "" {
			why = t.spent()
		}
		if why != "" {
			return t.force(ctx, why)
		}
	}
	return t.force(ctx, fmt.Sprintf("no rounds with tools are left (limit %d)", t.Config.Rounds))
}

// fallBack ends a turn in which the model was reminded of its tools and nothing
// came after: its answer from before stands.
func (t *turn) fallBack(ctx context.Context, err error) error {
	if t.before == nil || t.left || ctx.Err() != nil {
		return err
	}
	t.warn(fmt.Sprintf("nothing came after the reminder (%v): this is what the model answered before it", err), nil)
	return t.finish(*t.before, nil)
}

func (t *turn) spentTokens() int { return t.answer.Usage.Prompt() + t.answer.Usage.Completion() }

// force asks once more, without tools.
func (t *turn) force(ctx context.Context, why string) error {
	t.answer.Forced = why
	t.emit(Event{Kind: Forced, Text: why})
	rep, err := t.request(ctx, true)
	if err == nil && len(rep.calls) > 0 {
		t.warn("the model called tools again in the forced answer; they were not run", nil)
	}
	return t.finish(rep, err)
}

// finish closes the turn with the text of a reply.
func (t *turn) finish(rep reply, err error) error {
	if err != nil {
		return err
	}
	if rep.Stop == utp.StopLength && !rep.stuck {
		t.warn("the answer was cut at the output limit", nil)
	}
	t.answer.Text, t.answer.Thinking = rep.text(), rep.Thinking()
	t.logReply(withoutCalls(rep.Message))
	t.suggest(rep)
	t.logEnd(nil)
	t.emit(Event{Kind: Final, Answer: &t.answer})
	return nil
}

// add puts messages into the conversation.
func (t *turn) add(ms ...utp.Message) {
	for _, m := range ms {
		if len(m.Parts) > 0 {
			t.msgs, t.answer.Messages = append(t.msgs, m), append(t.answer.Messages, m)
		}
	}
}

// emit logs an event and shows it.
func (t *turn) emit(e Event) {
	e.Round = t.answer.Requests
	switch e.Kind {
	case Round:
		t.partial.Reset()
	case Text:
		t.partial.WriteString(e.Text)
	}
	if t.hold(e) {
		return
	}
	t.flush()
	t.write(t.entriesOf(e)...)
	t.show(e)
}

// show sends an event, unless the reader has left.
func (t *turn) show(e Event) {
	if t.left {
		return
	}
	if !t.send(e) {
		t.left = true
		t.cancel()
	}
}

func (t *turn) warn(text string, c *utp.Call) { t.emit(Event{Kind: Warning, Text: text, Call: c}) }
