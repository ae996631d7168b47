// Package backend asks a model over HTTP and gives the reply as events, with
// the calls found wherever the model put them.
//
// It joins what the other packages do one by one: wire writes the request and
// reads the provider's frames, prompt puts the tools into the text of a model
// that takes no native ones, lenient mends the arguments of native calls, and
// parse finds calls in text. A Client is what package agent calls a Model.
package backend

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Timeouts bound the waiting. Zero means the default named here.
type Timeouts struct {
	Connect time.Duration // to open a connection: 5 s
	First   time.Duration // from the request to the first byte, in which a server may load the model: 10 min
	Idle    time.Duration // between two pieces of a reply: 5 min
}

// Config says which model to ask, and how.
type Config struct {
	Provider string // one of Providers
	Kind     string // of the models, for the form of tools: "deepseek", "gguf"; "": Provider
	URL      string // "http://127.0.0.1:11434", "https://openrouter.ai/api/v1"; /v1 may be missing behind a bare host
	APIKey   string // sent as the provider wants it; never to another host than URL's
	Model    string // for requests that name none

	// Where the address and the key were set, for what errors advise: "url of
	// [backends.cloud]", "the variable CLOUD_KEY"; "": where bx has them.
	URLFrom, KeyFrom string

	// Formats say how tools are offered, where calls are looked for and how
	// results go back. Behind them stand the server's word, the model's name and
	// the provider.
	Formats     []format.Layer
	Literal     bool              // {{tools}} in a prompt is text, as somebody else's client may send it: a list of tools goes to the end
	Custom      map[string]string // by tool name: how a prompt offers it, as in prompt.Writer
	Adapter     *format.Adapter   // what the model needs beside its dialect; nil: the one for its name
	Parse       parse.Config      // how text is read; Forced and Seen come from the request, and Tools too unless it has every tool there is
	OnlyOffered bool              // the text is read for the tools of the request alone: without tools, or when none may be called, not at all

	Compile func([]utp.Tool) *schema.Set // compiles the tools of a request, as Schemas does; nil: schema.Compile

	DropEmpty bool // leave out optional arguments whose value is an empty text; a call is then told when it is whole

	Whole   bool // ask for the reply in one piece
	NumCtx  int  // Ollama: the window to load the model with; 0: by the prompt's size
	Reserve int  // tokens to keep for the reply when the window is computed; 0 is 1024

	Timeouts Timeouts
	Retries  int              // further tries before the first byte; 0 is 2, below 0 none
	Backoff  time.Duration    // before the first further try; 0 is 250 ms
	HTTP     *http.Client     // nil: HTTP(false, Timeouts.Connect)
	Now      func() time.Time // nil: time.Now

	// The functions are called from the goroutine that reads the Stream.
	NewID   func() string               // ids for calls without one; nil leaves them empty
	Warn    func(string)                // for people: what may go wrong; nil: nowhere
	Trace   func(Trace)                 // every call found, dropped or refused; nil: nowhere
	Dump    func(sent, received []byte) // raw bodies, one of the two; nil: nowhere
	Reads   func(*parse.Config)         // may change how the next reply is read: tools that came later, what others said beside the conversation; nil: nobody does
	Told    func(form, why string)      // in which form a model is told of tools: "native", a dialect or "none", and who decided; nil: nowhere
	Lost    func([]wire.Loss)           // what the server could not be told of a request; nil: nowhere
	Waiting func(server string)         // the server loads its model and is asked again until it answers; nil: nobody is told
	Idle    func()                      // all that has come of a reply was given out, and more may take time; nil: nobody asks
	Send    func(body []byte) error     // before each request goes out; its error is the asking's, and nothing goes out; nil: all may
	Spent   func(utp.Usage)             // what a reply came to that is asked for once more; nil: nobody asks
}

// Trace tells how a piece of a reply was understood.
type Trace struct {
	Dialect  string // "native", a grammar's name, or "" where none was recognised
	Raw      string // the slice of the reply
	Decision string // "call search_code", "truncated: …"
	Mismatch bool   // a call in another form than the one that the model was told
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base *url.URL
	api  provider
	http *http.Client
	form string // of the conversation; "": as Formats say
	*memory
}

// memory is what a client has learnt of its server.
type memory struct {
	mu        sync.Mutex
	models    map[string]*ability  // what is known of each model
	cautioned map[string]bool      // warnings that were given
	described map[string]described // by Ollama
	choices   map[choiceKey]format.Choice
	refused   map[string]heeds   // of each model
	windows   map[string]*window // by model
}

// New checks the configuration. It sends nothing.
func New(c Config) (*Client, error) {
	base, err := baseURL(c.URL)
	if err != nil {
		return nil, err
	}
	p, err := providerOf(c.Provider)
	if err != nil {
		return nil, err
	}
	if _, err := format.Choose(c.Formats, format.Facts{Provider: cmp.Or(c.Kind, c.Provider), Own: slices.Concat(c.Parse.More, c.Parse.Grammars)}); err != nil {
		return nil, fmt.Errorf("backend: %w", err)
	}
	known := &memory{models: map[string]*ability{}, cautioned: map[string]bool{}, choices: map[choiceKey]format.Choice{},
		refused: map[string]heeds{}, windows: map[string]*window{}, described: map[string]described{}}
	c.Parse = c.Parse.Compiled()
	cl := &Client{cfg: c, base: base, api: p, memory: known}
	cl.defaults()
	return cl, nil
}

func (c *Client) defaults() {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	t := &c.cfg.Timeouts
	set(&t.Connect, 5*time.Second)
	set(&t.First, 10*time.Minute)
	set(&t.Idle, 5*time.Minute)
	set(&c.cfg.Backoff, 250*time.Millisecond)
	if c.cfg.Retries == 0 {
		c.cfg.Retries = 2
	}
	if c.cfg.Compile == nil {
		c.cfg.Compile = schema.Compile
	}
	if c.cfg.Now == nil {
		c.cfg.Now = time.Now
	}
	if c.cfg.Reserve == 0 {
		c.cfg.Reserve = 1024
	}
	if c.http = c.cfg.HTTP; c.http == nil {
		c.http = HTTP(false, t.Connect)
	}
}

// baseURL reads a server's address. Without a scheme it is http.
func baseURL(s string) (*url.URL, error) {
	if s != "" && !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(strings.TrimRight(s, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("backend: url %q: want http://HOST:PORT or https://HOST/v1", s)
	}
	return u, nil
}

// at is the address of a codec's path. A base with a path has the API's version
// in it, which is not added twice; what stands behind "?" stays a query.
func (c *Client) at(path string) string {
	path, query, _ := strings.Cut(path, "?")
	if strings.Trim(c.base.Path, "/") != "" && c.api.version != "/api" {
		path = strings.TrimPrefix(path, c.api.version)
	}
	u := c.base.JoinPath(path)
	u.RawQuery = query
	return u.String()
}

// root is the address of a path outside the versioned API.
func (c *Client) root(path string) string {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, c.api.version)
	return u.JoinPath(path).String()
}

func (c *Client) warn(format string, args ...any) {
	if c.cfg.Warn != nil {
		c.cfg.Warn(fmt.Sprintf(format, args...))
	}
}

func (c *Client) model(r *utp.Request) string {
	if r.Model != "" {
		return r.Model
	}
	return c.cfg.Model
}

// Stream asks the model. The events end with Finish; an error ends them early,
// or stands behind a Finish with StopError. Errors are of type *Error but for
// those of ctx and of a request that cannot be written.
func (c *Client) Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		if err := c.stream(ctx, r, func(e utp.Event) bool { return yield(e, nil) }); err != nil && err != errLeft {
			yield(utp.Event{}, err)
		}
	}
}
