package wire

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// FaultKind sorts errors as all providers do.
type FaultKind int

const (
	Internal    FaultKind = iota // 500, and what is not known
	BadInput                     // 400
	NoKey                        // 401
	Forbidden                    // 403, and 402: a bill
	NotFound                     // 404
	TooLarge                     // 413
	RateLimited                  // 429
	Overloaded                   // 503, 529
	Timeout                      // 408, 504
	BadGateway                   // 502: the model's server answered nonsense or broke off
	NotThere                     // 501: nothing does this here
)

// Fault is an error as a Front tells it to its client.
type Fault struct {
	Kind       FaultKind
	Message    string // without keys
	Param      string // JSON path of the field in question, if there is one
	Code       string // "context_length_exceeded", "insufficient_quota", or the provider's
	RetryAfter time.Duration
}

// Overlong is the message. That of a prompt longer than the window has the words
// by which the clients of an API know it, if need be with a sentence in front.
func (f Fault) Overlong(words, sentence string) string {
	if f.Code != overflowCode || strings.Contains(strings.ToLower(f.Message), words) {
		return f.Message
	}
	return sentence + ": " + f.Message
}

// statuses are the HTTP statuses of the kinds.
var statuses = map[FaultKind]int{
	Internal: 500, BadInput: 400, NoKey: 401, Forbidden: 403, NotFound: 404, TooLarge: 413,
	RateLimited: 429, Overloaded: 503, Timeout: 504, BadGateway: 502, NotThere: 501,
}

// Status is the HTTP status.
func (f Fault) Status() int { return statuses[f.Kind] }

// kinds sort the providers' words for errors, for those that come without a status.
var kinds = map[string]FaultKind{
	"invalid_request_error": BadInput, "INVALID_ARGUMENT": BadInput, "FAILED_PRECONDITION": BadInput, "invalid_prompt": BadInput,
	"authentication_error": NoKey, "UNAUTHENTICATED": NoKey, "invalid_api_key": NoKey,
	"permission_error": Forbidden, "PERMISSION_DENIED": Forbidden, "billing_error": Forbidden,
	"not_found_error": NotFound, "NOT_FOUND": NotFound, "model_not_found": NotFound,
	"request_too_large": TooLarge,
	"rate_limit_error":  RateLimited, "RESOURCE_EXHAUSTED": RateLimited, "insufficient_quota": RateLimited,
	"rate_limit_exceeded": RateLimited, "too_many_requests": RateLimited,
	"overloaded_error": Overloaded, "UNAVAILABLE": Overloaded, "server_overloaded": Overloaded,
	"timeout_error": Timeout, "DEADLINE_EXCEEDED": Timeout,
	NotThisAPI: BadGateway,
}

// FaultOf sorts an error: a client's *InputError, a provider's *Error, a broken
// stream or a *utp.Problem; anything else is Internal.
func FaultOf(err error) Fault {
	var input *InputError
	var theirs *Error
	var call *utp.Problem
	f := Fault{Message: "no message"}
	if err != nil {
		f.Message = utp.Redact(err.Error())
	}
	switch {
	case errors.As(err, &input):
		f.Kind, f.Param = BadInput, input.Path
	case errors.As(err, &theirs):
		theirs.fault(&f)
	case errors.As(err, &call), errors.Is(err, ErrCut):
		f.Kind = BadGateway
	}
	return f
}

func (e *Error) fault(f *Fault) {
	f.Code, f.RetryAfter = e.Code, e.RetryAfter
	if e.Message != "" {
		f.Message = utp.Redact(e.Message)
	}
	kind, known := kinds[e.Type]
	if !known {
		kind, known = kinds[e.Code]
	}
	if status, err := strconv.Atoi(e.Code); !known && err == nil { // OpenRouter's, inside a stream
		kind, known = kindOf(status), true
	}
	switch {
	case e.Overflow():
		f.Kind, f.Code = BadInput, overflowCode
	case e.Status != 0:
		f.Kind = kindOf(e.Status)
	case known:
		f.Kind = kind
	default:
		f.Kind = Internal
	}
}

func kindOf(status int) FaultKind {
	switch status {
	case 402:
		return Forbidden
	case 408:
		return Timeout
	case 422:
		return BadInput
	case 529:
		return Overloaded
	}
	for kind, s := range statuses {
		if s == status {
			return kind
		}
	}
	if status >= 400 && status < 500 {
		return BadInput
	}
	return Internal
}

// Broken says why a whole reply cannot be handed on as a good one, or nil: a
// native call that could not be read, a provider's own failure to write one, or
// a broken stream. A call that the output limit cut is told by the reply's Stop.
func Broken(r utp.Reply) error {
	for i := range r.Problems {
		p := &r.Problems[i]
		switch {
		case p.Grammar != "" || p.Kind == utp.ProblemInvalid:
		case p.Kind == utp.ProblemTruncated && r.Stop == utp.StopLength:
		default:
			return p
		}
	}
	switch r.Stop {
	case utp.StopError:
		return ErrCut
	case utp.StopBadCall:
		return &utp.Problem{Kind: utp.ProblemMalformed, Message: "the model wrote a call that its server could not read"}
	}
	return nil
}

// retryInfo is where Google's APIs say how long to wait.
type retryInfo struct {
	Error struct {
		Details []struct {
			Delay shape.Loose `json:"retryDelay"` // "30s"
		} `json:"details"`
	} `json:"error"`
}

// dates are the forms of a date in a header. Source: RFC 9110, section 5.6.7.
var dates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC}

// RetryAfter is the pause that an answer asks for: in its Retry-After header, as
// seconds or a date, or in its body, as Google's do; 0 if in none.
func RetryAfter(header string, body []byte, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(strings.TrimSpace(header), 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	for _, form := range dates {
		if t, err := time.Parse(form, header); err == nil && t.After(now) {
			return t.Sub(now).Round(time.Second)
		}
	}
	return RetryDelay(body)
}

// RetryDelay is the pause that an error body asks for, as Google's do; 0 if none.
func RetryDelay(body []byte) time.Duration {
	var j retryInfo
	if json.Unmarshal(alone(body), &j) != nil {
		return 0
	}
	for _, d := range j.Error.Details {
		if pause, err := time.ParseDuration(string(d.Delay)); err == nil && pause > 0 {
			return pause
		}
	}
	return 0
}
