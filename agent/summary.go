package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// A summary takes a share of the window at most, and what it is made of has to be
// worth a request.
const (
	summaryShare = 8
	worthSumming = 400 // tokens
)

// condense makes room of the rounds of this turn before the newest, where nothing
// smaller does: the model sums them up, with what was left out of the turns
// before. Without a summary the oldest rounds go. The system message, the
// question and the newest round stay word for word.
func (t *turn) condense(ctx context.Context, newest int) {
	f := &t.fitting
	from, to := f.question+1, newest-1
	saved := 0
	for i := from; i < to && newest < len(t.msgs); i++ {
		if !f.gone[i] {
			saved += t.keptMessage(i).Tokens()
		}
	}
	if f.over <= 0 || saved < worthSumming || f.room <= 0 {
		return
	}
	if !f.unsummed {
		err := t.sumUp(ctx, from, to, saved)
		if err == nil || ctx.Err() != nil {
			return
		}
		f.unsummed = true
		t.warn(fmt.Sprintf("what does not fit the window could not be summed up, and is left out: %v", err), nil)
	}
	if !strings.HasSuffix(f.summary, unsummedLine) {
		f.summary = joinLines(f.summary, unsummedLine)
		f.over += utp.NewText(utp.RoleUser, unsummedLine).Tokens()
	}
	for i := from; i < to && (f.over > 0 || len(t.msgs[i].Results()) > 0); i++ {
		if !f.gone[i] {
			f.drop(i, t.keptMessage(i).Tokens())
		}
	}
}

// sumUp puts a summary by the model in the place of the messages of a range.
func (t *turn) sumUp(ctx context.Context, from, to, saved int) error {
	f := &t.fitting
	rounds := t.roundsIn(from, to)
	text, err := t.summary(ctx, from, to)
	if err != nil {
		return err
	}
	tokens := utp.NewText(utp.RoleUser, text).Tokens()
	if tokens >= saved {
		return errors.New("its summary is no shorter")
	}
	t.emit(Event{Kind: Summed, Text: text})
	f.over += tokens - utp.NewText(utp.RoleUser, f.summary).Tokens()
	f.summary = text
	for i := from; i < to; i++ {
		if !f.gone[i] {
			f.drop(i, t.keptMessage(i).Tokens())
		}
	}
	t.warn(fmt.Sprintf("%d rounds with tools did not fit the model's window: it goes on with a summary of them", rounds), nil)
	return nil
}

func (t *turn) roundsIn(from, to int) (n int) {
	for _, m := range t.msgs[from:to] {
		if len(m.Calls()) > 0 {
			n++
		}
	}
	return n
}

// summary asks the model to sum up the messages of a range, and those that were
// left out before.
func (t *turn) summary(ctx context.Context, from, to int) (string, error) {
	if err := t.step(ctx); err != nil {
		return "", err
	}
	words := max(t.fitting.room/summaryShare*2/3, 50)
	system := fmt.Sprintf("%s\nWrite %d words at most.", summaryLine, words)
	req := &utp.Request{Model: t.ask.Model, Stream: t.ask.Stream, Params: utp.Params{Temperature: t.ask.Params.Temperature, Context: t.ask.Params.Context}}
	for keep := 8 << 10; ; keep /= 2 {
		req.Messages = []utp.Message{utp.NewText(utp.RoleSystem, system), utp.NewText(utp.RoleUser, t.work(from, to, keep))}
		if req.Tokens() <= t.fitting.room*3/4 || keep < 100 {
			break
		}
	}
	t.emit(Event{Kind: Summing, Request: req, Tokens: req.Tokens(), Window: t.fitting.room})
	var evs []utp.Event
	for e, err := range t.Model.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		evs = append(evs, e)
	}
	r := utp.Collect(evs)
	t.answer.Usage = t.answer.Usage.Add(r.Usage)
	text := strings.TrimSpace(r.Message.Text())
	if text == "" {
		return "", ErrEmpty
	}
	return cutMiddle(text, t.fitting.room), nil // as many bytes as the window has tokens: a quarter of it
}

// work is what is summed up, as text: of each part so many bytes.
func (t *turn) work(from, to, keep int) string {
	var b strings.Builder
	said := func(who, what string) {
		if what = strings.TrimSpace(what); what != "" {
			fmt.Fprintf(&b, "\n%s:\n%s\n", who, cutMiddle(what, keep))
		}
	}
	for i, m := range t.msgs[:to] {
		switch {
		case i == t.fitting.question:
			said("The question", m.Text())
			said("The summary of what was done on it before", t.fitting.summary)
			continue
		case i < from && !t.fitting.gone[i], i >= from && t.fitting.gone[i]:
			continue
		case m.Role == utp.RoleUser:
			said("Asked before", m.Text())
		default:
			said("Said", m.Text())
		}
		for _, c := range m.Calls() {
			said("Called "+c.Name, string(c.Args))
		}
		for _, r := range m.Results() {
			said(fmt.Sprintf("Result of %s (%s)", r.Name, r.Status), r.Text())
		}
	}
	return strings.TrimSpace(b.String())
}

// keptMessage is what is sent of a message.
func (t *turn) keptMessage(i int) utp.Message {
	m := t.msgs[i]
	m.Parts = append([]utp.Part{}, m.Parts...)
	for j, p := range m.Parts {
		m.Parts[j] = t.kept(place{i, j}, p)
	}
	return m
}

// withSummary puts the summary behind the question.
func (t *turn) withSummary(m utp.Message) utp.Message {
	if t.fitting.summary != "" {
		m.Parts = append(m.Parts, utp.Text{Text: "\n\n" + summedLine + "\n\n" + t.fitting.summary})
	}
	return m
}
