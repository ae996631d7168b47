package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// booking reserves what a try may cost before each of its requests goes out, and
// settles the reservation once the cost is known. A nil booking books nothing.
type booking struct {
	x      *exchange
	at     Target
	model  string
	price  price.Price
	priced bool
	output int // the most tokens of the reply
	beside int // the most tokens of what the request only refers to, such as images

	open  string       // the id of the open reservation; "": none
	line  *fleet.Line  // in its place, for a key without a budget
	most  fleet.Amount // the amount reserved
	body  []byte       // the request it was reserved for
	usage utp.Usage    // of the replies already settled
	said  int          // tokens of the reply seen so far
}

// usualOutput is the assumed length, in tokens, of a reply without a limit to a key
// without a budget, until the real one is known.
const usualOutput = 4096

// mostOutput is more tokens than any reply has, and few enough that sums of them and
// of their prices do not overflow.
const mostOutput = math.MaxInt32

// linked is the assumed size, in tokens, of a file that the request only links to.
// attached is the least assumed for one inside the request: providers count a small
// image as more than its bytes.
const (
	linked   = 32 << 10
	attached = 4 << 10
)

// book returns the booking for a try. q is the request to the target; if its reply
// has no limit and the key has a budget, book sets one.
func (x *exchange) book(t Target, q *utp.Request) (*booking, error) {
	if x.client == nil || x.client.key == nil {
		return nil, nil
	}
	b, err := x.booking(t, t.asked(q.Model))
	if err != nil {
		return nil, err
	}
	for _, m := range q.Messages {
		b.beside += files(m.Parts)
	}
	if limit := q.Params.MaxTokens; limit != nil && *limit > 0 {
		b.output = min(*limit, mostOutput)
		return b, nil
	}
	if !x.client.key.Tokens() {
		return b, nil
	}
	prompt := measure(q.Messages)
	for _, tool := range q.Tools {
		prompt += messageRoom + len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	prompt = max(prompt, len(x.sent)+messageRoom) + b.beside // JSON has more bytes than what it says
	if b.output, err = b.affordable(prompt); err != nil {
		return nil, err
	}
	q.Params.MaxTokens = &b.output
	x.report.Lost = append(x.report.Lost, wire.Loss{Path: "params.max_tokens", What: fmt.Sprintf("the reply may have %d tokens", b.output), Why: "the key has a budget of tokens or money and the request no limit"})
	return b, nil
}

// booking returns a booking for a model of a target, or an error if the key has a budget
// of money and the model no price.
func (x *exchange) booking(t Target, model string) (*booking, error) {
	b := &booking{x: x, at: t, model: model, output: usualOutput}
	if b.price, b.priced = x.Prices.Of(t.name(), model); !b.priced && x.client.key.Pays() {
		return nil, denied(http.StatusForbidden, "no_price", "the model %q has no price, and this key has a budget of money: whoever runs the gateway adds [prices.%q]", model, model)
	}
	if !b.priced {
		b.price.Dated = fleet.NoPrice
	}
	return b, nil
}

// files returns the most tokens of the files in parts whose size does not bound them.
func files(parts []utp.Part) (n int) {
	for _, p := range parts {
		switch p := p.(type) {
		case utp.Blob:
			if n += attached; p.URL != "" {
				n += linked
			}
		case utp.Result:
			n += files(p.Parts)
		case utp.Unknown:
			n += linked
		}
	}
	return n
}

// affordable returns how many tokens a reply to the prompt may have: what is left of
// the budgets, up to Limits.Output.
func (b *booking) affordable(prompt int) (int, error) {
	var now []fleet.Spent
	err := b.ask(func(ctx context.Context) (err error) {
		now, err = b.x.Ledger.Windows(ctx, b.x.client.key, b.x.Now())
		return err
	})
	if err != nil {
		return 0, b.refusal(err)
	}
	n := b.x.Limits.Output
	for _, w := range now {
		left := w.Left()
		if w.Limit.Tokens > 0 {
			n = min(n, int(left.Tokens)-prompt)
		}
		if w.Limit.Money > 0 {
			n = min(n, b.price.Affords(left.Money, prompt))
		}
		if n <= 0 {
			want := b.amount(prompt, 1)
			unit := w.Broken(want)
			if unit == "" {
				unit = "tokens"
			}
			return 0, b.refusal(&fleet.Over{Spent: w, Unit: unit, Want: want})
		}
	}
	return n, nil
}

// amount returns the most that these tokens can cost.
func (b *booking) amount(prompt, output int) fleet.Amount {
	return fleet.Amount{Requests: 1, Tokens: int64(prompt) + int64(output), Money: b.price.Most(prompt, output)}
}

func (b *booking) ask(f func(ctx context.Context) error) error {
	x := b.x
	return x.gate.shared.with(x.r.Context(), x.house, &x.gate.shared.ledger, "ledger", func(ctx context.Context) error {
		err := f(ctx)
		var over *fleet.Over
		if errors.As(err, &over) {
			return &answer{over}
		}
		return err
	})
}

// answer carries a refusal by the Ledger through code that takes errors for failures.
type answer struct{ *fleet.Over }

func (a *answer) Unwrap() error { return a.Over }

// send reserves for a request with this body. The reservation before it is settled
// already, or its request was refused by the server.
func (b *booking) send(body []byte) error {
	if b == nil {
		return nil
	}
	b.settle(fleet.Refused, utp.Usage{})
	x := b.x
	r := fleet.Reservation{ID: rand.Text(), Key: x.client.key, Replica: x.Replica, Request: x.report.ID, Backend: b.at.name(), Model: b.model, Dated: b.price.Dated, At: x.Now(),
		Most: b.amount(len(body)+b.beside, b.output)}
	if !x.client.key.Kept() {
		b.open, b.most, b.body, b.line = r.ID, r.Most, body, &fleet.Line{Reservation: r}
		return nil
	}
	var now []fleet.Spent
	err := b.ask(func(ctx context.Context) (err error) {
		now, err = x.Ledger.Reserve(ctx, r)
		return err
	})
	var over *fleet.Over
	switch {
	case err == nil:
		b.open, b.most, b.body = r.ID, r.Most, body
		b.tell(now)
		return nil
	case errors.As(err, &over):
		x.gate.metrics.add("bx_budget_refusals_total", labels(label("unit", over.Unit), label("per", string(over.Per)), label("of", over.Subject.Kind)), 1)
		return b.refusal(err)
	case !errors.Is(err, errAway):
		x.gate.shared.owed.cancel(r.ID, x.Now()) // it may have been written all the same
	}
	return b.refusal(err)
}

// refusal returns the error for a request that cannot be booked.
func (b *booking) refusal(err error) error {
	var over *fleet.Over
	if !errors.As(err, &over) {
		return denial503("ledger_away", "the ledger of keys and budgets does not answer: ask again in a moment")
	}
	now := b.x.Now()
	e := &wire.Error{Status: http.StatusTooManyRequests, Message: over.Error(), Code: "insufficient_quota", Type: "insufficient_quota", RetryAfter: over.Per.End(now).Sub(now)}
	b.tell([]fleet.Spent{over.Spent})
	if over.Per == fleet.Minute {
		e.Code, e.Type = "rate_limit_exceeded", "tokens"
	}
	if over.Passing() {
		e.Code, e.Type, e.RetryAfter = "rate_limit_exceeded", "tokens", retryReserved
	}
	return &denial{"budget_" + over.Unit, e}
}

// tell writes the tokens left for the minute into the client's headers: for its key or
// its team, whichever has fewer.
func (b *booking) tell(now []fleet.Spent) {
	var least *fleet.Spent
	for i, w := range now {
		if w.Per == fleet.Minute && w.Limit.Tokens > 0 && (least == nil || w.Left().Tokens < least.Left().Tokens) {
			least = &now[i]
		}
	}
	if least != nil {
		b.x.tellLimit("tokens", least.Limit.Tokens, least.Left().Tokens, least.Per.End(b.x.Now()).Sub(b.x.Now()))
	}
}

// hear counts the tokens of an event of the reply.
func (b *booking) hear(e utp.Event) {
	if b == nil {
		return
	}
	b.said += utp.Tokens(e.Text)
	if p, ok := e.Value.(utp.Think); ok {
		b.said += utp.Tokens(p.Text)
	}
}

// spent settles a reply before it is asked for once more.
func (b *booking) spent(u utp.Usage) {
	b.usage = b.usage.Add(u)
	b.close(u)
	b.said = 0
}

// end settles the try: by the provider's count, by an estimate from what was seen, or
// at no cost if it was not served.
func (b *booking) end(end *utp.End, failed error) {
	switch {
	case b == nil || b.open == "":
	case end != nil:
		b.close(less(end.Usage, b.usage))
	case unserved(failed):
		b.settle(fleet.Refused, utp.Usage{})
	default:
		b.close(utp.Usage{})
	}
}

// close settles a reply by its count, or by an estimate where there is none.
func (b *booking) close(u utp.Usage) {
	if b == nil {
		return
	}
	if u = possible(u); u.Prompt()+u.Completion() > 0 {
		b.settle(fleet.Settled, u)
		return
	}
	b.settle(fleet.Estimated, utp.Usage{Input: utp.Tokens(b.body) + b.beside, Output: b.said})
}

// possible returns u limited to what a request can have: some servers send -1 or
// absurd counts.
func possible(u utp.Usage) utp.Usage {
	for _, n := range []*int{&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning} {
		*n = max(0, min(*n, mostOutput))
	}
	return u
}

func less(a, b utp.Usage) utp.Usage {
	return utp.Usage{Input: a.Input - b.Input, CacheRead: a.CacheRead - b.CacheRead, CacheWrite: a.CacheWrite - b.CacheWrite, Output: a.Output - b.Output, Reasoning: a.Reasoning - b.Reasoning}
}

// unserved reports whether a failure costs nothing: the provider refused with a status,
// or could not be reached.
func unserved(err error) bool {
	var theirs *wire.Error
	var op *net.OpError
	return errors.As(err, &theirs) && theirs.Status >= http.StatusBadRequest && theirs.Type != wire.NotThisAPI || errors.As(err, &op) && op.Op == "dial"
}

// settle ends the reservation. If the Ledger does not answer, it is settled later.
func (b *booking) settle(how fleet.Ending, u utp.Usage) {
	if b.open == "" {
		return
	}
	x := b.x
	s := fleet.Settlement{ID: b.open, Ending: how, Usage: u, At: x.Now()}
	if how != fleet.Refused {
		s.Amount = fleet.Amount{Requests: 1, Tokens: int64(u.Prompt() + u.Completion()), Money: b.price.Cost(u)}
		x.report.Cost += s.Amount.Money
	}
	b.open, b.body = "", nil
	if b.line != nil { // it counts against no budget
		b.line.Settlement = s
		if !x.gate.shared.owed.record(*b.line) {
			x.gate.metrics.add("bx_unbooked_total", "", 1)
		}
		b.line = nil
		return
	}
	err := x.gate.shared.with(context.WithoutCancel(x.r.Context()), x.house, &x.gate.shared.ledger, "ledger", func(ctx context.Context) error {
		return x.gate.settled(ctx, x.house, s)
	})
	if err != nil {
		x.gate.shared.owed.add(s, x.Now())
	}
}

// settled writes a settlement to the Ledger and counts its outcome.
func (g *Gateway) settled(ctx context.Context, h *house, s fleet.Settlement) error {
	out, err := h.Ledger.Settle(ctx, s)
	if errors.Is(err, fleet.ErrUnknown) {
		return nil // it was never reserved
	}
	if err != nil {
		return err
	}
	g.metrics.add("bx_settlements_total", label("ending", string(s.Ending)), 1)
	if out.Late {
		g.metrics.add("bx_late_settlements_total", "", 1)
	}
	if out.Over {
		g.metrics.add("bx_budget_debts_total", "", 1)
		h.Log.Warn("a request came to more than was reserved for it", "reservation", s.ID, "tokens", s.Amount.Tokens, "money", s.Amount.Money.String())
	}
	return nil
}

// hooks adds the booking to the hooks of a try.
func (b *booking) hooks(h *wire.Hooks) {
	if b != nil {
		h.Send, h.Spent = b.send, b.spent
	}
}

// retryReserved is the Retry-After for a budget that is only reserved, not used up.
const retryReserved = 2 * time.Second

// cancelTime is how long the gateway keeps looking for a reservation that may have been
// written although the Ledger did not confirm it.
const cancelTime = time.Minute
