package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// Kind sorts what can go wrong with a request.
type Kind string

const (
	Unreachable Kind = "unreachable" // no connection
	Offline     Kind = "offline"     // a connection that would leave the machine
	Refused     Kind = "refused"     // the server answered with an error: Err is a *wire.Error
	Cut         Kind = "cut"         // the reply stopped in the middle
	Timeout     Kind = "timeout"     // the server said nothing for too long
	BadReply    Kind = "bad_reply"   // the answer is none of this API
)

// Error is a request that failed. Its text says where, what, and what to do.
type Error struct {
	Kind   Kind
	Server string // "Ollama at http://127.0.0.1:11434"
	Model  string
	Hint   string // what to do about it
	Err    error

	vain bool // asking this server again would not help
}

var phrases = map[Kind]string{
	Unreachable: "cannot reach %s: %s", Offline: "cannot reach %s: %s", Refused: "%s answered %s",
	Cut: "the reply of %s broke off: %s", Timeout: "%s did not answer: %s", BadReply: "%s sent a reply that cannot be read: %s",
}

// Error says all of it in a sentence.
func (e *Error) Error() string {
	text := fmt.Sprintf(phrases[e.Kind], e.Server, reason(e.Err))
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes it a wire.ErrInVain where nobody listens, nobody may be asked, or all
// the time there is was taken.
func (e *Error) Is(target error) bool { return e.vain && target == wire.ErrInVain }

// Status is the HTTP status of a refusal; 0 if there was none.
func (e *Error) Status() int {
	var w *wire.Error
	if errors.As(e.Err, &w) {
		return w.Status
	}
	return 0
}

// Loading reports a server that still loads its model and answers nothing else.
func (e *Error) Loading() bool {
	var w *wire.Error
	return errors.As(e.Err, &w) && w.Loading()
}

// reason is the innermost words of a network error, or all of another error.
func reason(err error) string {
	var errno syscall.Errno
	var dns *net.DNSError
	var u *url.Error
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &dns):
		return dns.Err + ": " + dns.Name
	case errors.As(err, &u):
		return u.Err.Error()
	}
	return err.Error()
}

// Server names the server for people.
func (c *Client) Server() string {
	name := "the server"
	if c.cfg.Provider == Ollama {
		name = "Ollama"
	}
	return name + " at " + c.base.Redacted()
}

func (c *Client) fail(kind Kind, model string, err error) *Error {
	e := &Error{Kind: kind, Server: c.Server(), Model: model, Err: err}
	e.Hint = c.hint(e)
	switch kind {
	case Offline, Timeout:
		e.vain = true
	case Unreachable: // a program on this machine does not start by itself
		e.vain = Loopback(c.base.Hostname()) && errors.Is(err, syscall.ECONNREFUSED)
	}
	return e
}

// connectError sorts an error of http.Client.Do.
func (c *Client) connectError(ctx context.Context, model string, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(err, ErrOffline):
		return c.fail(Offline, model, err)
	case cause != nil:
		return c.ended(cause, model)
	}
	return c.fail(Unreachable, model, err)
}

// ended is the error of a context that ended: the caller's own, or a time-out.
func (c *Client) ended(cause error, model string) error {
	var late *tooLate
	if errors.As(cause, &late) {
		return c.fail(Timeout, model, late)
	}
	return cause
}

func (c *Client) hint(e *Error) string {
	switch e.Kind {
	case Unreachable:
		if c.cfg.URLFrom != "" {
			return "is it running, and is the address right? (" + c.cfg.URLFrom + ")"
		}
		if c.cfg.Provider == Ollama {
			return "is it running? start it with `ollama serve`, or set OLLAMA_HOST to where it runs"
		}
		return "is it running, and is the address right? (url in the configuration, or OPENAI_BASE_URL)"
	case Offline:
		return "leave --offline out to allow it"
	case Timeout:
		return "a big model may take long to load or to read the prompt; raise the timeout in the configuration"
	case Cut:
		return "ask again; if it happens again, look into the server's log"
	case BadReply:
		return "is the address that of a server with " + c.api.speaks + "?"
	}
	var w *wire.Error
	if errors.As(e.Err, &w) {
		return c.statusHint(w, e.Model)
	}
	return ""
}

func (c *Client) statusHint(w *wire.Error, model string) string {
	text := strings.ToLower(w.Message)
	switch {
	case w.Overflow():
		return "the prompt is longer than the model's window: ask about less, or load the model with a larger window"
	case w.Status == 401 || w.Status == 403:
		return "check the API key (" + cmp.Or(c.cfg.KeyFrom, "api_key in the configuration, or OPENAI_API_KEY") + ")"
	case w.Status == 404 && c.cfg.Provider == Ollama && strings.Contains(text, "model"):
		return "install it with `ollama pull " + model + "`, or choose one of `ollama list`"
	case w.Status == 404 && (strings.Contains(text, "model") || w.Code == "model_not_found"):
		return "`bx status` lists the models of this server"
	case w.Status == 404:
		return "is the address right? this server has no such API"
	case w.Status == 429 && w.RetryAfter > 0:
		return "try again in " + w.RetryAfter.String()
	case w.Status == 429:
		return "the server is busy, or the quota is used up: try again later"
	case strings.Contains(text, "does not support thinking"):
		return "leave the reasoning effort out for this model"
	case w.Loading():
		return "it answers when the model is loaded: ask again in a moment"
	case w.Status >= 500:
		return "the server failed; its log says more"
	}
	return ""
}
