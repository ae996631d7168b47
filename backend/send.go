package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// tooLate is a wait that took too long.
type tooLate struct {
	what string
	wait time.Duration
}

func (t *tooLate) Error() string { return fmt.Sprintf("%s within %s", t.what, t.wait) }

// Is makes it a context.DeadlineExceeded.
func (t *tooLate) Is(target error) bool { return target == context.DeadlineExceeded }

// watch ends a context when a wait takes too long.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer

	mu   sync.Mutex
	late tooLate // what is waited for
}

func newWatch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{cancel: cancel}
}

// wait begins a wait and ends the one before.
func (w *watch) wait(what string, d time.Duration) {
	w.mu.Lock()
	w.late = tooLate{what, d}
	w.mu.Unlock()
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.end)
		return
	}
	w.timer.Reset(d)
}

// end is what a wait comes to that took too long.
func (w *watch) end() {
	w.mu.Lock()
	late := w.late
	w.mu.Unlock()
	w.cancel(&late)
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watch) close() { w.stop(); w.cancel(context.Canceled) }

// maxError bounds what is read of an error body.
const maxError = 64 << 10

// loadAgain is the pause between two questions to a server that loads its model.
const loadAgain = 200 * time.Millisecond

// loads reports, after a pause, whether err is that of a server that still loads its
// model. Who waits for the reply is told once.
func (c *Client) loads(ctx context.Context, err error, told *bool) bool {
	var e *Error
	if !errors.As(err, &e) || !e.Loading() {
		return false
	}
	if !*told && c.cfg.Waiting != nil {
		c.cfg.Waiting(c.Server())
	}
	*told = true
	select {
	case <-ctx.Done():
		return false
	case <-time.After(loadAgain):
		return true
	}
}

// send posts the body and waits for a good status. Where that may help it tries
// again; a server that loads its model is asked until the time for the first byte
// is over.
func (c *Client) send(ctx context.Context, w *watch, x *wire.Exchange, model string) (*http.Response, error) {
	if c.cfg.Dump != nil {
		c.cfg.Dump(x.Body, nil)
	}
	told := false
	for n := 1; ; n++ {
		w.wait("no answer", c.cfg.Timeouts.First)
		resp, err := c.try(ctx, x, model)
		for c.cfg.Retries > 0 && c.loads(ctx, err, &told) {
			resp, err = c.try(ctx, x, model)
		}
		if err == nil || n > c.cfg.Retries || !c.another(ctx, err, n) {
			return resp, err
		}
	}
}

// unsent is the error of whoever was asked before a request goes out.
type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }

// another reports whether the same request may succeed now, after a pause. One
// that heeds the refusal needs none.
func (c *Client) another(ctx context.Context, err error, n int) bool {
	var refusal *wire.Error
	var own *unsent
	if errors.As(err, &own) || errors.As(err, &refusal) && len(named(refusal)) > 0 {
		return false
	}
	remedy := wire.RemedyFor(err)
	if !remedy.Same || ctx.Err() != nil {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(remedy.Wait(c.cfg.Backoff, n)):
		return true
	}
}

func (c *Client) try(ctx context.Context, x *wire.Exchange, model string) (*http.Response, error) {
	if c.cfg.Send != nil {
		if err := c.cfg.Send(x.Body); err != nil {
			return nil, &unsent{err}
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at(x.Path), bytes.NewReader(x.Body))
	if err != nil {
		return nil, err
	}
	for k, v := range x.Header {
		req.Header.Set(k, v)
	}
	c.authorize(req)
	resp, err := c.do(req)
	if err != nil {
		return nil, c.connectError(ctx, model, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.fail(Refused, model, c.readError(resp))
}

func (c *Client) authorize(req *http.Request) {
	if c.cfg.APIKey != "" {
		c.api.sign(req.Header, c.cfg.APIKey)
	}
}

func (c *Client) readError(resp *http.Response) *wire.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if key := c.cfg.APIKey; key != "" {
		body = bytes.ReplaceAll(body, []byte(key), []byte("[key]"))
	}
	if c.cfg.Dump != nil {
		c.cfg.Dump(nil, body)
	}
	e := wire.ReadError(resp.StatusCode, body)
	e.RetryAfter = wire.RetryAfter(resp.Header.Get("Retry-After"), body, time.Now())
	return e
}
