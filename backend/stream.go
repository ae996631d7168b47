package backend

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// errLeft is a consumer that wants no more.
var errLeft = errors.New("backend: the reader left")

func (c *Client) stream(ctx context.Context, r *utp.Request, yield func(utp.Event) bool) error {
	outer := ctx
	ctx, w := newWatch(ctx)
	defer w.close()
	p, f, err := c.once(ctx, w, r, nil, yield)
	if err == nil && f.empty != nil {
		p, f, err = c.once(ctx, w, r, f, yield)
		if err == nil && f.sieve.said {
			c.remember(ctx, p.model, func(a *ability) { a.asText = "the model says nothing after a native result" })
		}
	}
	return c.cause(outer, ctx, p, err)
}

// once sends the request and reads the reply. Behind a try that said nothing
// the tools and results go as text.
func (c *Client) once(ctx context.Context, w *watch, r *utp.Request, before *flow, yield func(utp.Event) bool) (*plan, *flow, error) {
	p, resp, err := c.open(ctx, w, r, before != nil)
	if err != nil {
		return p, nil, err
	}
	defer resp.Body.Close()
	f := c.newFlow(p, yield)
	if before != nil {
		f.base, f.part, f.usage = before.part+1, before.part+1, before.empty.End.Usage
	}
	return p, f, c.receive(w, p, resp, f)
}

// cause is err, or why the context ended, which explains it better.
func (c *Client) cause(outer, ctx context.Context, p *plan, err error) error {
	switch {
	case err == nil || err == errLeft:
		return err
	case outer.Err() != nil:
		return outer.Err()
	case context.Cause(ctx) != nil && p != nil:
		return c.ended(context.Cause(ctx), p.model)
	}
	return err
}

// open sends the request, once more after a refusal that it can heed.
func (c *Client) open(ctx context.Context, w *watch, r *utp.Request, asText bool) (*plan, *http.Response, error) {
	for {
		p, err := c.plan(ctx, r, asText)
		if err != nil {
			return nil, nil, err
		}
		resp, err := c.send(ctx, w, p.exchange, p.model)
		if err == nil || !c.heeds(ctx, p, err) {
			return p, resp, err
		}
	}
}

// heeds reports whether a refusal tells how to ask instead: a server that takes
// no native tools gets them in the prompt from then on, also where native ones
// are set, and a chat template without a system message gets none.
func (c *Client) heeds(ctx context.Context, p *plan, err error) bool {
	var refusal *wire.Error
	switch {
	case !errors.As(err, &refusal):
		return false
	case p.native && refusesTools(refusal):
		c.warn("%s takes no native tools for %s (%s): they go into the prompt instead", c.Server(), p.model, refusal.Message)
		c.remember(ctx, p.model, func(a *ability) { a.asText = "the server refuses native tools" })
	case !p.adapter.NoSystem && refusesSystem(refusal):
		c.warn("%s takes no system message for %s, or only one in front: it goes into the first user message instead", c.Server(), p.model)
		c.remember(ctx, p.model, func(a *ability) { a.noSystem = true })
	default:
		return false
	}
	return true
}

// remember changes what is known of a model.
func (c *Client) remember(ctx context.Context, model string, change func(*ability)) {
	known := c.ability(ctx, model)
	c.mu.Lock()
	defer c.mu.Unlock()
	a := *known
	change(&a)
	c.models[model] = &a
}

// receive reads the reply and hands its events on.
func (c *Client) receive(w *watch, p *plan, resp *http.Response, flow *flow) error {
	if c.whole(resp, p.exchange.Framing) {
		return c.receiveWhole(w, p, resp, flow)
	}
	decoder := p.exchange.Framing.Decoder()
	buf := make([]byte, 4<<10) // as much as net/http reads at once
	for {
		n, err := resp.Body.Read(buf)
		w.wait("no more of the reply", c.cfg.Timeouts.Idle)
		frames, bad := decoder.Feed(buf[:n])
		if stop := flow.frames(frames); stop != nil {
			return stop
		}
		if bad != nil {
			flow.close()
			return c.fail(BadReply, p.model, bad)
		}
		if err == nil {
			if c.cfg.Idle != nil {
				c.cfg.Idle()
			}
			continue
		}
		frames, _ = decoder.Close()
		if stop := flow.frames(frames); stop != nil {
			return stop
		}
		return c.verdict(p, flow.close(), err)
	}
}

// whole reports a reply in one piece, also where a stream was asked for. A
// whole reply of Ollama is a stream of one line.
func (c *Client) whole(resp *http.Response, f wire.Framing) bool {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return f == wire.SSE && media != "text/event-stream" && (c.cfg.Whole || media == "application/json")
}

// maxReply bounds a reply in one piece.
const maxReply = 64 << 20

func (c *Client) receiveWhole(w *watch, p *plan, resp *http.Response, flow *flow) error {
	body, err := io.ReadAll(io.LimitReader(&patient{resp.Body, w, c.cfg.Timeouts.Idle}, maxReply))
	if err == nil {
		err = io.EOF
	}
	if stop := flow.frames([]wire.Frame{{Data: body}}); stop != nil {
		return stop
	}
	return c.verdict(p, flow.close(), err)
}

// patient waits anew for each piece.
type patient struct {
	io.Reader
	watch *watch
	idle  time.Duration
}

func (r *patient) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.watch.wait("no more of the reply", r.idle)
	return n, err
}

// verdict says what was wrong with a reply that is over. broken is what the
// codec says, read how the connection ended.
func (c *Client) verdict(p *plan, broken, read error) error {
	var w *wire.Error
	switch {
	case broken == nil || broken == errLeft:
		return broken
	case errors.Is(broken, wire.ErrCut) && read != io.EOF:
		return c.fail(Cut, p.model, errors.Join(wire.ErrCut, read))
	case errors.Is(broken, wire.ErrCut):
		return c.fail(Cut, p.model, broken)
	case errors.As(broken, &w) && w.Type == wire.NotThisAPI:
		return c.fail(BadReply, p.model, w)
	}
	return c.fail(Refused, p.model, broken)
}
