package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// exchange is one request on its way through.
type exchange struct {
	*Gateway
	*door
	w       http.ResponseWriter
	r       *http.Request
	began   time.Time
	request *utp.Request
	losses  []wire.Loss
	calls   int
}

// chat answers a request for a reply of a model.
func (g *Gateway) chat(d *door) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{Gateway: g, door: d, w: w, r: r, began: g.cfg.Now()}
		x.log(x.serve())
	}
}

// tokens answers a request that asks how many tokens it is. The count is a guess.
func (g *Gateway) tokens(d *door) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{Gateway: g, door: d, w: w, r: r, began: g.cfg.Now()}
		if err := x.read(); err != nil {
			d.refuse(w, err)
			return
		}
		reply(w, http.StatusOK, d.count(wire.Estimate(x.request)))
	}
}

// serve answers and gives what went wrong.
func (x *exchange) serve() error {
	if err := x.read(); err != nil {
		x.refuse(x.w, err)
		return err
	}
	route, err := x.route(x.request.Model)
	if err != nil {
		x.refuse(x.w, err)
		return err
	}
	asked := *x.request
	asked.Model = route.asked(x.request.Model)
	events := route.Backend.Stream(x.r.Context(), &asked)
	if x.request.Stream {
		return x.stream(events)
	}
	var all []utp.Event
	for e, err := range events {
		if err != nil {
			x.refuse(x.w, err)
			return err
		}
		all = append(all, x.counted(e))
	}
	body, losses, err := x.front.Whole(x.request, utp.Collect(all), x.stamp())
	x.losses = append(x.losses, losses...)
	if err != nil {
		x.refuse(x.w, err)
		return err
	}
	reply(x.w, http.StatusOK, body)
	return nil
}

func (x *exchange) stamp() wire.Stamp {
	return wire.Stamp{ID: x.cfg.NewID(), Model: x.request.Model, Unix: x.began.Unix()}
}

func (x *exchange) counted(e utp.Event) utp.Event {
	if e.Kind == utp.CallEnd {
		x.calls++
	}
	return e
}

// read takes the client's request.
func (x *exchange) read() error {
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, x.cfg.MaxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return &wire.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the request is longer than %d bytes", long.Limit)}
	case err != nil:
		return &wire.InputError{Offset: len(body), Want: "a whole request: " + err.Error()}
	}
	x.request, x.losses, err = x.front.Read(wire.HTTPRequest{Method: x.r.Method, Path: x.r.URL.Path, Query: x.r.URL.Query(), Header: x.r.Header, Body: body})
	return err
}

// refuse answers with an error in the client's own form.
func (d *door) refuse(w http.ResponseWriter, err error) {
	err = told(err)
	if fault := wire.FaultOf(err); fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(fault.RetryAfter.Seconds()))))
	}
	status, body := d.front.Error(err)
	reply(w, status, body)
}

// told is an error as a client may hear it. What is no answer of a provider is
// a backend that gave none.
func told(err error) error {
	var input *wire.InputError
	var theirs *wire.Error
	switch {
	case err == nil, errors.As(err, &input), errors.As(err, &theirs) && theirs.Type != wire.NotThisAPI:
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &wire.Error{Status: http.StatusGatewayTimeout, Message: err.Error()}
	}
	return &wire.Error{Status: http.StatusBadGateway, Message: err.Error()}
}

// log writes a line without anything of the content.
func (x *exchange) log(err error) {
	attrs := []slog.Attr{
		slog.String("api", x.name), slog.Duration("took", x.cfg.Now().Sub(x.began)),
		slog.Int("calls", x.calls), slog.Int("losses", len(x.losses)),
	}
	if x.request != nil {
		attrs = append(attrs, slog.String("model", x.request.Model), slog.Bool("stream", x.request.Stream), slog.Int("tools", len(x.request.Tools)))
	}
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("error", wire.FaultOf(err).Message))
	}
	x.cfg.Log.LogAttrs(x.r.Context(), level, "request", attrs...)
}
