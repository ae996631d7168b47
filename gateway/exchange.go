package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

// exchange is one request on its way through.
type exchange struct {
	*Gateway
	*visit
	*door
	w       http.ResponseWriter
	r       *http.Request
	began   time.Time
	request *utp.Request
	way     *Route
	report  Report
	keep    bool        // the conversation is kept for previous_response_id
	idle    func()      // nil: nobody waits
	seen    []utp.Event // of the reply, as the client gets them
	said    int         // bytes of it
}

func (g *Gateway) exchange(d *door, w http.ResponseWriter, r *http.Request) *exchange {
	v := visitOf(r)
	x := &exchange{Gateway: g, visit: v, door: d, w: w, r: r, began: v.Now()}
	x.report = Report{ID: v.NewID(), API: d.api, Began: x.began, Status: http.StatusOK, Parent: r.Header.Get("Traceparent")}
	if v.client != nil {
		x.report.Client = v.client.Name
	}
	return x
}

// chat answers a request for a reply of a model.
func (g *Gateway) chat(d *door) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := g.exchange(d, w, r)
		err := x.admit(x.serve)
		x.over(err)
	}
}

// tokens answers a request that asks how many tokens it is: by a backend of the
// client's own API if the route leads to one, else by a guess.
func (g *Gateway) tokens(d *door) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := g.exchange(d, w, r)
		body, err := x.body()
		if err == nil {
			err = x.read(body)
		}
		if err == nil {
			x.way, err = x.route(x.request.Model)
		}
		if err != nil {
			d.refuse(w, err)
			return
		}
		if to := x.way.targets(x.request)[0]; to.Backend.API() == d.api && to.Model == "" {
			_ = x.through(to, body) // the client has been told
			return
		}
		reply(w, http.StatusOK, d.count(wire.Estimate(x.request)))
	}
}

// admit runs a request if the limits let it in.
func (x *exchange) admit(serve func() error) error {
	running := x.running.Add(1)
	defer x.running.Add(-1)
	if most := x.Limits.Requests; most > 0 && running > int64(most) {
		return x.deny(tooMany("the gateway has as many requests running as it may", retryFull))
	}
	leave, err := x.meters.enter(x.client, x.began)
	if err != nil {
		return x.deny(err)
	}
	defer func() { leave(x.spent()) }()
	return serve()
}

// spent are the tokens of the request: as the backend counts them, or a guess
// where it does not or did not come to it.
func (x *exchange) spent() int {
	n := x.report.Usage.Prompt() + x.report.Usage.Completion()
	if n > 0 || x.report.Tries == 0 {
		return n
	}
	return wire.Estimate(x.request) + x.said/4
}

// deny answers with an error.
func (x *exchange) deny(err error) error {
	x.report.Status = x.refuse(x.w, err)
	return err
}

// serve answers and gives what went wrong.
func (x *exchange) serve() error {
	if err := x.prepare(); err != nil {
		return x.deny(err)
	}
	if x.loads() {
		reply(x.w, http.StatusOK, ollama.Front{}.Loaded(x.request, x.stamp()))
		return nil
	}
	events := x.second(x.ask(x.request))
	if x.request.Stream {
		return x.stream(trimmed(events))
	}
	return x.whole(events)
}

// prepare reads the request and finds its way.
func (x *exchange) prepare() error {
	body, err := x.body()
	if err != nil {
		return err
	}
	x.trace("client", "in", "request", body)
	if err := x.read(body); err != nil {
		return err
	}
	x.report.Model, x.report.Stream, x.report.Tools = x.request.Model, x.request.Stream, len(x.request.Tools)
	if x.way, err = x.route(x.request.Model); err != nil {
		return err
	}
	if err := x.resume(body); err != nil {
		return err
	}
	x.recall()
	return nil
}

// body takes all of the client's request.
func (x *exchange) body() ([]byte, error) {
	if coding := x.r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, &wire.InputError{Path: "Content-Encoding", Offset: -1, Want: "a request that is not compressed"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.bare, x.r.Body, x.Limits.Body))
	var long *http.MaxBytesError
	switch {
	case err == nil:
		_ = http.NewResponseController(x.bare).SetReadDeadline(time.Time{}) // where the server can
		return body, nil
	case errors.As(err, &long):
		return nil, &wire.Error{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the request is longer than %d bytes", long.Limit)}
	}
	return nil, &wire.InputError{Offset: len(body), Want: "a whole request: " + err.Error()}
}

func (x *exchange) read(body []byte) (err error) {
	x.request, x.report.Losses, err = x.front.Read(wire.HTTPRequest{Method: x.r.Method, Path: x.r.URL.Path, Query: x.r.URL.Query(), Header: x.r.Header, Body: body})
	return err
}

// whole answers in one piece.
func (x *exchange) whole(events iter.Seq2[utp.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return x.deny(err)
		}
		x.note(e)
	}
	said := utp.Collect(x.seen)
	if x.flat {
		said = new(lines).reply(said)
	}
	body, losses, err := x.front.Whole(x.request, said, x.stamp())
	x.report.Losses = append(x.report.Losses, losses...)
	x.report.First = x.Now().Sub(x.began)
	if err != nil {
		return x.deny(err)
	}
	x.remember(said)
	x.headers(x.w.Header())
	x.explain(x.w.Header(), "")
	x.trace("client", "out", "reply", body)
	reply(x.w, http.StatusOK, body)
	return nil
}

func (x *exchange) stamp() wire.Stamp {
	return wire.Stamp{ID: x.prefix + x.report.ID, Model: x.request.Model, Unix: x.began.Unix(), Elapsed: func() time.Duration { return x.Now().Sub(x.began) }}
}

// note keeps an event of the reply and counts what it says.
func (x *exchange) note(e utp.Event) {
	if x.keeps(e) {
		x.seen = append(x.seen, e)
	}
	x.said += len(e.Text)
	r := &x.report
	switch e.Kind {
	case utp.CallEnd:
		r.called(*e.Call)
	case utp.Whole:
		if c, ok := e.Value.(utp.Call); ok {
			r.called(c)
		}
	case utp.ProblemEvent:
		if e.Problem != nil {
			r.Problems = append(r.Problems, e.Problem.Kind)
		}
	case utp.Finish:
		if e.End != nil {
			r.Usage, r.Stop, r.Answered, r.ReplyID = e.End.Usage, e.End.Stop, e.End.Model, e.End.ID
		}
	}
}

// keeps reports whether an event is needed when the reply is over: all of them
// for a whole reply or a kept conversation, and the calls and signatures of a
// client that does not bring them back.
func (x *exchange) keeps(e utp.Event) bool {
	switch e.Kind {
	case utp.TextDelta, utp.ThinkDelta, utp.CallStart, utp.CallDelta:
		return x.keep || !x.request.Stream
	}
	return x.keep || !x.request.Stream || x.forgets
}

// headers say who answers.
func (x *exchange) headers(h http.Header) {
	set := func(name, value string) {
		if value != "" {
			h.Set(name, printable(value))
		}
	}
	set("X-Bx-Id", x.report.ID)
	set("X-Bx-Target", x.report.Target)
	set("X-Bx-Model", x.report.Asked)
	set("X-Bx-Again", x.report.Again)
	if len(x.report.Warnings) > 0 {
		set("X-Bx-Warning", x.report.Warnings[0])
	}
}

// explain tells what was mended and lost. prefix makes trailers of the headers.
func (x *exchange) explain(h http.Header, prefix string) {
	if !x.Explain {
		return
	}
	for _, l := range x.report.Losses {
		h.Add(prefix+"X-Bx-Loss", printable(l.Path+": "+l.What+": "+l.Why))
	}
	for _, f := range x.report.Fixes {
		h.Add(prefix+"X-Bx-Fix", printable(cmp.Or(f.Path, "/")+": "+f.Why))
	}
	for _, p := range x.report.Problems {
		h.Add(prefix+"X-Bx-Problem", printable(string(p)))
	}
}

// maxHeader bounds what a header says.
const maxHeader = 400

// printable is text that a header can hold.
func printable(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, wire.Redact(s))
	return s[:min(len(s), maxHeader)]
}

// refuse answers with an error in the client's own form.
func (d *door) refuse(w http.ResponseWriter, err error) (status int) {
	err = told(err)
	if fault := wire.FaultOf(err); fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(fault.RetryAfter.Seconds()))))
	}
	status, body := d.front.Error(err)
	reply(w, status, body)
	return status
}

// told is an error as a client may hear it. What is no answer of a provider is
// a backend that gave none; and that a backend does not take the gateway's own
// key is nothing that the client's key could mend.
func told(err error) error {
	var input *wire.InputError
	var theirs *wire.Error
	switch {
	case err == nil, errors.As(err, &input):
		return err
	case errors.As(err, &theirs) && theirs.Type != wire.NotThisAPI:
		var own *denial
		if errors.As(err, &own) || theirs.Status != http.StatusUnauthorized && theirs.Status != http.StatusForbidden {
			return err
		}
		return &wire.Error{Status: http.StatusBadGateway, Code: theirs.Code, Message: "the backend refuses the gateway: " + err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &wire.Error{Status: http.StatusGatewayTimeout, Message: err.Error()}
	}
	return &wire.Error{Status: http.StatusBadGateway, Message: err.Error()}
}

// denial is the gateway's own refusal.
type denial struct{ why *wire.Error }

func (d *denial) Error() string { return d.why.Message }
func (d *denial) Unwrap() error { return d.why }

func denied(status int, format string, a ...any) error {
	return &denial{&wire.Error{Status: status, Message: fmt.Sprintf(format, a...)}}
}

// over reports the request.
func (x *exchange) over(err error) {
	r := &x.report
	r.Took, r.Err = x.Now().Sub(x.began), err
	if err != nil && x.r.Context().Err() != nil {
		r.Status = 0
	}
	r.count(&x.metrics)
	r.log(x.r.Context(), x.Log)
	if x.Observe != nil {
		x.Observe(*r)
	}
}
