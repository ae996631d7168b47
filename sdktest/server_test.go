package sdktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// model is a gateway's backend that gives its replies one after the other.
type model struct {
	pause time.Duration // before each event

	mu      sync.Mutex
	asked   []*utp.Request
	replies []utp.Reply
	events  []utp.Event // in place of a reply
	fail    error       // behind the events of the replies
}

func (m *model) API() string { return "script" }

func (m *model) Forward(*http.Request) (*http.Response, error) {
	return nil, errors.New("a script has nothing more")
}

func (m *model) Ask(_ context.Context, r *utp.Request, _ wire.Hooks) iter.Seq2[utp.Event, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	events := m.events
	if len(m.replies) > 0 {
		events, m.replies = pieces(utp.Replay(m.replies[0])), m.replies[1:]
	}
	return func(yield func(utp.Event, error) bool) {
		for _, e := range events {
			time.Sleep(m.pause)
			if m.fail != nil && e.Kind == utp.EventFinish {
				break
			}
			if !yield(e, nil) {
				return
			}
		}
		if m.fail != nil {
			yield(utp.Event{}, m.fail)
		}
	}
}

// pieces cuts text and reasoning as a stream would.
func pieces(events []utp.Event) (out []utp.Event) {
	for _, e := range events {
		text := []rune(e.Text)
		for ; len(text) > 7; text = text[7:] {
			out = append(out, utp.Event{Kind: e.Kind, Part: e.Part, Text: string(text[:7])})
		}
		e.Text = string(text)
		out = append(out, e)
	}
	return out
}

func (m *model) Models(context.Context) ([]wire.Model, error) {
	return []wire.Model{{ID: "model-a", Chat: true, Created: 1787306400}, {ID: "org/model-b", Chat: true}}, nil
}

// exchange is what went over the wire once.
type exchange struct {
	request wire.HTTPRequest
	header  http.Header // of the reply
	reply   []byte
}

// recorder keeps what passes through a handler.
type recorder struct {
	http.Handler
	mu   sync.Mutex
	seen []*exchange
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q.Body = io.NopCloser(bytes.NewReader(body))
	x := &exchange{request: wire.HTTPRequest{Method: q.Method, Path: q.URL.Path, Query: q.URL.Query(), Header: q.Header.Clone(), Body: body}}
	r.mu.Lock()
	r.seen = append(r.seen, x)
	r.mu.Unlock()
	r.Handler.ServeHTTP(&tee{w, r, x}, q)
}

// last is the last exchange so far: a client that has the end of a stream need
// not wait until its connection is free.
func (r *recorder) last() exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := *r.seen[len(r.seen)-1]
	x.reply = bytes.Clone(x.reply)
	return x
}

type tee struct {
	http.ResponseWriter
	r *recorder
	x *exchange
}

func (t *tee) WriteHeader(status int) {
	t.r.mu.Lock()
	t.x.header = t.Header().Clone()
	t.r.mu.Unlock()
	t.ResponseWriter.WriteHeader(status)
}

func (t *tee) Write(b []byte) (int, error) {
	t.r.mu.Lock()
	t.x.reply = append(t.x.reply, b...)
	t.r.mu.Unlock()
	return t.ResponseWriter.Write(b)
}

func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// listen serves a gateway before a backend on this machine.
func listen(t *testing.T, b gateway.Backend) (url string, r *recorder) {
	t.Helper()
	return listenWith(t, gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: b, Retries: -1}}}}})
}

func listenWith(t *testing.T, c gateway.Config) (url string, r *recorder) {
	t.Helper()
	var n int
	var mu sync.Mutex
	c.NewID = func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprintf("id%022d", n) }
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r = &recorder{Handler: g}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return server.URL, r
}
