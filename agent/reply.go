package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// reply is a complete answer of the model. Its text holds no call markup, its
// calls have their final ids.
type reply struct {
	utp.Reply
	stuck bool       // it was stopped, for it said the same again and again
	calls []utp.Call // in the order to run: native ones, then those found in text
}

// text is what the reader gets.
func (r reply) text() string {
	return strings.TrimRight(strings.TrimLeft(r.Message.Text(), "\r\n"), " \t\r\n")
}

// broken reports a try to call a tool that failed.
func (r reply) broken() bool { return r.Stop == utp.StopBadCall || len(bad(r.Problems)) > 0 }

// bad lists the problems that the model should hear of.
func bad(ps []utp.Problem) (out []utp.Problem) {
	for _, p := range ps {
		if p.Failed() {
			out = append(out, p)
		}
	}
	return out
}

// request asks the model. An empty reply is asked for once more; a second one
// is an error, so that no turn ends in silence.
func (t *turn) request(ctx context.Context, forced bool) (reply, error) {
	tools, line := t.Gate.Offered(), ""
	if forced {
		tools, line = nil, forcedLine
	}
	rep, err := t.once(ctx, tools, line)
	if err != nil || !rep.silent(forced) {
		return rep, err
	}
	if rep.Stop != utp.StopFilter {
		what := "the model's reply was empty"
		if len(rep.calls) > 0 {
			what = "the model called tools in place of an answer; they were not run"
		}
		t.warn(what+"; asking once more", nil)
		rep, err = t.once(ctx, tools, joinLines(line, emptyLine))
		if err != nil || !rep.silent(forced) {
			return rep, err
		}
	}
	return rep, emptyError(rep)
}

// silent reports a reply with nothing to go on. A call is something, and a
// broken one too, unless the reply is to be the answer.
func (r reply) silent(forced bool) bool {
	if strings.TrimSpace(r.text()) != "" {
		return false
	}
	return forced || len(r.calls) == 0 && !r.broken() && r.Stop != utp.StopPause
}

func emptyError(rep reply) error {
	switch {
	case rep.Stop == utp.StopFilter:
		return fmt.Errorf("%w: the provider refused or filtered it", ErrEmpty)
	case rep.Stop == utp.StopLength:
		return fmt.Errorf("%w: the output limit was reached before any text; allow more tokens", ErrEmpty)
	case len(rep.Problems) > 0:
		return fmt.Errorf("%w, only a tool call that cannot be read: %w", ErrEmpty, &rep.Problems[0])
	case len(rep.calls) > 0:
		return fmt.Errorf("%w, only tool calls where none can run", ErrEmpty)
	}
	return fmt.Errorf("%w, only an empty reply, twice", ErrEmpty)
}

// errCut is a stream without its Finish event.
var errCut = errors.New("the model's stream ended before its reply was complete")

// once asks with as much as fits the model's window, and once more with less if
// the server finds it too long.
func (t *turn) once(ctx context.Context, tools []utp.Tool, line string) (reply, error) {
	if err := t.step(ctx); err != nil {
		return reply{}, err
	}
	req := t.fit(ctx, tools, line)
	rep, err := t.exchange(ctx, req)
	if err == nil || !t.refit(ctx, err, req) {
		return rep, err
	}
	if err := t.step(ctx); err != nil {
		return reply{}, err
	}
	less := *req
	less.Messages = t.messages(line)
	return t.exchange(ctx, &less)
}

// step counts a request.
func (t *turn) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.answer.Requests++
	if t.Step == nil {
		return nil
	}
	return t.Step(ctx, t.answer.Requests)
}

// exchange sends one request and reads its reply.
func (t *turn) exchange(ctx context.Context, req *utp.Request) (reply, error) {
	t.emit(Event{Kind: Round, Request: req, Tokens: t.fitting.tokens, Window: max(t.fitting.room, 0)})
	rd := reader{t: t, dead: map[int]bool{}, open: map[int]string{}, said: map[Kind]*stuck{}}
	for e, err := range t.paced(t.Model.Stream(ctx, req)) {
		if err != nil {
			rd.breakOff()
			return reply{}, err
		}
		rd.take(e)
		if t.left {
			return reply{}, errLeft
		}
		if rd.stuck {
			t.warn("the model says the same again and again; its reply was stopped", nil)
			rd.take(utp.Event{Kind: utp.EventFinish, Part: e.Part + 1, End: &utp.End{Stop: utp.StopLength}})
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return reply{}, err
	}
	return rd.reply()
}

// compose makes the request of a round.
func (t *turn) compose(tools []utp.Tool, line string) *utp.Request {
	req := t.ask
	req.Tools = tools
	if len(tools) == 0 {
		req.Choice = utp.Choice{}
		if t.answer.Forced != "" {
			req.Choice.Mode = utp.ChoiceNone // a call in the reply is one still, and no part of the answer
		}
	} else if t.answer.Requests > 1 && (req.Choice.Mode == utp.ChoiceRequired || req.Choice.Mode == utp.ChoiceNamed) {
		req.Choice.Mode, req.Choice.Name = utp.ChoiceAuto, ""
	}
	req.Messages = t.messages(line)
	return &req
}

// withLine adds a line to the system message, and leaves ms as they are. A
// system message elsewhere than in front would break many chat templates.
func withLine(ms []utp.Message, line string) []utp.Message {
	out := append([]utp.Message{}, ms...)
	if line == "" {
		return out
	}
	if systems(ms) == 0 {
		return append([]utp.Message{utp.NewText(utp.RoleSystem, line)}, out...)
	}
	out[0] = utp.NewText(utp.RoleSystem, joinLines(out[0].Text(), line))
	return out
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
