package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Key is one of several keys of a server. A key that the server refuses (401, 402) or
// that is over its limit (429) is paused, and the next is used.
type Key struct {
	Name    string  // for the log, the metrics and other replicas: never the key itself
	Backend Backend // the server, asked with it
}

func checkKeys(keys []Key) error {
	seen := map[string]bool{}
	for _, k := range keys {
		if k.Name == "" || seen[k.Name] || k.Backend == nil {
			return fmt.Errorf("key %q: want a name of its own and a backend", k.Name)
		}
		seen[k.Name] = true
	}
	return nil
}

// with returns the target with one of its keys.
func (t Target) with(k Key) Target {
	t.Backend, t.key = k.Backend, k.Name
	return t
}

// keySpot returns the spot of the target's key for the model.
func (t Target) keySpot(model string) spot { return spot{t.name(), t.asked(model), t.key} }

// models lists the server's models, with the first key that it accepts.
func (t Target) models(ctx context.Context) (out []wire.Model, err error) {
	if len(t.Keys) == 0 {
		return t.Backend.Models(ctx)
	}
	for _, k := range t.Keys {
		if out, err = k.Backend.Models(ctx); err == nil || !wire.RemedyFor(err).Key {
			break
		}
	}
	return out, err
}

// keyed returns the target with each of its keys, in the order in which they are tried:
// the conversation's own first, as providers cache prompts by account. Paused keys are
// left out unless all are.
func (x *exchange) keyed(t Target, q *utp.Request) []Target {
	if len(t.Keys) == 0 {
		return []Target{t}
	}
	seed := beginning(q) * mixing >> 33 // so that the key does not follow from the target, which the same number has chosen
	var all []Target
	for _, i := range drawn(len(t.Keys), func(int) int { return 1 }, seed) {
		all = append(all, t.with(t.Keys[i]))
	}
	if some := x.gate.breaks.rested(all, q.Model, x.Now()); len(some) > 0 {
		return some
	}
	return all
}

// rested returns the targets whose keys are not paused.
func (b *breakers) rested(keyed []Target, model string, now time.Time) (out []Target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range keyed {
		if !b.resting(t.keySpot(model), now) {
			out = append(out, t)
		}
	}
	return out
}

// forward passes a request to the target's server unchanged, with the first key that it
// accepts. A server that refused a key has done nothing, so the next may be tried. Each
// try reserves for itself.
func (x *exchange) forward(to Target, r *http.Request, body []byte, book *booking) (*http.Response, error) {
	keyed := x.keyed(to, x.passing(x.report.Route, body))
	for i, t := range keyed {
		x.report.Key = t.key
		if err := book.send(body); err != nil {
			return nil, err
		}
		q := r.WithContext(x.r.Context())
		q.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := t.Backend.Forward(q)
		if err != nil || t.key == "" {
			return resp, err
		}
		var refused error
		if resp.StatusCode >= http.StatusBadRequest {
			text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
			_ = resp.Body.Close() // of a refusal, which is read
			resp.Body = io.NopCloser(bytes.NewReader(text))
			e := wire.ReadError(resp.StatusCode, text)
			e.RetryAfter = wire.RetryAfter(resp.Header.Get("Retry-After"), text, x.Now())
			refused = e
		}
		x.tellBreaker(t, x.report.Route, refused)
		if i == len(keyed)-1 || !wire.RemedyFor(refused).Key {
			return resp, nil
		}
		x.nextKey(t, refused)
	}
	return nil, nil // there is always a key
}

// nextKey warns that another key of a target is used, and why. The log says which key
// failed.
func (x *exchange) nextKey(t Target, why error) {
	x.warn("%s did not take one of its keys and was asked with another: %s", t.name(), wire.FaultOf(why).Message)
}
