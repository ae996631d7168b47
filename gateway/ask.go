package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// progress is the state of an exchange's reply.
type progress struct {
	anew      func()      // called when a try begins, to drop what came of the one before; may be nil
	wrote     bool        // part of the reply was sent to the client
	waits     atomic.Bool // a backend has sent something
	exhausted bool        // all retries were used here; the client need not retry
}

// take consumes the events of one try. seen reports whether the client got any of them.
type take func(try iter.Seq2[utp.Event, error]) (seen bool, err error)

// ask asks the targets of the route in turn, until one answers or the client has
// seen part of a reply. A paused target is skipped while another remains.
func (x *exchange) ask(q *utp.Request, take take) (err error) {
	targets, some := x.awake(x.way.targets(q), q.Model)
	line := x.choose(targets, q)
	for i, t := range line.targets {
		last := i == len(targets)-1
		end := x.begin(line, i, q)
		if !x.gate.breaks.claim(t.spot(q.Model), x.Now()) && some && !last {
			end()
			continue // another request tries it
		}
		seen, failed := func() (bool, error) {
			defer end()
			return x.target(t, q, last, take)
		}()
		if err = failed; err == nil {
			x.stay(line, t, q)
		}
		if err == nil || seen || last || x.r.Context().Err() != nil || !wire.RemedyFor(err).Other {
			return err
		}
		x.warn("%s failed and another was asked: %s", t.name(), wire.FaultOf(err).Message)
	}
	return err
}

// awake returns the targets that are not paused, or all if every one is; some reports
// whether any is not.
func (x *exchange) awake(all []Target, model string) (targets []Target, some bool) {
	if len(all) == 1 {
		return all, true
	}
	for _, t := range all {
		if why := x.gate.breaks.closed(t, model, x.Now()); why != "" {
			x.warn("%s", why)
			continue
		}
		targets = append(targets, t)
	}
	if len(targets) == 0 {
		return all, false
	}
	return targets, true
}

// firstPause is the pause before the first retry of a target; each further one is twice
// as long.
const firstPause = 250 * time.Millisecond

// target asks a target, with the next of its keys if it refuses one. Otherwise it
// retries only if no other target is left and the client does not retry by itself.
func (x *exchange) target(t Target, q *utp.Request, last bool, take take) (seen bool, err error) {
	tries := 1
	if last && !asksAgain(x.r) {
		tries += t.retries()
	}
	x.report.Tries++
	keyed := x.keyed(t, q)
	for n := 1; ; n++ {
		seen, err = take(x.try(keyed[0], q, last))
		remedy := wire.RemedyFor(err)
		var own *denial
		if err == nil || seen || errors.As(err, &own) || x.r.Context().Err() != nil {
			return seen, err
		}
		if remedy.Key && len(keyed) > 1 {
			x.nextKey(keyed[0], err)
			keyed, n = keyed[1:], n-1
			continue
		}
		if !remedy.Same {
			return seen, err
		}
		if n == tries {
			x.exhausted = tries > 1
			return seen, err
		}
		x.waits.Store(true)
		if pause := remedy.Wait(firstPause, n); x.Sleep(x.r.Context(), pause) != nil {
			return seen, err
		}
		x.warn("%s failed and was asked again: %s", t.name(), wire.FaultOf(err).Message)
	}
}

// errEmpty is the error for a reply without text, thoughts or calls.
var errEmpty = &wire.Error{Status: http.StatusBadGateway, Message: "the reply is empty"}

// try asks a target once. An empty reply is a failure if another target is left;
// otherwise it stands, as a model may have nothing to say.
func (x *exchange) try(t Target, q *utp.Request, last bool) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		asked := *q
		asked.Model = t.asked(q.Model)
		x.report.Backend, x.report.Speaks, x.report.Asked, x.report.Digest = t.name(), t.Backend.API(), asked.Model, t.digest(q.Model)
		x.report.Key = t.key
		x.countChoice(t)
		if x.chosen != nil {
			x.chosen()
		}
		failed, said := wire.ErrCut, false
		book, err := x.book(t, &asked)
		if err != nil {
			yield(utp.Event{}, err)
			return
		}
		hooks := x.hooks()
		hooks.Form = x.form(t)
		book.hooks(&hooks)
		ids := minting{of: x.request, form: hooks.Form}
		var over *utp.End
		defer func() { book.end(over, failed) }()
		began, first := x.Now(), time.Duration(-1)
		for e, err := range t.Backend.Ask(x.r.Context(), &asked, hooks) {
			x.waits.Store(true)
			if first < 0 {
				first = x.Now().Sub(began)
			}
			book.hear(e)
			said = said || says(e)
			end := e.Kind == utp.EventFinish && e.End != nil
			switch {
			case err != nil:
				failed = err
			case end && e.End.Stop == utp.StopError:
				continue // the error that follows says why
			case end && !said && !last && e.End.Stop == utp.StopEnd:
				failed, over = errEmpty, e.End
			default:
				if e.Kind == utp.EventFinish {
					failed, over = nil, e.End
				}
				if !yield(ids.event(e), nil) {
					return
				}
				continue
			}
			break
		}
		var own *denial
		if x.r.Context().Err() == nil && !errors.As(failed, &own) {
			x.tellBreaker(t, q.Model, failed)
			if failed == nil && x.way.Choose == ByLatency {
				x.gate.loads.hear(t.spot(q.Model), !x.request.Stream, first, x.Now())
			}
		}
		if failed != nil {
			yield(utp.Event{}, failed)
		}
	}
}

// says reports whether an event shows the client part of a reply.
func says(e utp.Event) bool {
	switch e.Kind {
	case utp.EventText, utp.EventThink:
		return e.Text != ""
	case utp.EventCallStart, utp.EventCallDelta, utp.EventCallEnd, utp.EventWhole:
		return true
	}
	return e.Kind == utp.EventProblem && e.Raw != "" && e.Problem.Shows()
}

// asksAgain reports whether the client retries failed requests by itself, by its
// headers: the SDKs of OpenAI and Anthropic count their tries, the others are agents
// known to retry. Source: the requests of these clients.
func asksAgain(r *http.Request) bool {
	if r.Header.Get("X-Stainless-Retry-Count") != "" {
		return true
	}
	return slices.ContainsFunc(strings.Fields(r.UserAgent()), func(program string) bool {
		return slices.ContainsFunc([]string{"ai-sdk/", "codex_", "GeminiCLI"}, func(name string) bool { return strings.HasPrefix(program, name) })
	})
}

func (x *exchange) hooks() wire.Hooks {
	h := wire.Hooks{
		Whole: !x.request.Stream, Once: true, Idle: x.idle,
		Warn: func(s string) { x.report.Warnings = append(x.report.Warnings, utp.Redact(s)) },
		Told: func(form, why string) { x.report.Form, x.report.Why = form, why },
		Lost: func(l []wire.Loss) { x.report.Lost = append(x.report.Lost, l...) },
	}
	if x.Trace != nil {
		h.Dump = x.dump
	}
	return h
}

// minting gives each call without an id one that is always the same for the same
// conversation, and differs from any other's.
type minting struct {
	of    *utp.Request
	form  string // the learned form; "": none
	place int
	ids   map[int]string
}

func (m *minting) event(e utp.Event) utp.Event {
	if e.Call == nil || e.Kind != utp.EventCallStart && e.Kind != utp.EventCallEnd {
		return e
	}
	if e.Kind == utp.EventCallStart || m.ids[e.Part] == "" {
		id := e.Call.ID
		if id == "" {
			id = mint(m.of.Messages, m.place, e.Call.Name, m.form)
		}
		if m.ids == nil {
			m.ids = map[int]string{}
		}
		m.ids[e.Part] = id
		m.place++
	}
	if e.Call.ID == "" {
		c := *e.Call
		c.ID = m.ids[e.Part]
		e.Call = &c
	}
	return e
}

// mint returns the id for a call that came without one: a hash of the conversation
// before it, its place in the turn, its name and the learned form of the tools, so
// that the form is recognized when the call comes back.
func mint(before []utp.Message, place int, name, form string) string {
	if form != "" {
		form = " " + form
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %d %s%s", digest("", before...), place, name, form))
	return "call_" + base32.StdEncoding.EncodeToString(sum[:])[:24]
}

// sleep waits for d, or returns the error of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
