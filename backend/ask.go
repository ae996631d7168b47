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

// Ask is Stream with hooks of its own. What the client has learnt of the server
// stays common to all requests.
func (c *Client) Ask(ctx context.Context, r *utp.Request, h wire.Hooks) iter.Seq2[utp.Event, error] {
	d := *c
	d.cfg.Whole = d.cfg.Whole || h.Whole
	if h.Once {
		d.cfg.Retries = 0 // New has put the default in
	}
	if h.Form != "" {
		d.form = h.Form
	}
	if h.Warn != nil {
		d.cfg.Warn = h.Warn
	}
	if h.Dump != nil {
		d.cfg.Dump = h.Dump
	}
	if h.Told != nil {
		d.cfg.Told = h.Told
	}
	if h.Lost != nil {
		d.cfg.Lost = h.Lost
	}
	d.cfg.Send, d.cfg.Spent = h.Send, h.Spent
	if h.Idle != nil {
		d.cfg.Idle = h.Idle
	}
	return d.Stream(ctx, r)
}

// WithKey is the client of the same server with another key. What the one learns of
// the server the other knows.
func (c *Client) WithKey(key string) *Client {
	d := *c
	d.cfg.APIKey = key
	return &d
}

// API names the API that the server speaks, one of Providers.
func (c *Client) API() string { return c.cfg.Provider }

// Forward sends a request of the server's own API to the server as it is, with
// the server's key, and gives the answer as it comes, whatever its status. Of r's
// URL the path and the query count: none leads to another host or out of the
// server's base path. One with GetBody goes out again where the server has closed
// the connection before it answered. The caller closes the body.
func (c *Client) Forward(r *http.Request) (*http.Response, error) {
	if !goesDown(r.URL.Path) {
		return nil, &wire.InputError{Path: "path", Offset: -1, Want: "an absolute path without .."}
	}
	ctx, w := newWatch(r.Context())
	address := c.at((&url.URL{Path: r.URL.Path}).EscapedPath())
	if r.URL.RawQuery != "" {
		address += "?" + r.URL.RawQuery
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, r.Body)
	if err != nil {
		w.close()
		return nil, err
	}
	req.Header, req.ContentLength, req.GetBody = r.Header.Clone(), r.ContentLength, r.GetBody
	c.authorize(req)
	w.wait("no answer", c.cfg.Timeouts.First)
	resp, err := c.do(req)
	if err != nil {
		defer w.close()
		return nil, c.connectError(ctx, c.cfg.Model, err)
	}
	w.stop()
	resp.Body = &watched{resp.Body, w}
	return resp, nil
}

// goesDown reports an absolute path that no server takes for one above it, also
// not one that reads "..;x" as ".." or a backslash as a slash.
func goesDown(path string) bool {
	above := func(segment string) bool {
		name, _, _ := strings.Cut(segment, ";")
		return name == ".."
	}
	return strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(c rune) bool { return c < ' ' || c == '\\' }) &&
		!slices.ContainsFunc(strings.Split(path, "/"), above)
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
