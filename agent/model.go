package agent

import (
	"context"
	"iter"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// Model answers a request with the events of one reply. The stream ends after
// its Finish event, or with an error. Calls written as text are calls in it.
type Model interface {
	Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error]
}

// Runner runs a call. What goes wrong is a Result too: the model must see it.
// It returns when ctx ends. Calls of tools below tier RUN that need no
// confirmation may come at the same time.
type Runner interface {
	Run(ctx context.Context, c utp.Call) utp.Result
}

// RunnerFunc is a function as a Runner.
type RunnerFunc func(ctx context.Context, c utp.Call) utp.Result

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, c utp.Call) utp.Result { return f(ctx, c) }

// Session is a conversation that outlives its turns, kept as a log. Each entry
// is appended before what it tells of is shown or done.
type Session interface {
	// Entries lists the log so far, oldest first.
	Entries(ctx context.Context) ([]transcript.Entry, error)
	// Append adds entries at the end.
	Append(ctx context.Context, es ...transcript.Entry) error
}
