// Package gateway serves the APIs of the providers of language models on behalf of any
// of them: a client of one API can use a model of another, and a call that the model
// wrote as text comes back as a call.
//
// Every request takes the same way: the guard admits it, a door reads it (wire.Front),
// a route names the backends, the first that answers streams events, and the same door
// writes them. What only a backend of the client's own API can serve passes through
// unchanged.
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

// Backend is a model server; *backend.Client implements it. An error that wraps no
// *wire.Error is reported as 502 Bad Gateway, a context.DeadlineExceeded as 504
// Gateway Timeout.
type Backend interface {
	// API names the API it speaks: "openai", "responses", "anthropic", "gemini" or "ollama".
	API() string
	// Ask streams a reply. The events end with Finish; an error ends them early.
	Ask(ctx context.Context, r *utp.Request, h wire.Hooks) iter.Seq2[utp.Event, error]
	Models(ctx context.Context) ([]wire.Model, error)
	// Forward passes a request of the backend's own API through, with the client's path
	// and query and the backend's host and key.
	Forward(r *http.Request) (*http.Response, error)
}

// Config configures a Gateway.
type Config struct {
	Routes  []Route  // the first that matches a model's name serves it
	Absent  string   // the error for every request while there is no route
	Clients []Client // who may ask; none: everybody who reaches it
	Hosts   []string // names under which it is reached besides this machine's own; "*" is any
	Origins []string // web pages that may ask: "https://chat.example"
	Limits  Limits
	State   fleet.State  // what replicas share and may lose; nil: this process keeps it for itself
	Ledger  fleet.Ledger // further keys, with their budgets and spending; nil: none
	Issuer  *oidc.Issuer // whose tokens are accepted like keys, for teams of the Ledger; nil: none
	Prices  price.List   // of the targets' models, for budgets of money
	Replica string       // the name of this process in the Ledger, which no other process ever had
	Away    Away
	Version string                       // the answer of /api/version; "": that of the Ollama whose API is served
	Build   string                       // the version of the program, for the metrics
	Compile func([]utp.Tool) *schema.Set // compiles the tools of a request; nil: schema.Compile
	Explain bool                         // headers and trailers tell what was mended and lost

	NewID   func() string                              // ids of replies; required
	Now     func() time.Time                           // nil: time.Now
	Sleep   func(context.Context, time.Duration) error // between two tries; nil: time passes
	Log     *slog.Logger                               // a line a request, without its content; nil: nowhere
	Lessons func(target, model string) *learn.Evidence // the evidence on a model's forms, for Learned routes; called once for each model; nil: none
	Observe func(Report)                               // called after every request; nil: nowhere
	Content func(record.Content)                       // the request and the raw reply, redacted, before Observe; of routes and clients with Content alone; nil: nowhere
	Trace   func(Trace)                                // both sides of every request, redacted; nil: nowhere
}

// Away says what happens while State does not answer. Zero: rates are not enforced, and
// previous_response_id gets 503.
type Away struct {
	Refuse bool // requests of clients with a rate get 503
	Forget bool // previous_response_id gets 404 instead, as if nothing were kept
}

// Limits bound what a request may take. Zero means the default named here.
type Limits struct {
	Body      int64         // longest request in bytes: 64 MiB
	Requests  int           // at once: no limit
	Heartbeat time.Duration // a quiet stream sends a sign of life this often: 15 s
	Client    time.Duration // a client that sends or takes nothing for this long is dropped: 1 min
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

// Gateway is an http.Handler. Its memory and its counts survive a Reload.
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
	second   *bucket // the second tries left
}

// house is a configuration in force. A request keeps the one that it came in under.
type house struct {
	Config
	looks bool // some route depends on a backend's list of models
}

// New returns a Gateway, or an error if the configuration is not valid.
func New(c Config) (*Gateway, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	g := &Gateway{mux: http.NewServeMux(), apart: http.NewServeMux(), kept: newKeeper(c.Limits.Kept), second: newBucket(c.Limits.Retries)}
	g.now.Store(equipped(c))
	g.doors()
	return g, nil
}

// Reload puts a new configuration in force for later requests.
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

// ErrStopping is the cause (context.Cause) with which the server of a Gateway cancels
// the requests still running when it stops. Their clients get an error of their API
// that says so.
var ErrStopping = errors.New("the gateway was stopped")

// Running returns how many requests for a reply are running.
func (g *Gateway) Running() int { return int(g.running.Load()) }

// ServeHTTP answers a request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path := versioned(r.URL.Path); path != r.URL.Path {
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = path, ""
	}
	g.mux.ServeHTTP(w, r)
}
