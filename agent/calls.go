package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// slot is a call of a reply on its way to a result.
type slot struct {
	Done
	key   string // of the call as the model wrote it
	ready bool   // it has its result
	twin  int    // index of the equal call before it, whose result it takes; -1: none
	note  string // for the model, before the result
}

// calls runs the calls of a reply and adds the message that made them and one
// with their results. why is not "" when the model must now answer.
func (t *turn) calls(ctx context.Context, rep reply) (why string, err error) {
	t.answer.Rounds++
	t.mended = false
	t.memory.nextRound()
	slots := make([]slot, len(rep.calls))
	for i, c := range rep.calls {
		slots[i] = t.plan(c, rep.calls[:i])
		if w := t.repeated(&slots[i]); w != "" {
			why = w
		}
	}
	said := t.asMeant(rep.Message)
	t.logReply(said)
	t.runAll(ctx, slots)
	if t.left {
		return "", errLeft
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	t.progress.round(slots, t.Polling)
	t.add(t.results(slots, t.problemNote(rep)))
	return why, nil
}

// asMeant is a message in which calls by an alias have the arguments that will
// run, as they have the tool's own name.
func (t *turn) asMeant(m utp.Message) utp.Message {
	parts := slices.Clone(m.Parts)
	for i, p := range parts {
		c, ok := p.(utp.Call)
		if ok && slices.ContainsFunc(c.Fixes, func(f utp.Fix) bool { return f.Why == schema.ByAlias }) {
			fits, _, _ := t.Gate.check(c)
			c.Args = fits.Args
			parts[i] = c
		}
	}
	m.Parts = parts
	return m
}

// plan says how a call gets its result: by running, from its twin, or not.
func (t *turn) plan(c utp.Call, before []utp.Call) slot {
	s := slot{Done: Done{Call: c}, key: c.Fingerprint(), twin: -1}
	if slices.Contains(t.Polling, c.Name) {
		return s
	}
	if c.FromText() {
		s.twin = slices.IndexFunc(before, func(b utp.Call) bool { return b.FromText() && b.Fingerprint() == s.key })
	}
	return s
}

// repeated answers a call that an earlier round made from what it gave then.
// The first time the model is warned, the second time it must answer.
func (t *turn) repeated(s *slot) (why string) {
	old, times := t.memory.repeat(s.key)
	if times == 0 || slices.Contains(t.Polling, s.Call.Name) {
		return ""
	}
	s.Result, s.Refusal, s.Cached, s.ready = old.Result, old.Refusal, true, true
	s.Result.CallID = s.Call.ID
	s.note = repeatLine
	call := s.Call
	t.warn(fmt.Sprintf("%s was called again with the same arguments; the earlier result was given", s.Call.Name), &call)
	if times > 1 {
		return fmt.Sprintf("%s was called with the same arguments %d times", s.Call.Name, times+1)
	}
	return ""
}

// runAll runs what is not ready: neighbours that only read side by side, all
// others one after the other.
func (t *turn) runAll(ctx context.Context, slots []slot) {
	for i := 0; i < len(slots) && ctx.Err() == nil; {
		var batch []*slot
		for ; i < len(slots) && (len(batch) == 0 || t.Gate.harmless(slots[i].Call)); i++ {
			s := &slots[i]
			if s.ready || s.twin >= 0 || t.overLimit(s) {
				continue
			}
			batch = append(batch, s)
			if !t.Gate.harmless(s.Call) || len(batch) == t.Parallel {
				i++
				break
			}
		}
		t.runBatch(ctx, batch)
	}
	for i := range slots {
		if s := &slots[i]; s.twin >= 0 && !s.ready {
			twin := slots[s.twin].Done
			s.Result, s.Refusal, s.Cached = twin.Result, twin.Refusal, true
			s.Result.CallID = s.Call.ID
		}
	}
}

// overLimit refuses a call past MaxCalls.
func (t *turn) overLimit(s *slot) bool {
	if t.ran < t.MaxCalls {
		t.ran++
		return false
	}
	no := refusal{OverLimit, utp.StatusFailed, fmt.Sprintf("Too many tool calls this turn: the limit is %d. It was not run.", t.MaxCalls)}
	s.Done, s.ready = refuse(s.Call, no, t.emit), true
	return true
}

// runBatch runs calls and passes their events on: a call waits until each has
// been logged and read. One call runs here.
func (t *turn) runBatch(ctx context.Context, batch []*slot) {
	if len(batch) == 1 {
		t.run(ctx, batch[0], t.emit)
		return
	}
	events, seen := make(chan Event), make(chan bool)
	var wg sync.WaitGroup
	for _, s := range batch {
		wg.Go(func() { t.run(ctx, s, func(e Event) { events <- e; <-seen }) })
	}
	go func() { wg.Wait(); close(events) }()
	for e := range events {
		t.emit(e)
		seen <- true
	}
}

func (t *turn) run(ctx context.Context, s *slot, see func(Event)) {
	s.Done, s.ready = t.Gate.run(ctx, s.Call, t.Now, func(e Event) { see(stopped(ctx, e)) }), true
}

// stopped words the failure of a call that ended because the turn did.
func stopped(ctx context.Context, e Event) Event {
	if e.Kind == Failed && e.Refusal == NotRefused && ctx.Err() != nil {
		r := utp.TextResult(*e.Call, utp.StatusFailed, stoppedLine)
		e.Result = &r
	}
	return e
}

// results tells and keeps the result of every call, in call order, and makes
// the message with them. The note goes to the end of the last one.
func (t *turn) results(slots []slot, note string) utp.Message {
	m := utp.Message{Role: utp.RoleTool}
	for i := range slots {
		s := &slots[i]
		t.answer.Calls = append(t.answer.Calls, s.Done)
		t.memory.keep(s.key, s.Done, t.tier(s.Call.Name))
		r := t.shown(s)
		if note != "" && i == len(slots)-1 {
			r.Parts = append(slices.Clip(r.Parts), utp.Text{Text: note})
			t.log(transcript.Entry{Kind: transcript.Note, Text: note})
		}
		call := s.Call
		if s.Cached {
			t.log(transcript.Entry{Kind: transcript.Result, Result: &r, Refusal: string(s.Refusal), Cached: true})
		}
		t.emit(Event{Kind: Result, Call: &call, Result: &r, Refusal: s.Refusal, Cached: s.Cached, Duration: s.Duration})
		m.Parts = append(m.Parts, r)
	}
	return m
}

func (t *turn) tier(name string) utp.Tier {
	tool, _ := t.Gate.Tools.Tool(name)
	return tool.Tier
}

// shown is a result as the model reads it: with its note, and not too long.
func (t *turn) shown(s *slot) utp.Result {
	r := s.Result
	parts, cut := cutParts(r.Parts, t.MaxResult)
	if cut > 0 {
		call := s.Call
		t.warn(fmt.Sprintf("the result of %s was cut by %d bytes for the model", s.Call.Name, cut), &call)
	}
	if s.note != "" {
		parts = append([]utp.Part{utp.Text{Text: s.note}}, parts...)
	}
	r.Parts = parts
	return r
}
