package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/embed"
)

// embed answers a request for embeddings. A backend of the client's own API gets it
// unchanged, any other gets it translated.
func (x *exchange) embed() error {
	if _, ok := embed.Speaks(x.door.api); !ok {
		return denied(http.StatusNotImplemented, "no_backend", "Anthropic's API has no embeddings")
	}
	return x.admit(x.embedded)
}

func (x *exchange) embedded() error {
	body, err := x.body()
	if err != nil {
		return err
	}
	x.trace("client", "in", "request", body)
	fields := fieldsOf(body)
	if err := x.misspelt(fields); err != nil {
		return err
	}
	x.report.Route = x.embedding(fields)
	if err := x.mayAsk(x.report.Route); err != nil {
		return err
	}
	to, err := x.embedder(x.report.Route, body)
	if err != nil {
		return err
	}
	if speaks(to.Backend.API(), x.door.api) {
		return x.through(to, body)
	}
	q, err := embed.Read(x.door.api, x.r.URL.Path, body)
	if err != nil {
		return err
	}
	return x.across(to, q)
}

// embedding returns the name of the model, which Gemini's API has in the path.
func (x *exchange) embedding(fields map[string]json.RawMessage) string {
	if x.door == geminiDoor {
		model, _, _ := cutLast(x.r.PathValue("model"), ":")
		return model
	}
	return modelOf(fields) // embedder refuses ""
}

// embedder returns the backend, preferring one of the client's own API. No model is
// replaced by another, and only targets with the same model as the first share the
// requests: vectors of two models cannot be compared.
func (x *exchange) embedder(model string, body []byte) (Target, error) {
	if err := x.askable(model); err != nil {
		return Target{}, err
	}
	var known []Target
	for _, way := range x.ways(x.r.Context(), model) {
		for _, t := range way.targets(&utp.Request{Model: model}) {
			if standIn(t, model) == 0 {
				known = append(known, t)
			}
		}
	}
	if len(known) == 0 {
		return Target{}, x.unknown(model)
	}
	for _, can := range []func(api string) bool{
		func(api string) bool { return speaks(api, x.door.api) },
		func(api string) bool { _, ok := embed.Speaks(api); return ok },
	} {
		var of []Target
		for _, t := range known {
			if can(t.Backend.API()) && !(t.spare && len(of) > 0) && (len(of) == 0 || t.asked(model) == of[0].asked(model)) {
				of = append(of, t)
			}
		}
		if len(of) > 0 {
			return of[drawn(len(of), func(i int) int { return of[i].Weight }, beginning(x.passing(model, body)))[0]], nil
		}
	}
	return Target{}, denied(http.StatusNotImplemented, "no_backend", "%s is for a backend that has embeddings, and the API of %s has none", x.r.URL.Path, known[0].name())
}

// maxEmbeddings bounds a reply with embeddings.
const maxEmbeddings = 256 << 20

// across asks a backend of another API.
func (x *exchange) across(to Target, q *embed.Request) error {
	api, _ := embed.Speaks(to.Backend.API())
	asked := *q
	asked.Model = to.asked(x.report.Route)
	path, body, losses := asked.Open(api)
	x.report.Backend, x.report.Speaks, x.report.Asked, x.report.Lost = to.name(), to.Backend.API(), asked.Model, losses
	r := onward(http.MethodPost, &url.URL{Path: path}, asJSON, body)
	book, err := x.bookPassage(to, 0)
	if err != nil {
		return err
	}
	theirs, err := x.answered(to, r, body, book)
	if err != nil {
		book.end(nil, err)
		return err
	}
	reply, err := q.ReadReply(api, theirs)
	if err != nil {
		book.end(nil, err)
		return err
	}
	answer, more := q.WriteReply(reply)
	x.report.Lost = append(x.report.Lost, more...)
	x.report.Usage.Input = reply.Tokens
	if reply.Guessed {
		book.close(utp.Usage{})
	} else {
		book.close(x.report.Usage)
	}
	x.headers(x.w.Header())
	x.explain(x.w.Header(), "")
	x.trace("client", "out", "reply", answer)
	x.answer(answer)
	return nil
}

// answered returns the body of a backend's answer, or an error if its status is not 2xx.
func (x *exchange) answered(to Target, r *http.Request, body []byte, book *booking) ([]byte, error) {
	resp, err := x.forward(to, r, body, book)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	theirs, err := io.ReadAll(io.LimitReader(resp.Body, maxEmbeddings))
	if err == nil && resp.StatusCode/100 != 2 {
		err = wire.ReadError(resp.StatusCode, theirs)
	}
	return theirs, err
}
