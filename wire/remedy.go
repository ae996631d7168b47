package wire

import (
	"errors"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Remedy says what helps after a failure: who may be asked again, and when.
type Remedy struct {
	Same  bool          // the same server may answer the same request a moment later
	Other bool          // another server may answer it
	Key   bool          // so may the same server for another key: it refuses this one, or has had enough of it
	Sick  bool          // the server fails, whatever it is asked: it is not there, breaks off, sends nonsense
	Busy  bool          // nothing is wrong with the server, but it wants fewer requests
	Never bool          // no pause mends it: somebody must change the configuration, the request or a bill
	Pause time.Duration // that the server asks for; 0: it does not say
}

// ErrInVain marks an error after which the same server is not asked again: it
// has just taken all the time there is, or nobody listens there.
var ErrInVain = errors.New("asking the same server again would not help")

// maxPause is the longest pause for which another try is waited for.
const maxPause = 30 * time.Second

// RemedyFor sorts a failure. An error that is not of this package is a server
// that cannot be reached.
func RemedyFor(err error) Remedy {
	if err == nil {
		return Remedy{}
	}
	var input *InputError
	var theirs *Error
	var call *utp.Problem
	r := Remedy{Same: true, Other: true, Sick: true}
	switch {
	case errors.As(err, &input):
		return Remedy{Never: true}
	case errors.As(err, &theirs):
		r = theirs.remedy()
	case errors.As(err, &call): // the model's doing, and not its server's
		r.Sick = false
	}
	if errors.Is(err, ErrInVain) || r.Pause > maxPause {
		r.Same = false
	}
	return r
}

func (e *Error) remedy() Remedy {
	var f Fault
	e.fault(&f)
	r := Remedy{Other: true, Pause: e.RetryAfter}
	switch {
	case e.Overflow(), e.unable(): // another model may have a larger window, or the ability
		r.Never = true
	case e.Status == 409:
		r.Same = true
	case f.Kind == RateLimited:
		r.Busy, r.Never = true, e.Code == "insufficient_quota" || e.Type == "insufficient_quota"
		r.Same, r.Key = !r.Never, true
	case f.Kind == NoKey:
		r.Sick, r.Never, r.Key = true, true, true
	case e.Status == 402:
		r.Never, r.Key = true, true
	case f.Kind == Forbidden, f.Kind == NotFound, f.Kind == NotThere:
		r.Never = true
	case f.Kind == BadInput, f.Kind == TooLarge:
		return Remedy{Never: true}
	default:
		r.Same, r.Sick = true, e.Status != 408
	}
	return r
}

// unable reports a failure that says what the model or its server cannot do.
// Servers give it the status of an accident. Source: llama.cpp server, which
// answers 500 for images and for tools without --jinja.
func (e *Error) unable() bool {
	text := strings.ToLower(e.Message)
	for _, words := range []string{"not support", "unsupported", "requires --"} {
		if e.Status >= 500 && strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// Loading reports a server that still loads its model and answers nothing else.
// Source: llama.cpp server.
func (e *Error) Loading() bool {
	return e.Status == 503 && strings.Contains(strings.ToLower(e.Message), "loading model")
}

// Wait is how long to wait before try number n, counted from 1, to the same
// server: what it asks for, or base, doubled with each try.
func (r Remedy) Wait(base time.Duration, n int) time.Duration {
	if r.Pause > 0 {
		return r.Pause
	}
	return min(base<<min(max(n, 1)-1, 16), maxPause)
}
