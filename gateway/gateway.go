// Package gateway poses as the providers of language models, in front of any of
// them: a client that speaks one API talks to a model behind another, and what
// the model wrote as text comes back as a call.
//
// A request takes one way: a door reads it (wire.Front), a route names the
// backend, the backend streams events, and the same door writes them.
package gateway

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Backend is where a route leads; *backend.Client is one. An error of its that
// holds no *wire.Error is told as "bad gateway", a context.DeadlineExceeded as
// "gateway timeout".
type Backend interface {
	Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error]
	Models(ctx context.Context) ([]wire.Model, error)
}

// Config is what a Gateway is made of.
type Config struct {
	Routes []Route // the first that matches a model's name serves it

	MaxBody   int64         // longest request in bytes; 0 is 64 MiB
	Heartbeat time.Duration // a stream that has nothing to say yet says that it lives; 0 is 10 s
	Version   string        // what /api/version says; "" is "0.0.0"

	NewID func() string    // ids of replies; required
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // a line a request, without its content; nil: nowhere
}

const (
	defaultBody      = 64 << 20
	defaultHeartbeat = 10 * time.Second
)

// Gateway is an http.Handler.
type Gateway struct {
	cfg Config
	mux *http.ServeMux
}

// New checks the configuration.
func New(c Config) (*Gateway, error) {
	if len(c.Routes) == 0 {
		return nil, errors.New("gateway: no route: want at least one, with a backend")
	}
	if c.NewID == nil {
		return nil, errors.New("gateway: NewID is missing: want a function that makes an id")
	}
	for _, r := range c.Routes {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultBody
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = defaultHeartbeat
	}
	if c.Version == "" {
		c.Version = "0.0.0"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{cfg: c, mux: http.NewServeMux()}
	g.doors()
	return g, nil
}

// ServeHTTP answers a request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }
