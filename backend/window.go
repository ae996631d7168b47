package backend

import (
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
)

// charsPerToken is on the safe side of what English text and code measure.
const charsPerToken = 3.5

// Estimate is about how many tokens a request is.
func Estimate(r *utp.Request) int {
	n := 0
	for _, t := range r.Tools {
		n += 40 + len(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Schema)
	}
	for _, m := range r.Messages {
		n += 16
		for _, p := range m.Parts {
			n += size(p)
		}
	}
	return int(float64(n)/charsPerToken) + 1
}

func size(p utp.Part) int {
	switch p := p.(type) {
	case utp.Text:
		return utf8.RuneCountInString(p.Text)
	case utp.Think:
		return utf8.RuneCountInString(p.Text)
	case utp.Call:
		return 30 + len(p.Name) + max(utf8.RuneCount(p.Args), utf8.RuneCountInString(p.RawArgs))
	case utp.Result:
		n := 20
		for _, q := range p.Parts {
			n += size(q)
		}
		return n
	case utp.Blob:
		return 1000 * charsPerToken // an image: some hundred to some thousand tokens
	}
	return 0
}

// windowStep is the grain of num_ctx, windowFloor its least value. Each change
// makes Ollama load the model anew, so it never shrinks either.
const (
	windowStep  = 2048
	windowFloor = 8192
)

// fit sets the window for the request and warns when the prompt does not fit
// the model. r is the caller's own copy.
func (c *Client) fit(r *utp.Request, a *ability) {
	reserve := c.cfg.Reserve
	if r.Params.MaxTokens != nil {
		reserve = *r.Params.MaxTokens
	}
	prompt := Estimate(r)
	window := a.window
	if c.cfg.Provider == Ollama {
		window = c.setNumCtx(r, a, prompt+reserve)
	}
	if window > 0 && prompt+reserve > window {
		c.warn("the prompt needs about %d tokens and the reply %d more, but the window of %s has %d: its beginning may be cut off unseen; ask about less, or use a model with a larger window", prompt, reserve, r.Model, window)
	}
}

func (c *Client) setNumCtx(r *utp.Request, a *ability, need int) int {
	if r.Params.Context == nil {
		n := c.cfg.NumCtx
		if n == 0 {
			n = c.numCtx(a, need)
		}
		r.Params.Context = &n
	}
	return *r.Params.Context
}

func (c *Client) numCtx(a *ability, need int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := (need + windowStep - 1) / windowStep * windowStep
	n = max(n, windowFloor, a.floor, a.asked)
	if a.loaded >= n {
		n = a.loaded
	}
	if a.window > 0 {
		n = min(n, a.window)
	}
	a.asked = n
	return n
}
