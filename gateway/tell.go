package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// name puts the id of the request into the headers of the reply, also into the one that
// the SDKs of the client's API read.
func (x *exchange) name() {
	h := x.w.Header()
	h.Set("X-Bx-Id", x.report.ID)
	if x.door.id != "" {
		h.Set(x.door.id, x.report.ID)
	}
}

// headers writes who answered, or was asked last.
func (x *exchange) headers(h http.Header) {
	set := func(name, value string) {
		if value != "" {
			h.Set(name, printable(value))
		}
	}
	set("X-Bx-Target", x.report.Backend)
	set("X-Bx-Model", x.report.Asked)
	set("X-Bx-Again", x.report.Again)
	if x.lesson != nil {
		set("X-Bx-Form", x.lesson.pick.Form+": "+x.lesson.pick.Why)
	}
	warning := x.report.warning()
	if x.remote() {
		warning = addresses.ReplaceAllString(warning, "(its address)")
	}
	set("X-Bx-Warning", warning)
}

// addresses matches the addresses of backends.
var addresses = regexp.MustCompile(`https?://[^\s;"]+[^\s;:,."]`)

// explain writes headers that say what was repaired and lost. prefix makes them trailers.
func (x *exchange) explain(h http.Header, prefix string) {
	if !x.Explain {
		return
	}
	for _, l := range x.report.Lost {
		h.Add(prefix+"X-Bx-Loss", printable(l.Path+": "+l.What+": "+l.Why))
	}
	for _, f := range x.report.Fixes {
		h.Add(prefix+"X-Bx-Fix", printable(cmp.Or(f.Path, "/")+": "+f.Why))
	}
	for _, p := range x.report.Problems {
		h.Add(prefix+"X-Bx-Problem", printable(string(p.Kind)))
	}
}

// maxHeader bounds the value of a header, in bytes.
const maxHeader = 400

// printable returns s in a form that a header can hold.
func printable(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, utp.Redact(s))
	return s[:min(len(s), maxHeader)]
}

// answer writes a whole answer.
func (x *exchange) answer(body []byte) {
	x.told = true
	reply(x.w, x.report.Status, body)
}

// deny answers with an error in the form of the client's API.
func (x *exchange) deny(err error) {
	h, vain := x.w.Header(), x.exhausted || wire.RemedyFor(err).Never
	err = x.tells(err)
	x.headers(h)
	if pause := wire.FaultOf(err).RetryAfter; pause > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(pause.Seconds()))))
		h.Set("Retry-After-Ms", strconv.FormatInt(pause.Milliseconds(), 10)) // SDKs read it first
	}
	status, body := x.door.front.Error(err)
	var own *denial
	if errors.As(err, &own) && (own.why.Status == http.StatusMethodNotAllowed || own.why.Status == http.StatusUnsupportedMediaType) {
		status = own.why.Status // the APIs have no kind of error for it
	}
	if vain && (status == http.StatusTooManyRequests || status >= http.StatusInternalServerError) {
		h.Set("X-Should-Retry", "false")
	}
	x.report.Status = status
	x.answer(body)
}

// stopped is the error of a request still running when the gateway stopped.
var stopped = &denial{"stopped", &wire.Error{Status: http.StatusServiceUnavailable, Message: "the gateway was stopped before the reply was complete"}}

// outlived reports whether the request was cancelled because the gateway stops.
func (x *exchange) outlived() bool {
	return errors.Is(context.Cause(x.r.Context()), ErrStopping)
}

// tells returns an error as the client of this request gets it.
func (x *exchange) tells(err error) error {
	if err == nil {
		return nil
	}
	if x.outlived() {
		err = stopped
	}
	if x.remote() {
		err = x.discreet(err)
	}
	return told(err)
}

// remote reports whether the client is on another machine, or comes through a proxy.
func (x *exchange) remote() bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "Via"} {
		if x.r.Header.Get(name) != "" {
			return true
		}
	}
	host, _, err := net.SplitHostPort(x.r.RemoteAddr)
	return err == nil && !loopback(host) && !bySocket(x.r)
}

// discreet returns an error without the addresses of the backends, for remote clients.
// The log has the whole error.
func (x *exchange) discreet(err error) error {
	var input *wire.InputError
	var theirs *wire.Error
	var own *denial
	var call *utp.Problem
	switch {
	case err == nil, errors.As(err, &input), errors.As(err, &own), errors.As(err, &call):
		return err
	case errors.As(err, &theirs) && theirs.Type != wire.NotThisAPI:
		return theirs
	case errors.Is(err, wire.ErrCut):
		return wire.ErrCut
	case errors.Is(err, context.DeadlineExceeded):
		return &wire.Error{Status: http.StatusGatewayTimeout, Message: "the backend " + x.report.Backend + " did not answer in time"}
	}
	return &wire.Error{Status: http.StatusBadGateway, Message: "the backend " + x.report.Backend + " sent no usable answer; the gateway's log says more"}
}

// told returns an error as a client may see it. A failure without an answer from the
// provider becomes 502 or 504, and so does a refusal of the gateway's own key, which
// the client can do nothing about.
func told(err error) error {
	var input *wire.InputError
	var theirs *wire.Error
	switch {
	case err == nil, errors.As(err, &input):
		return err
	case errors.As(err, &theirs) && theirs.Type != wire.NotThisAPI:
		var own *denial
		if errors.As(err, &own) || theirs.Status != http.StatusUnauthorized && theirs.Status != http.StatusForbidden && theirs.Status != http.StatusPaymentRequired {
			return err
		}
		return &wire.Error{Status: http.StatusBadGateway, Code: theirs.Code, Message: "the backend refuses the gateway: " + theirs.Error() +
			"; whoever runs the gateway checks the backend's key (key_env or key_file in serve.toml) and what it may use"}
	case errors.Is(err, context.DeadlineExceeded):
		return &wire.Error{Status: http.StatusGatewayTimeout, Message: err.Error()}
	}
	return &wire.Error{Status: http.StatusBadGateway, Message: err.Error()}
}

// denial is the gateway's own refusal.
type denial struct {
	reason string // one word, for the log and the metrics
	why    *wire.Error
}

func (d *denial) Error() string { return d.why.Message }
func (d *denial) Unwrap() error { return d.why }

func denied(status int, reason, format string, a ...any) error {
	return &denial{reason, &wire.Error{Status: status, Message: fmt.Sprintf(format, a...)}}
}

func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}
