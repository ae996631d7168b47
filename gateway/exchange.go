package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// exchange is the state of one request.
type exchange struct {
	*house  // the configuration in force when it came
	gate    *Gateway
	door    *door
	client  *Client             // nil: everybody may ask
	bare    http.ResponseWriter // w without the deadlines of patient
	w       http.ResponseWriter
	r       *http.Request
	began   time.Time
	apart   bool // it came to the listener for probes
	told    bool // the client has got an answer, or the beginning of one
	request *utp.Request
	sent    []byte // the client's body
	way     *Route
	report  Report
	keep    bool            // the conversation is kept for previous_response_id
	idle    func()          // may be nil
	chosen  func()          // called before a target is asked; may be nil
	seen    []utp.Event     // of the reply, as the client gets them
	said    int             // estimated tokens of the reply
	calls   []string        // the ids of its calls
	lesson  *lesson         // the form of the conversation; nil: none is learned
	words   strings.Builder // the beginning of its text, where calls may be in it
	heard   record.Heard    // where the content is kept

	progress
}

func (g *Gateway) exchange(d *door, op string, bare http.ResponseWriter, r *http.Request) *exchange {
	h := g.now.Load()
	x := &exchange{house: h, gate: g, door: d, bare: bare, w: newPatient(bare, r, h.Limits.Client), r: r, began: h.Now()}
	x.report = Report{Reply: record.Reply{ID: h.NewID(), By: record.ByServe, API: d.api, Time: x.began, Status: http.StatusOK}, Operation: op,
		Parent: r.Header.Get("Traceparent"), ClientID: printable(r.Header.Get("X-Request-Id"))}
	x.name()
	return x
}

// run admits the request, serves it and reports it.
func (x *exchange) run(serve func(*exchange) error) {
	err := error(panicked) // unless serve returns
	defer func() { x.over(err) }()
	if err = x.enter(); err == nil && !x.told {
		err = panicked
		err = serve(x)
	}
	if err != nil && !x.told {
		x.deny(err)
	}
	var broke *abort
	if errors.As(err, &broke) {
		panic(http.ErrAbortHandler)
	}
}

// panicked is the error of a request that a panic ended.
var panicked = &denial{"panic", &wire.Error{Status: http.StatusInternalServerError, Message: "the request failed because of a fault in the gateway; its log says more"}}

// abort closes the connection without a regular end, which would make the reply look
// complete.
type abort struct{ why error }

func (a *abort) Error() string { return a.why.Error() }
func (a *abort) Unwrap() error { return a.why }

// enter identifies the client and checks what it may do.
func (x *exchange) enter() (err error) {
	if x.apart {
		return x.foreign(x.w, x.r)
	}
	if err := x.guard(x.w, x.r, x.report.Operation); err != nil {
		return err
	}
	if x.r.Method == http.MethodOptions && x.r.Header.Get("Origin") != "" {
		x.told, x.report.Status, x.report.Operation = true, http.StatusNoContent, opProbe
		x.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	x.client, err = x.gate.client(x.house, x.r)
	if x.client != nil {
		x.report.Client = x.client.Name
	}
	if err == nil && x.client != nil && x.client.Metrics != (x.r.URL.Path == "/metrics") {
		err = denied(http.StatusForbidden, "other_key", "this key is not for %s: keys with metrics = true are for /metrics alone, and others are not for it", x.r.URL.Path)
	}
	if open(x.r.URL.Path) {
		return nil
	}
	return err
}

// chat answers a request for a reply of a model.
func (x *exchange) chat() error { return x.admit(x.serve) }

// tokens answers a request for a count of tokens: by a backend of the client's own API
// if the route has one, else with an estimate.
func (x *exchange) tokens() error {
	body, err := x.body()
	if err == nil {
		err = x.read(body)
	}
	if err == nil {
		x.report.Route = x.request.Model
		x.way, err = x.route(x.r.Context(), x.request.Model)
	}
	if err != nil {
		return err
	}
	if err := x.mayAsk(x.request.Model); err != nil {
		return err
	}
	if to := x.way.targets(x.request)[0]; to.Backend.API() == x.door.api {
		return x.through(to, body)
	}
	x.answer(x.door.count(x.request.Tokens()))
	return nil
}

// admit runs serve if the limits allow the request.
func (x *exchange) admit(serve func() error) error {
	running := x.gate.running.Add(1)
	defer x.gate.running.Add(-1)
	if most := x.Limits.Requests; most > 0 && running > int64(most) {
		return tooMany("gateway_full", "the gateway has as many requests running as it may", retryFull)
	}
	leave, err := x.admitted()
	if err != nil {
		return err
	}
	defer func() { leave(x.spent()) }()
	return serve()
}

// metered reports whether the client has a limit of tokens.
func (x *exchange) metered() bool { return x.client != nil && x.client.Tokens > 0 }

// spent returns the tokens of a metered request: the backend's count, or else an
// estimate.
func (x *exchange) spent() int {
	if !x.metered() {
		return 0
	}
	n := x.report.Usage.Prompt() + x.report.Usage.Completion()
	if n > 0 || x.report.Tries == 0 {
		return n
	}
	return x.request.Tokens() + x.said
}

// serve answers the request and returns its error.
func (x *exchange) serve() error {
	if err := x.prepare(); err != nil {
		return err
	}
	if x.loads() {
		return x.load()
	}
	if x.request.Stream {
		return x.stream(x.reply)
	}
	return x.whole(x.reply)
}

// reply yields the events of the reply for the client. A failed try that the client
// saw nothing of leaves no trace.
func (x *exchange) reply(yield func(utp.Event, error) bool) {
	left := false
	err := x.ask(x.request, func(try iter.Seq2[utp.Event, error]) (seen bool, err error) {
		if x.anew != nil {
			x.anew()
		}
		for e, err := range x.held(try) {
			if err != nil {
				return x.wrote, err
			}
			if left = !yield(e, nil); left {
				return true, nil
			}
		}
		return x.wrote, nil
	})
	if err != nil && !left {
		yield(utp.Event{}, err)
	}
}

// prepare reads the request and finds its route.
func (x *exchange) prepare() error {
	body, err := x.body()
	if err != nil {
		return err
	}
	x.trace("client", "in", "request", body)
	if err := x.read(body); err != nil {
		return err
	}
	var own map[string]map[string]json.RawMessage
	if len(x.request.Extra) > 0 && json.Unmarshal(x.request.Extra, &own) == nil {
		for _, fields := range own {
			if err := x.misspelt(fields); err != nil {
				return err
			}
		}
	}
	x.report.Route, x.report.Stream, x.report.Tools = x.request.Model, x.request.Stream, len(x.request.Tools)
	x.report.Conversation, x.report.Required = record.ConversationOf(x.request), x.request.Choice.Mode == utp.ChoiceRequired || x.request.Choice.Mode == utp.ChoiceNamed
	if x.request.Choice.Mode == utp.ChoiceNone {
		x.report.Tools = 0
	}
	if i, err := x.Limits.Schema.CheckAll(x.request.Tools); err != nil {
		return &wire.InputError{Path: fmt.Sprintf("tools[%d]", i), Offset: -1, Want: "a smaller schema for " + x.request.Tools[i].Name + ": " + err.Error()}
	}
	if err := x.mayAsk(x.request.Model); err != nil {
		return err
	}
	if x.way, err = x.route(x.r.Context(), x.request.Model); err != nil {
		return err
	}
	if err := x.resume(body); err != nil {
		return err
	}
	if talk := x.door.talk; talk != "" && len(x.request.Messages) == 0 {
		return &wire.InputError{Path: talk, Offset: -1, Want: "at least one message"}
	}
	x.sent = body
	x.recall()
	return nil
}

// body reads the client's request and decompresses it.
func (x *exchange) body() ([]byte, error) {
	body, err := readAll(http.MaxBytesReader(x.bare, x.r.Body, x.Limits.Body), x.r.ContentLength)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, x.tooLong()
	case err != nil:
		return nil, &wire.InputError{Offset: len(body), Want: "a whole request: " + err.Error()}
	}
	_ = http.NewResponseController(x.bare).SetReadDeadline(time.Time{}) // where the server can
	switch coding := x.r.Header.Get("Content-Encoding"); strings.ToLower(coding) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return x.unpacked(body)
	}
	x.w.Header().Set("Accept-Encoding", "gzip")
	return nil, denied(http.StatusUnsupportedMediaType, "coding", "Content-Encoding: want a request that is not compressed, or with gzip")
}

func (x *exchange) tooLong() error {
	return denied(http.StatusRequestEntityTooLarge, "too_large", "the request is longer than %d bytes", x.Limits.Body)
}

// unpacked returns a compressed request decompressed. The limit holds for that length, too.
func (x *exchange) unpacked(body []byte) ([]byte, error) {
	packed, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(packed, x.Limits.Body+1))
	}
	switch {
	case err != nil:
		return nil, &wire.InputError{Offset: -1, Want: "a request that gzip can read: " + err.Error()}
	case int64(len(body)) > x.Limits.Body:
		return nil, x.tooLong()
	}
	return body, nil
}

// maxTrusted is the most memory, in bytes, allocated on the word of a Content-Length.
const maxTrusted = 1 << 20

// readAll is io.ReadAll for a body of this length; -1 is unknown.
func readAll(r io.Reader, length int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(max(min(length, maxTrusted), 0)) + bytes.MinRead)
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

func (x *exchange) read(body []byte) (err error) {
	x.request, x.report.Lost, err = x.door.front.Read(wire.HTTPRequest{Method: x.r.Method, Path: x.r.URL.Path, Query: x.r.URL.Query(), Header: x.r.Header, Body: body})
	return err
}

// whole sends the reply in one piece.
func (x *exchange) whole(events iter.Seq2[utp.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		x.note(e)
	}
	said := utp.Collect(x.seen)
	body, losses, err := x.door.front.Whole(x.request, said, x.stamp())
	x.report.Lost = append(x.report.Lost, losses...)
	x.report.First = record.MicrosOf(x.Now().Sub(x.began))
	if err != nil {
		return err
	}
	x.remember(said)
	x.headers(x.w.Header())
	x.explain(x.w.Header(), "")
	x.trace("client", "out", "reply", body)
	x.answer(body)
	return nil
}

func (x *exchange) stamp() wire.Stamp {
	return wire.Stamp{ID: x.door.prefix + x.report.ID, Model: x.request.Model, Unix: x.began.Unix(), Elapsed: func() time.Duration { return x.Now().Sub(x.began) }}
}

// note records and counts an event of the reply.
func (x *exchange) note(e utp.Event) {
	if x.keepsContent() {
		x.heard.Hear(e)
	}
	if x.keeps(e) {
		x.seen = append(x.seen, e)
	}
	if x.metered() {
		x.said += utp.Tokens(e.Text)
	}
	r := &x.report
	switch e.Kind {
	case utp.EventText:
		if r.Tools > 0 && x.words.Len() < format.MaxText {
			x.words.WriteString(e.Text)
		}
	case utp.EventCallEnd:
		x.called(*e.Call)
	case utp.EventWhole:
		if c, ok := e.Value.(utp.Call); ok {
			x.called(c)
		}
	case utp.EventProblem:
		if e.Problem != nil {
			r.Problems = append(r.Problems, record.ProblemOf(e.Problem))
		}
	case utp.EventFinish:
		if e.End != nil {
			r.Usage, r.Stop, r.Answered, r.ReplyID = e.End.Usage, e.End.Stop, e.End.Model, e.End.ID
		}
	}
}

// keeps reports whether an event is needed after the reply: every one of a whole reply
// or a kept conversation, and calls and signatures if the client does not send them
// back.
func (x *exchange) keeps(e utp.Event) bool {
	switch e.Kind {
	case utp.EventText, utp.EventThink, utp.EventCallStart, utp.EventCallDelta:
		return x.keep || !x.request.Stream
	}
	return x.keep || !x.request.Stream || x.door.forgets
}

// over reports the request, after the client got its reply.
func (x *exchange) over(err error) {
	r := &x.report
	r.Took, r.Err = record.MicrosOf(x.Now().Sub(x.began)), err
	switch {
	case errors.Is(err, panicked):
		r.Status = max(r.Status, panicked.why.Status)
	case err == nil || x.r.Context().Err() == nil:
	case x.outlived():
		r.Err = stopped
	default:
		r.Status = StatusGone
	}
	r.Reason = r.reasonOf(r.Err)
	if x.request != nil {
		r.close(x.words.String(), x.request.Tools)
	}
	x.taught()
	r.count(&x.gate.metrics)
	if r.Err == nil && !r.Stream {
		_ = http.NewResponseController(x.w).Flush()
	}
	r.log(x.r.Context(), x.Log)
	if x.keepsContent() {
		x.Content(x.heard.Content(x.report.ID, x.began, string(x.sent)))
	}
	if x.Observe != nil && (r.Operation == opChat || r.Operation == opPass || r.Operation == opEmbed) {
		x.Observe(*r)
	}
}
