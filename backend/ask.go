package backend

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Hooks are for one request what the fields of the same names in Config are for
// all. A nil one leaves Config's in place.
type Hooks struct {
	Whole bool
	Warn  func(string)
	Trace func(Trace)
	Dump  func(sent, received []byte)
	Lost  func([]wire.Loss)
}

// Ask is Stream with hooks of its own. What the client has learnt of the server
// stays common to all requests.
func (c *Client) Ask(ctx context.Context, r *utp.Request, h Hooks) iter.Seq2[utp.Event, error] {
	d := *c
	d.cfg.Whole = d.cfg.Whole || h.Whole
	if h.Warn != nil {
		d.cfg.Warn = h.Warn
	}
	if h.Trace != nil {
		d.cfg.Trace = h.Trace
	}
	if h.Dump != nil {
		d.cfg.Dump = h.Dump
	}
	if h.Lost != nil {
		d.cfg.Lost = h.Lost
	}
	return d.Stream(ctx, r)
}

// API names the API that the server speaks, one of Providers.
func (c *Client) API() string { return c.cfg.Provider }

// Raw is a request of the server's own API that goes through as it is.
type Raw struct {
	Method, Path, Query string // Path from the root: "/v1/embeddings"
	Header              http.Header
	Body                io.Reader
}

// Forward sends a request to the server, with its key, and gives the answer as
// it comes, whatever its status. No path leads to another host or out of the
// server's base path. The caller closes the body.
func (c *Client) Forward(ctx context.Context, r Raw) (*http.Response, error) {
	if !strings.HasPrefix(r.Path, "/") || slices.Contains(strings.Split(r.Path, "/"), "..") {
		return nil, &wire.InputError{Path: "path", Offset: -1, Want: "an absolute path without .."}
	}
	ctx, w := newWatch(ctx)
	address := c.at((&url.URL{Path: r.Path}).EscapedPath())
	if r.Query != "" {
		address += "?" + r.Query
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, r.Body)
	if err != nil {
		w.close()
		return nil, err
	}
	req.Header = r.Header.Clone()
	c.authorize(req)
	w.wait("no answer", c.cfg.Timeouts.First)
	resp, err := c.http.Do(req)
	if err != nil {
		defer w.close()
		return nil, c.connectError(ctx, c.cfg.Model, err)
	}
	w.stop()
	resp.Body = &watched{resp.Body, w}
	return resp, nil
}

// watched ends its watch with the body.
type watched struct {
	io.ReadCloser
	watch *watch
}

func (b *watched) Close() error {
	defer b.watch.close()
	return b.ReadCloser.Close()
}
