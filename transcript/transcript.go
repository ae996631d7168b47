// Package transcript is the log of a conversation: what was asked, said, called
// and answered, one Entry after the other, as it happened. Messages computes
// from it what a model is sent, also where a turn broke off.
package transcript

import (
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Kind tells what an Entry is about.
type Kind string

// The kinds of entries, with the fields that each sets beside Time and Round.
const (
	Question   Kind = "question"   // Message: what the user asked; a turn begins
	Request    Kind = "request"    // Tokens, Window: the model is asked
	Text       Kind = "text"       // Text: a piece of the model's words
	Thinking   Kind = "thinking"   // Text: a piece of its reasoning
	Problem    Kind = "problem"    // Problem: a call that could not be read
	Reply      Kind = "reply"      // Message: a whole reply, in place of its pieces
	Call       Kind = "call"       // Call, Tier, Decision, By: before it runs, or does not
	Result     Kind = "result"     // Result as the model reads it, Call where it was changed, Refusal, Cached, Took
	Note       Kind = "note"       // Text: what the model is told after the last result
	Warning    Kind = "warning"    // Text: for people
	Forced     Kind = "forced"     // Text: why the model must answer without tools
	Suggestion Kind = "suggestion" // Text: a sentence that announces a tool
	Summary    Kind = "summary"    // Text: what the model goes on with in place of earlier rounds; the log keeps them
	End        Kind = "end"        // Reason, Text, Usage, Model: the turn is over
	Message    Kind = "message"    // Message: part of the conversation, from elsewhere
)

// Decision is what became of a call before it ran.
type Decision string

const (
	Asked   Decision = "asked"   // the user is asked
	Allowed Decision = "allowed" // it starts now
	Denied  Decision = "denied"  // it does not run
)

// Reason is why a turn ended.
type Reason string

const (
	Answered Reason = "answered"
	Stopped  Reason = "stopped" // by the user
	Failed   Reason = "failed"
)

// Entry is one line of the log. Only the fields that its Kind names are set.
type Entry struct {
	N        int           `json:"n,omitempty"` // in its conversation, from 1
	Time     time.Time     `json:"time,omitzero"`
	Kind     Kind          `json:"kind"`
	Round    int           `json:"round,omitempty"` // of the turn, from 1
	Text     string        `json:"text,omitempty"`
	Message  *utp.Message  `json:"message,omitempty"`
	Problem  *utp.Problem  `json:"problem,omitempty"`
	Call     *utp.Call     `json:"call,omitempty"`
	Tier     string        `json:"tier,omitempty"`
	Decision Decision      `json:"decision,omitempty"`
	By       string        `json:"by,omitempty"` // who decided: tier, rule, allow, user, or a reason of refusal
	Result   *utp.Result   `json:"result,omitempty"`
	Refusal  string        `json:"refusal,omitempty"`
	Cached   bool          `json:"cached,omitempty"`
	Took     time.Duration `json:"took_ns,omitempty"`
	Tokens   int           `json:"tokens,omitempty"` // of the prompt, estimated; 0: not known
	Window   int           `json:"window,omitempty"` // tokens that a prompt may have; 0: not known
	Reason   Reason        `json:"reason,omitempty"`
	Usage    *utp.Usage    `json:"usage,omitempty"`
	Model    string        `json:"model,omitempty"`
}
