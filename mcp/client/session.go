package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is a connection to a server that has listed its tools.
type session struct {
	*sdk.ClientSession
	program *program // nil: it is at a URL
	about   About
	tools   []listed
	lost    int // tools beyond maxTools
}

// About is what a server says of itself.
type About struct {
	Name, Version, Protocol string
}

const (
	maxTools = 2000 // of a server
	maxPages = 100  // in which it lists them
)

// older is the protocol that is tried with a server that keeps silent to the newest.
const older = "2025-11-25"

// dial connects to a server and lists its tools. Some older servers do not answer
// the first message of the newest protocol: they get a third of the time for it.
func (s *server) dial(ctx context.Context) (*session, error) {
	patience := s.startTimeout() / 3
	if s.OAuth != nil {
		patience = s.startTimeout() // somebody may be logging in
	}
	first, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := s.connect(first, "")
	if err != nil && first.Err() != nil && ctx.Err() == nil {
		c, err = s.connect(ctx, older)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("it did not answer within %v", s.startTimeout())
	}
	return c, err
}

// connect makes one try. It returns when ctx ends, whatever the server does.
func (s *server) connect(ctx context.Context, protocol string) (*session, error) {
	c := &session{}
	transport, err := s.transport(c)
	if err != nil {
		return nil, err
	}
	options := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { go s.relist() }}
	me := sdk.NewClient(&sdk.Implementation{Name: "bx", Version: s.pool.config.Version}, options)
	done := make(chan error, 1)
	go func() {
		err := c.open(ctx, me, transport, protocol)
		if err != nil || ctx.Err() != nil {
			err = c.fault(err)
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		if c.program != nil {
			c.program.Close()
		}
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *session) open(ctx context.Context, me *sdk.Client, t sdk.Transport, protocol string) (err error) {
	if c.ClientSession, err = me.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: protocol}); err != nil {
		return err
	}
	c.about = aboutOf(c.InitializeResult())
	c.tools, c.lost, err = list(ctx, c.ClientSession)
	return err
}

// transport is how the server is reached.
func (s *server) transport(c *session) (sdk.Transport, error) {
	if s.URL != "" {
		return s.overHTTP()
	}
	p, err := s.begin(s.pool.config.Start, s.pool.config.Env)
	if err != nil {
		return nil, err
	}
	c.program = p
	return &sdk.IOTransport{Reader: io.NopCloser(p), Writer: p, MaxLineLength: -1}, nil
}

// fault ends a session that failed and says why.
func (c *session) fault(err error) error {
	c.end()
	said := answer(err)
	switch {
	case errors.Is(err, errLogin):
		return errLogin
	case said != "":
		return fmt.Errorf("it answered: %s", said)
	case errors.Is(err, errFrame):
		return fmt.Errorf("it sent %w", errFrame)
	case c.program != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		return c.program.death(err)
	case err == nil:
		return errors.New("the connection has ended")
	}
	return fmt.Errorf("%s", line(err.Error()))
}

// rejected is the code of a message that did not leave, or was refused on its way.
// Source: internal/jsonrpc2 of the Go SDK.
const rejected = -32005

// answer is the server's own word for what went wrong; "" where the error is not
// an answer of its.
func answer(err error) string {
	var said *jsonrpc.Error
	if !errors.As(err, &said) || said.Code == rejected {
		return ""
	}
	return cmp.Or(line(said.Message), "an error")
}

// end closes a session; its program is ended. A server at a URL is told, and not
// waited for.
func (c *session) end() {
	if c.program != nil {
		c.program.Close()
	}
	if c.ClientSession != nil {
		go c.ClientSession.Close()
	}
}

func aboutOf(r *sdk.InitializeResult) (a About) {
	if r == nil {
		return a
	}
	a.Protocol = line(r.ProtocolVersion)
	if r.ServerInfo != nil {
		a.Name, a.Version = line(r.ServerInfo.Name), line(r.ServerInfo.Version)
	}
	return a
}

// list asks for the tools, page by page, up to a limit. lost is at least how many
// there are beyond it.
func list(ctx context.Context, c *sdk.ClientSession) (out []listed, lost int, err error) {
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := c.ListTools(ctx, params)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range page.Tools {
			if len(out) == maxTools {
				lost++
				continue
			}
			raw, err := json.Marshal(t.InputSchema)
			if err != nil {
				return nil, 0, err
			}
			out = append(out, listed{Name: t.Name, Description: t.Description, Schema: raw})
		}
		if page.NextCursor == "" {
			return out, lost, nil
		}
		params.Cursor = page.NextCursor
	}
	return out, lost + 1, nil
}

// overHTTP reaches a server at its URL.
func (s *server) overHTTP() (sdk.Transport, error) {
	url, err := expand(s.URL, "its url", s.pool.config.Env)
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	for name, value := range s.Headers {
		if own[name], err = expand(value, "the header "+name, s.pool.config.Env); err != nil {
			return nil, err
		}
	}
	client := *s.pool.config.HTTP
	if client.Transport, err = newHeaders(url, own, client.Transport); err != nil {
		return nil, err
	}
	t := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &client, MaxRetries: 1, MaxEventSize: maxFrame}
	if s.OAuth != nil {
		if t.OAuthHandler, err = s.login(url); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// headers adds headers to what goes to one host, and bounds what comes back.
type headers struct {
	host string
	own  map[string]string
	next http.RoundTripper
}

func newHeaders(url string, own map[string]string, next http.RoundTripper) (http.RoundTripper, error) {
	r, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil || r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
		return nil, fmt.Errorf("its url is %q: want http://… or https://…", line(url))
	}
	if next == nil {
		next = http.DefaultTransport
	}
	return headers{r.URL.Host, own, next}, nil
}

// RoundTrip is the method of an http.RoundTripper.
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == h.host && len(h.own) > 0 {
		r = r.Clone(r.Context())
		for name, value := range h.own {
			r.Header.Set(name, value)
		}
	}
	resp, err := h.next.RoundTrip(r)
	if err == nil {
		resp.Body = &bounded{resp.Body, maxFrame, strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")}
	}
	return resp, err
}

// bounded fails at a body that is too long. Streams have a bound of their own, for
// each event.
type bounded struct {
	io.ReadCloser
	left    int
	streams bool
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 && !b.streams {
		return 0, errFrame
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	return n, err
}
