package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
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
		if c.cfg.Spent != nil {
			c.cfg.Spent(f.empty.End.Usage)
		}
		p, f, err = c.once(ctx, w, r, f, yield)
		if err == nil && f.said {
			c.remember(ctx, p.model, func(a *ability) { a.asText = "the model says nothing after a native result" })
		}
	}
	return c.cause(outer, ctx, p, err)
}

// once sends the request and reads the reply. Behind a try that said nothing
// the tools and results go as text.
func (c *Client) once(ctx context.Context, w *watch, r *utp.Request, before *flow, yield func(utp.Event) bool) (*plan, *flow, error) {
	asText := ""
	if before != nil {
		asText = "the reply to a native result was empty"
	}
	p, resp, err := c.open(ctx, w, r, asText)
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

// open sends the request, again without what the server refuses of it, and tells
// what was lost.
func (c *Client) open(ctx context.Context, w *watch, r *utp.Request, asText string) (*plan, *http.Response, error) {
	tried := heeds{}
	var own *unsent
	for {
		p, err := c.plan(ctx, r, asText)
		if err != nil {
			return nil, nil, err
		}
		if c.cfg.Told != nil {
			c.cfg.Told(p.choice.Tools.Name(), p.choice.Tools.Why)
		}
		resp, err := c.send(ctx, w, p.exchange, p.model)
		c.unloaded(p.model, err)
		switch {
		case err == nil && c.cfg.Lost != nil && len(p.exchange.Losses) > 0:
			c.cfg.Lost(p.exchange.Losses)
		case errors.As(err, &own):
			return p, nil, own.error
		case err != nil && c.heeds(p, err, tried):
			continue
		}
		return p, resp, err
	}
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
		return c.receiveWhole(w, p, resp.Body, flow)
	}
	decoder := p.exchange.Framing.Decoder()
	buf := make([]byte, 4<<10) // as much as net/http reads at once
	begun := opening{over: p.exchange.Framing != wire.SSE}
	for {
		n, err := resp.Body.Read(buf)
		w.wait("no more of the reply", c.cfg.Timeouts.Idle)
		if begun.isJSON(buf[:n]) {
			return c.receiveWhole(w, p, io.MultiReader(bytes.NewReader(buf[:n]), resp.Body), flow)
		}
		frames, bad := decoder.Feed(buf[:n])
		begun.note(buf[:n], len(frames))
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
		begun.note(nil, len(frames))
		if stop := flow.frames(frames); stop != nil {
			return stop
		}
		broken := flow.close()
		if slices.ContainsFunc(frames, half) {
			broken = wire.ErrCut
		}
		if foreign := begun.foreign(resp); foreign != nil && errors.Is(broken, wire.ErrCut) {
			broken = foreign
		}
		return c.verdict(p, broken, err)
	}
}

// whole reports a reply that is said to be in one piece, also where a stream was
// asked for. A whole reply of Ollama is a stream of one line.
func (c *Client) whole(resp *http.Response, f wire.Framing) bool {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return f == wire.SSE && media != "text/event-stream" && (c.cfg.Whole || media == "application/json")
}

const (
	maxReply   = 64 << 20 // of a reply in one piece
	usualReply = 8 << 10  // for which room is made
)

func (c *Client) receiveWhole(w *watch, p *plan, r io.Reader, flow *flow) error {
	var body bytes.Buffer
	body.Grow(usualReply)
	_, err := body.ReadFrom(io.LimitReader(&patient{r, w, c.cfg.Timeouts.Idle}, maxReply))
	if err == nil {
		err = io.EOF
	}
	if stop := flow.frames([]wire.Frame{{Data: body.Bytes()}}); stop != nil {
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
	case errors.Is(broken, wire.ErrCut) && read != io.EOF && read != io.ErrUnexpectedEOF: // these say no more
		return c.fail(Cut, p.model, fmt.Errorf("%w (%w)", wire.ErrCut, read))
	case errors.Is(broken, wire.ErrCut):
		return c.fail(Cut, p.model, broken)
	case errors.As(broken, &w) && w.Type == wire.NotThisAPI:
		return c.fail(BadReply, p.model, w)
	}
	return c.fail(Refused, p.model, broken)
}
