package telemetry

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Request takes a request that the gateway has answered. Its span is a child of
// the client's, if the client has sent a traceparent.
func (t *Telemetry) Request(r gateway.Report) {
	if t == nil {
		return
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": r.Parent})
	t.record(ctx, chat{
		provider: r.Speaks, asked: cmp.Or(r.Asked, r.Model), answered: r.Answered, id: r.ReplyID, stream: r.Stream,
		began: r.Began, first: r.First, took: r.Took, usage: r.Usage, stop: r.Stop,
		native: r.Calls - r.FromText, dialects: r.Dialects, fixes: r.Fixes, problems: r.Problems,
		failure: failureOf(r), more: served(r),
	})
}

// served are the attributes that only the gateway has.
func served(r gateway.Report) (l list) {
	l.text("bx.request.id", r.ID)
	l.text("bx.client.api", r.API)
	l.text("bx.client.name", r.Client)
	l.text("bx.client.model", r.Model)
	l.text("bx.target", r.Target)
	l.text("bx.again", r.Again)
	l.count("bx.tools", r.Tools)
	l.count("bx.losses", len(r.Losses))
	l.count("bx.tries", r.Tries)
	if r.Status > 0 {
		l = append(l, attribute.Int("http.response.status_code", r.Status))
	}
	return l
}

// failureOf is the class of a request's error: "gone" for a client that left, a
// status, or "broken" for a stream that ended in an error.
func failureOf(r gateway.Report) string {
	switch {
	case r.Status == 0:
		return "gone"
	case r.Status >= http.StatusBadRequest:
		return strconv.Itoa(r.Status)
	case r.Err != nil, r.Stop == utp.StopError:
		return "broken"
	}
	return ""
}

// classOf is the class of an error of the agent's.
func classOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	var theirs *wire.Error
	if errors.As(err, &theirs) && theirs.Status != 0 {
		return strconv.Itoa(theirs.Status)
	}
	return "broken"
}
