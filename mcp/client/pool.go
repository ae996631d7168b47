package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Config says which servers there are.
type Config struct {
	Servers []Server
	Start   string                                  // the folder where programs start, and what a Dir is relative to; "": the current one
	Dir     string                                  // where their tools, what was allowed and logins are remembered; "": nowhere
	Version string                                  // of this program
	Env     func(name string) string                // the environment; nil: an empty one
	HTTP    *http.Client                            // reaches servers at a URL; nil: the default one
	Login   func(ctx context.Context, p Page) error // sends the user to a page; nil: nobody can log in
	Warn    func(text string)                       // told once of what the user should know; nil: nobody is
	Now     func() time.Time                        // nil is time.Now
}

// Pool is the servers of a configuration. It is safe for concurrent use.
type Pool struct {
	config  Config
	book    book
	servers []*server
	ctx     context.Context // ends with the pool
	cancel  context.CancelFunc

	mu      sync.Mutex
	version int              // of the lists of tools
	offered map[string]offer // by the names that models use
	found   []string         // names that a search found
	warned  []string
}

// New makes a pool and starts nothing.
func New(c Config) (*Pool, error) {
	if c.Env == nil {
		c.Env = func(string) string { return "" }
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	p := &Pool{config: c, book: book{c.Dir}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for _, one := range c.Servers {
		if err := one.Check(); err != nil {
			return nil, fmt.Errorf("the MCP server %s: %w", one.Name, err)
		}
		if slices.ContainsFunc(p.servers, func(s *server) bool { return s.Name == one.Name }) {
			return nil, fmt.Errorf("there are two MCP servers of the name %s", one.Name)
		}
		s := &server{Server: one, pool: p}
		var err error
		if s.known, err = p.book.read(one); err != nil {
			p.warn("what is remembered of the MCP server %s cannot be read: %v", one.Name, err)
		}
		p.servers = append(p.servers, s)
	}
	return p, nil
}

// fresh is how long a list of tools is taken for what the server would say.
const fresh = 24 * time.Hour

// Learn starts those servers whose tools are not known, or have not been asked
// for in a day, where they may have one of the tier. It returns at once.
func (p *Pool) Learn(tier utp.Tier) {
	for _, s := range p.servers {
		if s.age() > fresh && s.lowest() <= tier {
			go func() {
				if _, err := s.get(p.ctx); err != nil && p.ctx.Err() == nil {
					p.warn("the MCP server %s has no tools: %v", s.Name, err)
				}
			}()
		}
	}
}

// Close ends all servers.
func (p *Pool) Close() {
	p.cancel()
	var wg sync.WaitGroup
	for _, s := range p.servers {
		wg.Go(s.close)
	}
	wg.Wait()
}

// warn tells the user something once.
func (p *Pool) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.mu.Lock()
	known := slices.Contains(p.warned, text)
	p.warned = append(p.warned, text)
	p.mu.Unlock()
	if !known {
		p.config.Warn(text)
	}
}

// Has reports whether a call of this name is for the pool.
func (p *Pool) Has(name string) bool { return name == FindTools || strings.HasPrefix(name, Prefix) }

// Run calls a tool. Whatever happens is a Result: what its server answered, or
// what is wrong with the server.
func (p *Pool) Run(ctx context.Context, c utp.Call) utp.Result {
	if c.Name == FindTools {
		return p.find(ctx, c)
	}
	p.mu.Lock()
	o, ok := p.offered[c.Name]
	p.mu.Unlock()
	if !ok {
		return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("No MCP server has a tool '%s'", c.Name))
	}
	r, err := o.server.call(ctx, o, c.Args)
	if err != nil {
		return utp.TextResult(c, utp.StatusFailed, fmt.Sprintf("The MCP server %s did not do it: %v", o.server.Name, err))
	}
	return result(c, r)
}

// Sensitive says why a call needs the user's word, whatever is allowed: the tool
// says something else of itself than when it last ran.
func (p *Pool) Sensitive(c utp.Call) string {
	p.mu.Lock()
	o, ok := p.offered[c.Name]
	p.mu.Unlock()
	if !ok || !o.server.changed(o) {
		return ""
	}
	text, _ := cut(clean(o.tool.Description), maxDescription)
	return fmt.Sprintf("the MCP server %s describes this tool in another way than when it was allowed. Now: %s", o.server.Name, text)
}

// server is one of a pool.
type server struct {
	Server
	pool *Pool

	mu       sync.Mutex
	session  *session
	trying   chan struct{} // closed when the try to connect that is under way is over
	failure  error         // of the last try, or the end of the last session
	failures int           // in a row, without an answer between them
	again    time.Time     // before which it is not tried again
	late     int           // calls in a row that were not answered in time
	relists  bool          // the tools are being listed again
	closed   bool
	known    known
}

var errClosed = errors.New("bx is ending")

// age is how long ago the tools were listed.
func (s *server) age() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool.config.Now().Sub(s.known.At)
}

// get is the session with the server, which is started if need be.
func (s *server) get(ctx context.Context) (*session, error) {
	s.mu.Lock()
	if s.session != nil || s.closed {
		defer s.mu.Unlock()
		if s.closed {
			return nil, errClosed
		}
		return s.session, nil
	}
	if s.trying == nil {
		if wait := s.again.Sub(s.pool.config.Now()); wait > 0 {
			defer s.mu.Unlock()
			return nil, fmt.Errorf("%w (it is started again in %v)", s.failure, wait.Round(time.Second))
		}
		s.trying = make(chan struct{})
		go s.try(s.trying)
	}
	trying := s.trying
	s.mu.Unlock()
	select {
	case <-trying:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil, s.failure
	}
	return s.session, nil
}

// try connects, and closes done when that is over.
func (s *server) try(done chan struct{}) {
	ctx, cancel := context.WithTimeout(s.pool.ctx, s.startTimeout())
	defer cancel()
	c, err := s.dial(ctx)
	if err == nil && c.lost > 0 {
		s.pool.warn("the MCP server %s has more than %d tools; the others are left out", s.Name, maxTools)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(done)
	s.trying = nil
	switch {
	case err != nil:
		s.fail(err)
	case s.closed:
		s.failure = errClosed
		go c.end()
	default:
		s.session, s.late = c, 0
		s.learn(c.tools)
		go s.watch(c)
	}
}

// maxPause is the longest time until a server that fails is started again.
const maxPause = time.Minute

// fail notes a failure: each one in a row doubles the pause before the next try.
func (s *server) fail(err error) {
	s.session, s.failure = nil, err
	s.failures++
	s.again = s.pool.config.Now().Add(min(time.Second<<min(s.failures-1, 10), maxPause))
}

// watch waits for the end of a session.
func (s *server) watch(c *session) {
	_ = c.Wait()
	s.drop(c, nil)
}

// drop ends a session for good and says why.
func (s *server) drop(c *session, err error) error {
	why := c.fault(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == c && !s.closed {
		s.fail(why)
	}
	return why
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	c, trying := s.session, s.trying
	s.mu.Unlock()
	if trying != nil {
		<-trying
	}
	if c != nil {
		c.end()
	}
}

// learn takes a list of the server's tools; s.mu is held.
func (s *server) learn(tools []listed) {
	same := slices.EqualFunc(s.known.Tools, tools, func(a, b listed) bool { return a.digest() == b.digest() }) && !s.known.At.IsZero()
	s.known.Tools, s.known.At = tools, s.pool.config.Now()
	s.remember()
	if !same {
		s.pool.mu.Lock()
		s.pool.version++
		s.pool.mu.Unlock()
	}
}

// remember keeps what is known; s.mu is held.
func (s *server) remember() {
	if err := s.pool.book.write(s.Server, s.known); err != nil {
		go s.pool.warn("what the MCP server %s offers is not remembered: %v", s.Name, err)
	}
}

// relistPause keeps a server that tells of changes all the time from keeping bx busy.
const relistPause = time.Second

// relist asks for the tools again, after a change that the server told of.
func (s *server) relist() {
	s.mu.Lock()
	c, busy := s.session, s.relists
	s.relists = true
	s.mu.Unlock()
	if busy || c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.pool.ctx, s.startTimeout())
	defer cancel()
	select {
	case <-ctx.Done():
	case <-time.After(relistPause):
	}
	s.mu.Lock()
	s.relists = false
	s.mu.Unlock()
	tools, _, err := list(ctx, c.ClientSession)
	if err != nil {
		return // its tools stay those that it has told of
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == c {
		s.learn(tools)
	}
}
