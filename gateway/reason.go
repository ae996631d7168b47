package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// StatusGone is the Status of a request whose client left before the reply.
const StatusGone = 499

// reasonOf returns one word for how a request ended. There are few, so that they can be
// labels: "ok", those of the gateway's own refusals, and these.
func (r *Report) reasonOf(err error) string {
	switch {
	case err != nil:
		return r.failedBy(err)
	case r.Status >= http.StatusBadRequest: // passed through as it was
		return refused(&wire.Error{Status: r.Status})
	}
	return "ok"
}

func (r *Report) failedBy(err error) string {
	var own *denial
	var input *wire.InputError
	var theirs *wire.Error
	var call *utp.Problem
	switch {
	case errors.As(err, &own):
		return own.reason
	case r.Status == StatusGone:
		return "client_gone"
	case errors.As(err, &input):
		return "bad_request"
	case errors.As(err, &call):
		return "broken_call"
	case errors.Is(err, wire.ErrCut):
		return "cut"
	case errors.Is(err, context.DeadlineExceeded):
		return "backend_timeout"
	case errors.As(err, &theirs):
		if theirs.Status == http.StatusNotFound && r.Backend == "" {
			return "no_model"
		}
		return refused(theirs)
	}
	return "backend_gone"
}

// refused returns the reason for a backend's refusal.
func refused(e *wire.Error) string {
	switch {
	case e.Type == wire.NotThisAPI:
		return "backend_nonsense"
	case e.Overflow():
		return "context_length"
	}
	switch wire.FaultOf(e).Kind {
	case wire.NoKey, wire.Forbidden:
		return "backend_key"
	case wire.RateLimited:
		return "backend_limit"
	case wire.Overloaded:
		return "backend_overloaded"
	case wire.Timeout:
		return "backend_timeout"
	case wire.Internal, wire.BadGateway:
		return "backend_error"
	}
	return "backend_refused"
}
