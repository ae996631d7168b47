// Package gateway poses as the providers of language models, in front of any of
// them: a client that speaks one API talks to a model behind another, and what
// the model wrote as text comes back as a call.
//
// A request takes one way: the guard lets it in, a door reads it (wire.Front), a
// route names the backends, the first that answers streams events, and the same
// door writes them. What only a backend of the client's own API knows goes
// through to it as it is.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Backend is where a route leads; *backend.Client is one. An error that
// wraps no *wire.Error is reported as 502 Bad Gateway, a context.DeadlineExceeded as
// 504 Gateway Timeout.
type Backend interface {
	// API names the API it speaks: "openai", "responses", "anthropic", "gemini" or "ollama".
	API() string
	// Ask streams a reply. The events end with Finish; an error ends them early.
	Ask(ctx context.Context, r *utp.Request, h wire.Hooks) iter.Seq2[utp.Event, error]
	Models(ctx context.Context) ([]wire.Model, error)
	// Forward passes a request of its own API through: path and query are the
	// client's, host and key its own.
	Forward(r *http.Request) (*http.Response, error)
}

// Config configures a Gateway.
type Config struct {
	Routes  []Route  // the first that matches a model's name serves it
	Absent  string   // why there is no route yet; until a Reload brings one, this is the answer
	Clients []Client // who may ask; none: everybody who reaches it
	Hosts   []string // names by which it is reached beside this machine's own; "*" is any
	Origins []string // web pages that may ask: "https://chat.example"
	Limits  Limits
	State   fleet.State  // what replicas share and may lose; nil: this process keeps it for itself
	Ledger  fleet.Ledger // keys beside Clients, their budgets and what they spend; nil: there are none
	Issuer  *oidc.Issuer // whose tokens count beside keys, for teams of the Ledger; nil: there is none
	Prices  price.List   // of the targets' models, for budgets of money
	Replica string       // by which the Ledger knows this process from all others, also from those before it
	Away    Away
	Version string                       // what /api/version says; "" is that of the Ollama whose API this is
	Build   string                       // the version of the program, for the metrics
	Compile func([]utp.Tool) *schema.Set // compiles the tools of a request; nil: schema.Compile
	Explain bool                         // headers and trailers tell what was mended and lost

	NewID   func() string                              // ids of replies; required
	Now     func() time.Time                           // nil: time.Now
	Sleep   func(context.Context, time.Duration) error // between two tries; nil: time passes
	Log     *slog.Logger                               // a line a request, without its content; nil: nowhere
	Lessons func(target, model string) *learn.Evidence // what is known of a model where a route is Learned: its forms, and what was seen before; asked once each; nil: nothing is
	Observe func(Report)                               // every request that is over; nil: nowhere
	Content func(record.Content)                       // the request and the raw reply, redacted, before Observe; of routes and clients with Content alone; nil: nowhere
	Trace   func(Trace)                                // both sides of every request, redacted; nil: nowhere
}

// Away says what holds while State is away. Zero: rates do not hold, and what is kept
// of a conversation is waited for.
type Away struct {
	Refuse bool // requests of clients with a rate get 503
	Forget bool // previous_response_id gets 404, as if nothing were kept, in place of 503
}

// Limits bound what a request may take. Zero means the default named here.
type Limits struct {
	Body      int64         // longest request in bytes: 64 MiB
	Requests  int           // at once: no limit
	Heartbeat time.Duration // a stream that has nothing to say yet says that it lives: 15 s
	Client    time.Duration // a client that sends or takes nothing for so long is dropped: 1 min
	Kept      int           // bytes of conversations kept for previous_response_id, and of signatures: 64 MiB
	Schema    schema.Limits // of a tool; what exceeds schema's own defaults is passed on, and its arguments are not checked
	Output    int           // tokens of a reply to a key with a budget of tokens or money that names no limit: 8192, or fewer if that is all that is left
	Retries   int           // replies a minute that may be asked for once more because their call was broken: 60; below 0 none
}

func (l *Limits) defaults() {
	if l.Body == 0 {
		l.Body = 64 << 20
	}
	if l.Heartbeat == 0 {
		l.Heartbeat = 15 * time.Second
	}
	if l.Client == 0 {
		l.Client = time.Minute
	}
	if l.Kept == 0 {
		l.Kept = 64 << 20
	}
	if l.Retries == 0 {
		l.Retries = 60
	}
	if l.Output == 0 {
		l.Output = 8192
	}
}

// Gateway is an http.Handler. What it remembers and counts outlives a Reload.
type Gateway struct {
	now      atomic.Pointer[house]
	mux      *http.ServeMux
	apart    *http.ServeMux // for probes
	draining atomic.Bool
	running  atomic.Int64
	kept     *keeper
	meters   meters
	shared   sharing
	metrics  metrics
	breaks   breakers
	loads    loads
	lessons  lessons
	second   *bucket // what may be asked for once more
}

// house is a configuration in force. A request keeps the one it came in under.
type house struct {
	Config
	looks bool // the list of a backend counts for some route
}

// New checks the configuration.
func New(c Config) (*Gateway, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	g := &Gateway{mux: http.NewServeMux(), apart: http.NewServeMux(), kept: newKeeper(c.Limits.Kept), second: newBucket(c.Limits.Retries)}
	g.now.Store(equipped(c))
	g.doors()
	return g, nil
}

// Reload puts a new configuration in force for the requests to come.
func (g *Gateway) Reload(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	g.now.Store(equipped(c))
	g.kept.resize(c.Limits.Kept)
	g.lessons.forget()
	g.second.resize(c.Limits.Retries)
	return nil
}

func (c *Config) check() error {
	if len(c.Routes) == 0 && c.Absent == "" {
		return errors.New("gateway: no route: want at least one, with a backend")
	}
	if c.NewID == nil {
		return errors.New("gateway: NewID is missing: want a function that makes an id")
	}
	if c.Ledger != nil && c.Replica == "" {
		return errors.New("gateway: Replica is missing: want a name that no other process has had")
	}
	if c.Issuer != nil && c.Ledger == nil {
		return errors.New("gateway: Issuer without a Ledger: its tokens name teams of the Ledger")
	}
	for i := range c.Routes {
		if err := c.Routes[i].check(); err != nil {
			return fmt.Errorf("gateway: route %d: %w", i+1, err)
		}
	}
	c.Limits.defaults()
	if c.Version == "" {
		c.Version = ollamaVersion
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Compile == nil {
		c.Compile = schema.Compile
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Waiting reports that there is no route yet.
func (g *Gateway) Waiting() bool { return len(g.now.Load().Routes) == 0 }

// ErrStopping is the cause (context.Cause) with which whoever serves a Gateway
// cancels the requests that outlive it: their clients are told so in the form of
// their API.
var ErrStopping = errors.New("the gateway was stopped")

// Running is how many requests for a reply are not over.
func (g *Gateway) Running() int { return int(g.running.Load()) }

// ServeHTTP answers a request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path := versioned(r.URL.Path); path != r.URL.Path {
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = path, ""
	}
	g.mux.ServeHTTP(w, r)
}
