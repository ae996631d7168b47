package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// visitTime is how long a running request counts unless its replica renews it.
const visitTime = time.Minute

// admitted admits a request by its client's rates, whether State or this process counts them.
func (x *exchange) admitted() (leave func(tokens int), err error) {
	if x.client == nil || len(x.client.rates) == 0 {
		return func(int) {}, nil
	}
	if x.State == nil {
		return x.counted()
	}
	v := fleet.Visit{ID: x.report.ID, Rates: x.client.rates, Until: x.Now().Add(visitTime)}
	var pass fleet.Pass
	err = x.gate.shared.with(x.r.Context(), x.house, &x.gate.shared.state, "state", func(ctx context.Context) (err error) {
		pass, err = x.State.Enter(ctx, v, x.began)
		return err
	})
	switch {
	case err != nil && x.Away.Refuse:
		return nil, denial503("state_away", "whether this key may ask cannot be found out now: ask again in a moment")
	case err != nil:
		x.warn("rates do not hold: state does not answer")
		return func(int) {}, nil
	}
	x.tellRates(pass)
	if pass.Refused != "" {
		return nil, refusedBy(pass.Refused, pass.Owner == x.client.id, pass.Wait)
	}
	bounded := slices.ContainsFunc(v.Rates, func(r fleet.Rate) bool { return r.Parallel > 0 })
	if bounded {
		x.gate.shared.visits.Store(v.ID, v)
	}
	return func(tokens int) {
		x.gate.shared.visits.Delete(v.ID)
		if !bounded && (tokens == 0 || !x.metered()) {
			return
		}
		_ = x.gate.shared.with(context.WithoutCancel(x.r.Context()), x.house, &x.gate.shared.state, "state", func(ctx context.Context) error {
			return x.State.Leave(ctx, v, int64(tokens), x.Now())
		}) // logged there; a visit that is not ended expires after visitTime
	}, nil
}

// counted admits a request by the meters of this process.
func (x *exchange) counted() (leave func(tokens int), err error) {
	var left []func(int)
	leave = func(tokens int) {
		for _, l := range left {
			l(tokens)
		}
	}
	for _, r := range x.client.rates {
		l, err := x.gate.meters.enter(&Client{id: r.Owner, Requests: int(r.Requests), Tokens: int(r.Tokens), Parallel: r.Parallel}, x.began)
		if err != nil {
			leave(0)
			return nil, err
		}
		left = append(left, l)
	}
	return leave, nil
}

// refusedBy returns the error for a client whose rate is used up.
func refusedBy(unit string, own bool, wait time.Duration) error {
	whose := "this key"
	if !own {
		whose = "this key's team"
	}
	if unit == "parallel" {
		return tooMany("key_parallel", "as many requests as "+whose+" may have are running", wait)
	}
	return tooMany("key_"+unit, whose+"'s "+unit+" for the minute are used up", wait)
}

// tellRates writes how many requests are left into the headers of the client's API: for
// its key or its team, whichever has fewer.
func (x *exchange) tellRates(pass fleet.Pass) {
	var limit, left int64
	for i, r := range x.client.rates {
		switch {
		case r.Requests == 0:
		case pass.Refused == "" && (limit == 0 || pass.Left[i] < left):
			limit, left = r.Requests, pass.Left[i]
		case pass.Refused == "requests" && pass.Owner == r.Owner:
			limit, left = r.Requests, 0
		}
	}
	if limit > 0 {
		x.tellLimit("requests", limit, left, time.Duration(float64(limit-left)/float64(limit)*float64(time.Minute)))
	}
}

// tellLimit writes the headers of a limit. Sources: OpenAI, "Rate limits"; Anthropic,
// "Rate limits"; Gemini's and Ollama's APIs have none.
func (x *exchange) tellLimit(unit string, limit, left int64, reset time.Duration) {
	h, n := x.w.Header(), strconv.FormatInt
	switch x.door.api {
	case openaiAPI, responsesAPI:
		h.Set("X-Ratelimit-Limit-"+unit, n(limit, 10))
		h.Set("X-Ratelimit-Remaining-"+unit, n(left, 10))
		h.Set("X-Ratelimit-Reset-"+unit, reset.Round(time.Millisecond).String())
	case anthropicAPI:
		h.Set("Anthropic-Ratelimit-"+unit+"-Limit", n(limit, 10))
		h.Set("Anthropic-Ratelimit-"+unit+"-Remaining", n(left, 10))
		h.Set("Anthropic-Ratelimit-"+unit+"-Reset", x.Now().Add(reset).UTC().Format(time.RFC3339))
	}
}

// mayAsk returns an error for a model that the client's key does not permit.
func (x *exchange) mayAsk(model string) error {
	if x.client == nil || x.client.key == nil || x.client.key.Allows(model) {
		return nil
	}
	return denied(http.StatusForbidden, "model_not_allowed", "this key may not ask for the model %q", model)
}

// allowed returns the models that the client's key permits.
func (x *exchange) allowed(models []wire.Model) []wire.Model {
	if x.client == nil || x.client.key == nil {
		return models
	}
	return slices.DeleteFunc(models, func(m wire.Model) bool { return !x.client.key.Allows(m.ID) })
}
