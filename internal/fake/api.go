package fake

import (
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

// API is a server of one model, "m", with any provider's API, which says what a
// function tells it to, as events. A script says more simply what is the same each
// time.
type API struct {
	Front   wire.Front
	Framing wire.Framing

	// Say is the reply to the turn-th request, from 1.
	Say func(turn int, r *utp.Request) []utp.Event

	mu    sync.Mutex
	asked []*utp.Request
}

// Begin forgets what was asked; it says something else from now on.
func (a *API) Begin(say func(turn int, r *utp.Request) []utp.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Say, a.asked = say, nil
}

// Asked are the requests for a reply so far.
func (a *API) Asked() []*utp.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// ServeHTTP answers what is asked of the model and the list of models.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch {
	case r.Method == http.MethodGet:
		_, _ = w.Write(a.Front.Models([]wire.Model{{ID: "m", Chat: true}}))
		return
	case r.URL.Path == ollama.ShowPath:
		_, _ = w.Write(ollama.Front{}.Describe(wire.Model{ID: "m", Chat: true, Context: 1 << 16}))
		return
	}
	q, _, err := a.Front.Read(wire.HTTPRequest{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header, Body: body})
	if err != nil {
		status, text := a.Front.Error(err)
		w.WriteHeader(status)
		_, _ = w.Write(text)
		return
	}
	a.mu.Lock()
	a.asked = append(a.asked, q)
	turn, say := len(a.asked), a.Say
	a.mu.Unlock()
	a.answer(w, q, say(turn, q))
}

func (a *API) answer(w http.ResponseWriter, q *utp.Request, evs []utp.Event) {
	stamp := wire.Stamp{ID: "up_1", Model: "m", Unix: 1}
	if !q.Stream {
		body, _, err := a.Front.Whole(q, utp.Collect(evs), stamp)
		if err != nil {
			_, body = a.Front.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
		return
	}
	w.Header().Set("Content-Type", map[wire.Framing]string{wire.SSE: "text/event-stream", wire.NDJSON: "application/x-ndjson"}[a.Framing])
	writer := a.Front.Writer(q, stamp)
	for _, e := range evs {
		for _, f := range writer.Write(e) {
			_, _ = w.Write(a.Framing.Append(nil, f))
			_ = http.NewResponseController(w).Flush()
		}
	}
	for _, f := range writer.Close(nil) {
		_, _ = w.Write(a.Framing.Append(nil, f))
	}
}
