package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Config is what a turn works with. Model is required; zero limits mean the
// defaults named here.
type Config struct {
	Model     Model
	Gate      *Gate    // offers and runs the tools; nil: there are none
	Session   Session  // earlier turns are sent from it and this one is logged in it; nil: none
	History   int      // tokens of earlier turns to send at most; 0 is 4096
	Rounds    int      // rounds with tools, exactly; 0 is 50; below 0 no limit, which needs a Budget
	Stale     int      // rounds in a row without a new result before the model must answer; 0 is 3
	MaxCalls  int      // calls that are tried in the turn, exactly; 0 is 250
	MaxResult int      // bytes of a result's text that the model gets; 0 is 20000
	Budget    int      // tokens in and out over the turn, checked after each reply; 0: 20 windows, where Window is known
	Parallel  int      // calls that may run at a time, of tools that only read; 0 is 4
	Polling   []string // tools whose equal calls run each time
	Insist    bool     // a model that answers before any tool has run in the conversation is reminded once of its tools; a required Choice insists too
	Suggest   bool     // an answer that announces a tool in words, without a call, is followed by a Suggestion
	Piped     string   // what of the question was not typed, a file or a diff: its middle is left out where a prompt is too long
	Guide     Guide    // what others wrote for who works here (AGENTS.md): sent before the question, marked, within a tenth of the window, not kept
	Turn      string   // marks the ids given to calls without one; "": the number of the question
	// Step is called before each request; an error ends the turn.
	Step func(ctx context.Context, round int) error
	// Window says how many tokens a prompt of the model may have, as
	// (*utp.Request).Tokens counts them; nil or 0: not known. What does not fit
	// is left out, and a Warning says what.
	Window func(ctx context.Context) int
	Now    func() time.Time // nil is time.Now
}

func (c Config) defaults() (Config, error) {
	if c.Model == nil {
		return c, errors.New("agent: Config.Model is nil: set who answers")
	}
	if c.Rounds < 0 && c.Budget <= 0 {
		return c, fmt.Errorf("agent: Config.Rounds is %d (no limit): set a Budget of tokens, or a number of rounds", c.Rounds)
	}
	if c.Gate == nil {
		c.Gate = &Gate{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	orInt(&c.History, 4096)
	orInt(&c.Rounds, 50)
	orInt(&c.Stale, 3)
	orInt(&c.MaxCalls, 250)
	orInt(&c.MaxResult, 20000)
	orInt(&c.Parallel, 4)
	return c, nil
}

func orInt(n *int, d int) {
	if *n == 0 {
		*n = d
	}
}

// ErrEmpty is a model that answered with nothing, twice.
var ErrEmpty = errors.New("the model gave no answer")

// ErrStopped is a turn whose context ended. The context's cause is wrapped too.
var ErrStopped = errors.New("stopped")

// Error is why a turn ended without an answer. What was said and done until
// then is in the Answer of its event, and of Ask.
type Error struct {
	Round int // of the request, from 1; 0 is before the first
	Err   error
}

// Error names the round.
func (e *Error) Error() string {
	if e.Round == 0 {
		return "agent: " + e.Err.Error()
	}
	return fmt.Sprintf("agent: round %d: %v", e.Round, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
