package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

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
}

func newWatch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{cancel: cancel}
}

// wait begins a wait and ends the one before.
func (w *watch) wait(what string, d time.Duration) {
	w.stop()
	w.timer = time.AfterFunc(d, func() { w.cancel(&tooLate{what, d}) })
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watch) close() { w.stop(); w.cancel(context.Canceled) }

// maxError bounds what is read of an error body.
const maxError = 64 << 10

// maxRetryAfter is the longest pause that a server may ask for and get.
const maxRetryAfter = 30 * time.Second

// send posts the body and waits for a good status. Before the first byte of a
// reply it tries again where that may help.
func (c *Client) send(ctx context.Context, w *watch, x *wire.Exchange, model string) (*http.Response, error) {
	if c.cfg.Dump != nil {
		c.cfg.Dump(x.Body, nil)
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval = c.cfg.Backoff
	return backoff.Retry(ctx, func() (*http.Response, error) {
		w.wait("no answer", c.cfg.Timeouts.First)
		resp, err := c.try(ctx, x, model)
		if err != nil && !c.worthAnother(err) {
			return nil, backoff.Permanent(err)
		}
		return resp, again(err)
	}, backoff.WithBackOff(pause), backoff.WithMaxTries(uint(max(0, c.cfg.Retries))+1))
}

func (c *Client) try(ctx context.Context, x *wire.Exchange, model string) (*http.Response, error) {
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
	if e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now()); e.RetryAfter == 0 {
		e.RetryAfter = wire.RetryDelay(body)
	}
	return e
}

// retryAfter reads the header's two forms: seconds, or a date.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	if t, err := http.ParseTime(s); err == nil && t.After(now) {
		return t.Sub(now).Round(time.Second)
	}
	return 0
}

// worthAnother reports whether the same request may succeed a moment later. A
// refused connection on this machine will not.
func (c *Client) worthAnother(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	var w *wire.Error
	switch {
	case e.Kind == Unreachable:
		return !(Loopback(c.base.Hostname()) && errors.Is(err, syscall.ECONNREFUSED))
	case !errors.As(err, &w) || w.RetryAfter > maxRetryAfter || w.Overflow() || refusesTools(w) || refusesSystem(w):
		return false
	}
	return w.Status == 408 || w.Status == 409 || w.Status == 429 || w.Status >= 500 && w.Status != 501
}

// pauseError is an error together with the pause that the server asks for.
type pauseError struct {
	error
	after backoff.RetryAfterError
}

func (p *pauseError) Unwrap() []error { return []error{p.error, &p.after} }

// again is err for backoff.Retry.
func again(err error) error {
	var w *wire.Error
	if errors.As(err, &w) && w.RetryAfter > 0 {
		return &pauseError{err, backoff.RetryAfterError{Duration: w.RetryAfter}}
	}
	return err
}

// plain takes the pause off an error again.
func plain(err error) error {
	var p *pauseError
	if errors.As(err, &p) {
		return p.error
	}
	return err
}

// refusesTools recognises a server or model that takes no native tools.
// Source: error texts of Ollama, vLLM and llama.cpp.
func refusesTools(w *wire.Error) bool {
	text := strings.ToLower(w.Message)
	for _, words := range []string{"does not support tools", "--enable-auto-tool-choice", "tools param requires --jinja", "tool use is not supported", "tool calling is not supported"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
