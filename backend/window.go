package backend

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

// The window of a model, in tokens. Ollama loads a model with a window of the
// size that the request names (num_ctx), cuts a longer prompt in silence, and
// loads the model anew, which takes seconds to minutes, whenever a request names
// another size than the last one.

const (
	windowFloor = 8192 // the smallest one that a model is loaded with; it doubles from there
	maxReserve  = 4096 // tokens kept for the reply at most: Ollama moves its window on while it writes
	psFresh     = 2 * time.Second
	psWait      = 500 * time.Millisecond // Ollama may not answer while it loads a model
)

// window is what is known of the window of one model.
type window struct {
	loaded int       // in memory with this one; 0: not in memory
	asked  int       // the largest that was sent
	at     time.Time // when loaded was known to be so
	coarse float64   // tokens that the server counted for one of our estimate, at least 1; 0: not known
}

// fitted is how a request fits its window.
type fitted struct {
	prompt int  // estimate
	window int  // 0: not known
	whole  bool // no files are in it, whose tokens are a guess
	warned bool // that it may be cut
}

// fit sets the window for the request and warns when the prompt does not fit
// the model; one that cannot fit is an error. r is the caller's own copy.
func (c *Client) fit(ctx context.Context, r *utp.Request, a *ability) (fitted, error) {
	if c.cfg.Provider != Ollama && a.window == 0 {
		return fitted{}, nil
	}
	f := fitted{prompt: r.Tokens(), window: a.window, whole: !hasFiles(r.Messages)}
	reserve := c.reserve(r)
	need := c.counted(r.Model, f.prompt)
	if most := c.most(r, a); hopeless(r, need, most) {
		return f, wire.TooLong(r.Model, need, most)
	}
	if c.cfg.Provider == Ollama {
		f.window = c.setNumCtx(ctx, r, a, need+reserve)
	}
	switch {
	case f.window == 0 || need+min(reserve, c.cfg.Reserve) <= f.window:
	case need > f.window:
		f.warned = true
		c.warn("the prompt needs about %d tokens, but the window of %s has %d: its beginning may be cut off unseen; ask about less, or use a model with a larger window", need, r.Model, f.window)
	default:
		c.warn("the prompt needs about %d of the %d tokens of the window of %s: little room is left for the reply", need, f.window, r.Model)
	}
	return f, nil
}

// charsPerWindow is how many characters a token of the window may have at most
// in a prompt that is sent at all.
const charsPerWindow = 4

// hopeless reports a prompt that cannot fit: by the estimate, and by its mere
// length. All else is for the server to decide.
func hopeless(r *utp.Request, tokens, window int) bool {
	return window > 0 && tokens > window && characters(r) > charsPerWindow*window
}

// most is the largest window that a request can get; 0 is not known.
func (c *Client) most(r *utp.Request, a *ability) int {
	switch {
	case c.cfg.Provider != Ollama:
		return a.window
	case r.Params.Context != nil:
		return *r.Params.Context
	case c.cfg.NumCtx > 0:
		return c.cfg.NumCtx
	}
	return a.window
}

// characters counts those of the text of a request, tools included, files not.
func characters(r *utp.Request) (n int) {
	for _, t := range r.Tools {
		n += len(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Schema)
	}
	for _, m := range r.Messages {
		n += textIn(m.Parts)
	}
	return n
}

func textIn(parts []utp.Part) (n int) {
	for _, p := range parts {
		switch p := p.(type) {
		case utp.Text:
			n += utf8.RuneCountInString(p.Text)
		case utp.Think:
			n += utf8.RuneCountInString(p.Text)
		case utp.Call:
			n += max(utf8.RuneCount(p.Args), utf8.RuneCountInString(p.RawArgs))
		case utp.Result:
			n += textIn(p.Parts)
		}
	}
	return n
}

// reserve is how many tokens are kept for the reply.
func (c *Client) reserve(r *utp.Request) int {
	if n := r.Params.MaxTokens; n != nil && *n > 0 {
		return min(*n, maxReserve)
	}
	return c.cfg.Reserve
}

func hasFiles(ms []utp.Message) bool {
	return slices.ContainsFunc(ms, func(m utp.Message) bool { return slices.ContainsFunc(m.Parts, holdsFile) })
}

func holdsFile(p utp.Part) bool {
	switch p := p.(type) {
	case utp.Blob:
		return true
	case utp.Result:
		return slices.ContainsFunc(p.Parts, holdsFile)
	}
	return false
}

func (c *Client) setNumCtx(ctx context.Context, r *utp.Request, a *ability, need int) int {
	if r.Params.Context == nil {
		n := c.cfg.NumCtx
		if n == 0 {
			c.look(ctx, r.Model)
			n = c.numCtx(r.Model, a, need)
		}
		r.Params.Context = &n
	}
	return *r.Params.Context
}

// numCtx is the window that the model has in memory, whoever loaded it, if the
// request fits, else one that is doubled until it does. It never asks for less
// than it did before.
func (c *Client) numCtx(model string, a *ability, need int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.windowOf(model)
	if w.loaded >= max(a.floor, min(need, orAny(a.window))) {
		return w.loaded
	}
	n := windowFloor
	for n < need && n < orAny(a.window) {
		n *= 2
	}
	n = min(max(n, a.floor, w.asked), orAny(a.window))
	w.loaded, w.asked, w.at = n, n, c.cfg.Now()
	return n
}

// orAny is a limit, or none.
func orAny(window int) int {
	if window == 0 {
		return 1 << 30
	}
	return window
}

// windowOf is to be called with the lock.
func (c *Client) windowOf(model string) *window {
	w := c.windows[model]
	if w == nil {
		w = &window{}
		c.windows[model] = w
	}
	return w
}

// look asks Ollama which window the model has in memory, if that was not known a
// moment ago: the model may be gone, or another program may have loaded it. Of
// requests at one time one asks.
func (c *Client) look(ctx context.Context, model string) {
	c.mu.Lock()
	w := c.windowOf(model)
	fresh := c.cfg.Now().Sub(w.at) < psFresh
	if !fresh {
		w.at = c.cfg.Now()
	}
	c.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, psWait)
	defer cancel()
	running, err := c.ollamaModels(ctx, ollama.RunningPath)
	if err != nil {
		return
	}
	loaded := 0
	if m := find(running, model); m != nil {
		loaded = m.Context
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.loaded, w.at = loaded, c.cfg.Now()
}

// unloaded forgets a window after a failure of the server, which may have lacked
// the memory for it, so that the next request may ask for less.
func (c *Client) unloaded(model string, err error) {
	var e *Error
	if !errors.As(err, &e) || e.Kind == Refused && e.Status() < 500 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.windows[model]; w != nil {
		w.loaded, w.asked, w.at = 0, 0, time.Time{}
	}
}

const (
	leastCounted = 200 // tokens, below which what is around the messages counts too much
	mostCoarse   = 4   // a byte for a token
)

// counted is an estimate in the tokens of the model.
func (c *Client) counted(model string, tokens int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.windows[model]; w != nil && w.coarse > 1 {
		return int(float64(tokens) * w.coarse)
	}
	return tokens
}

// weigh compares what the server counted with the window and the estimate. A
// prompt that fills the window to the last token is one that was cut. What a
// server has in its cache it may leave out, so that too few say nothing.
func (c *Client) weigh(p *plan, usage utp.Usage) {
	n := usage.Prompt()
	if p.fitted.window > 0 && n >= p.fitted.window-1 && !p.fitted.warned {
		c.warn("%s read %d tokens of the prompt, which is all that the window of %s holds: the beginning was cut off; ask about less, or use a larger window", c.Server(), n, p.model)
	}
	if p.fitted.prompt < leastCounted || n < p.fitted.prompt || !p.fitted.whole {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.windowOf(p.model).coarse = min(float64(n)/float64(p.fitted.prompt), mostCoarse)
}

// Room is how many tokens, as (*utp.Request).Tokens counts them, a prompt for a
// model may have; 0 is not known. reply is what the reply may take; 0 is not said.
func (c *Client) Room(ctx context.Context, model string, reply int) int {
	if model == "" {
		model = c.cfg.Model
	}
	r := utp.Request{Params: utp.Params{MaxTokens: &reply}}
	w := c.most(&r, c.ability(ctx, model))
	if w == 0 {
		return 0
	}
	w = max(w-min(c.reserve(&r), w/4), 1)
	return max(w*1000/c.counted(model, 1000), 1)
}
