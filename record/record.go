// Package record is what happened, as values and as JSON lines: one Reply for
// each reply of a model, one Command for each use of te. Both hold names,
// counts and times, and nothing of what anybody wrote: that is a Content of its
// own, which is kept only if the user says so.
//
// A line is an object with its version ("v") and kind ("kind"). Decode skips
// fields that it does not know; a line of a later version or of another kind is
// an error that says so, and its reader counts it.
//
// Judge is the one definition of success, and a Share with its Interval says how
// much of it there is and how sure that is.
package record

import (
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Micros is a duration in microseconds.
type Micros int64

// MicrosOf is d in microseconds, rounded down.
func MicrosOf(d time.Duration) Micros { return Micros(d.Microseconds()) }

// Duration is m as a duration.
func (m Micros) Duration() time.Duration { return time.Duration(m) * time.Microsecond }

// Event is a Reply, a Command, a Content or a Dropped.
type Event interface{ kind() string }

func (Reply) kind() string   { return "reply" }
func (Command) kind() string { return "command" }
func (Content) kind() string { return "content" }
func (Dropped) kind() string { return "dropped" }

// Who reports an event.
const (
	ByBx    = "bx"
	ByServe = "serve"
)

// Forms in which tools are told, beside the names of the text dialects.
const (
	FormNative = "native" // in the provider's own field
	FormNone   = "none"   // there were none, or the model was not told of them
)

// Reply is one reply of a model, or what came of asking for one.
type Reply struct {
	ID           string    `json:"id,omitempty"`
	Time         time.Time `json:"time,omitzero"`          // of the request
	By           string    `json:"by,omitempty"`           // ByBx or ByServe
	Conversation string    `json:"conversation,omitempty"` // a short hash of its beginning
	Session      string    `json:"session,omitempty"`
	Client       string    `json:"client,omitempty"`   // the name of its key
	API          string    `json:"api,omitempty"`      // the client's
	Speaks       string    `json:"speaks,omitempty"`   // the backend's API
	Backend      string    `json:"backend,omitempty"`  // the target that answered, or was asked last
	Route        string    `json:"route,omitempty"`    // the model as the client said it
	Asked        string    `json:"asked,omitempty"`    // the model that the backend was asked for
	Answered     string    `json:"answered,omitempty"` // the model as the backend named it
	Digest       string    `json:"digest,omitempty"`   // of the model, where the backend tells it
	Form         string    `json:"form,omitempty"`     // in which the tools were told: FormNative, a dialect or FormNone
	Why          string    `json:"why,omitempty"`      // the reason for Form
	Trial        bool      `json:"trial,omitempty"`    // Form was being tried
	Stream       bool      `json:"stream,omitempty"`
	Tools        int       `json:"tools,omitempty"`     // offered, of which the model might call any
	Required     bool      `json:"required,omitempty"`  // a call was required
	Status       int       `json:"status,omitempty"`    // HTTP; 0: no answer came
	Reason       string    `json:"reason,omitempty"`    // how it ended, in one word; "ok" or "": well
	Took         Micros    `json:"took_us,omitempty"`   // to the end
	First        Micros    `json:"first_us,omitempty"`  // to the first byte; 0: none came
	Usage        utp.Usage `json:"usage,omitzero"`      // tokens
	Stop         utp.Stop  `json:"stop,omitempty"`      // why the model ended
	Calls        []Call    `json:"calls,omitempty"`     // that could be read
	Problems     []Problem `json:"problems,omitempty"`  // with calls that could not
	Losses       []Loss    `json:"losses,omitempty"`    // of the request, on its way
	Tries        int       `json:"tries,omitempty"`     // backends that were asked
	Again        string    `json:"again,omitempty"`     // why the reply was asked for once more; "": it was not
	Announced    bool      `json:"announced,omitempty"` // the text says that it will call
	Markup       bool      `json:"markup,omitempty"`    // markup of calls is left in the text
	Left         int       `json:"left,omitempty"`      // calls, problems and losses beyond the bounds of a line
}

// Model is the name by which figures of the model are kept: as it was asked
// for, or as the client said it where nobody was asked.
func (r Reply) Model() string {
	if r.Asked != "" {
		return r.Asked
	}
	return r.Route
}

// Version tells the model from others that had its name: the digest of its files,
// else the version that the server names ("gpt-4o-2024-08-06" for "gpt-4o"); ""
// where neither is known.
func (r Reply) Version() string {
	version, ok := strings.CutPrefix(r.Answered, r.Asked)
	if r.Digest == "" && ok && version != "" && version != ":latest" {
		return r.Answered
	}
	return r.Digest
}

// Call is a tool call of a reply, without its arguments.
type Call struct {
	Name         string     `json:"name"`
	Source       string     `json:"source"`                 // utp.SourceNative, or the dialect of the text that it was found in
	Fixes        []string   `json:"fixes,omitempty"`        // the Why of each
	Guessed      bool       `json:"guessed,omitempty"`      // one of Fixes was a guess
	Hallucinated bool       `json:"hallucinated,omitempty"` // no tool of that name was offered
	Invalid      bool       `json:"invalid,omitempty"`      // its arguments do not fit the tool
	Refusal      string     `json:"refusal,omitempty"`      // why it did not run; "": it ran, or was not bx's to run
	Outcome      utp.Status `json:"outcome,omitempty"`      // of bx's own run; "": it was not bx's to run
	Took         Micros     `json:"took_us,omitempty"`      // of bx's own run
}

// Problem is a call of a reply that could not be read.
type Problem struct {
	Kind    utp.ProblemKind `json:"kind"`
	Name    string          `json:"name,omitempty"`    // of the tool, where known
	Dialect string          `json:"dialect,omitempty"` // "": a native call
	Why     string          `json:"why,omitempty"`
}

// Loss is what of a request could not be passed on, and how often.
type Loss struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Mode is how te showed a result.
type Mode string

// The modes of te.
const (
	Enriched    Mode = "enriched"    // as an envelope
	Raw         Mode = "raw"         // as it is, because the user said so
	Passthrough Mode = "passthrough" // as it is: te knows no better form for the command
	Failed      Mode = "error"
)

// Command is one use of te.
type Command struct {
	ID        string    `json:"id,omitempty"` // of its Content; "": that is not kept
	Time      time.Time `json:"time,omitzero"`
	Agent     string    `json:"agent,omitempty"`
	Session   string    `json:"session,omitempty"`
	Cmd       string    `json:"cmd"`              // the command's name
	Query     string    `json:"query,omitempty"`  // a short hash of what it looks for, to tell a repetition
	Mode      Mode      `json:"mode"`             // how its result was shown
	Input     int       `json:"input,omitempty"`  // bytes of the result
	Output    int       `json:"output,omitempty"` // bytes that were shown
	Tokens    int       `json:"tokens,omitempty"` // of what was shown, as estimated
	Saved     int       `json:"saved,omitempty"`  // tokens of the result that were not shown
	Truncated bool      `json:"truncated,omitempty"`
	Way       Way       `json:"way,omitzero"`     // of what a search did not show in full
	Handle    string    `json:"handle,omitempty"` // under which the rest was kept, or that was read
	Took      Micros    `json:"took_us,omitempty"`
	Exit      int       `json:"exit,omitempty"`
	Error     string    `json:"error,omitempty"` // its class, in one word
}

// Way is how a search shows what does not fit.
type Way struct {
	Matches int  `json:"matches"`        // lines that there is room for at least
	Percent int  `json:"percent"`        // of the plain form that it may be as long as
	Crumbs  int  `json:"crumbs"`         // directories that get a breadcrumb of their own
	Zone    bool `json:"zone,omitempty"` // the header names the hot zone
}

// Content is what was written, redacted: the request as the client sent it and the
// reply as the model wrote it, or the command line of te and what it showed.
type Content struct {
	ID      string    `json:"id"` // of the Reply, or the Command
	Time    time.Time `json:"time,omitzero"`
	Request string    `json:"request,omitempty"`
	Raw     string    `json:"raw,omitempty"`
	Cut     bool      `json:"cut,omitempty"` // one of them was longer than what is kept
}

// Dropped counts events that could not be written.
type Dropped struct {
	Time  time.Time `json:"time,omitzero"`
	Count int       `json:"count"`
}

// CallOf says what there is to say of a call.
func CallOf(c utp.Call) Call {
	out := Call{Name: short(c.Name), Source: strings.TrimPrefix(c.Source, "text:")}
	for i, f := range c.Fixes {
		if out.Guessed = out.Guessed || f.Guess; i < maxList {
			out.Fixes = append(out.Fixes, short(f.Why))
		}
	}
	return out
}

// ProblemOf says what there is to say of a problem.
func ProblemOf(p *utp.Problem) Problem {
	return Problem{Kind: p.Kind, Name: short(p.Name), Dialect: p.Grammar, Why: short(p.Want)}
}

// Lose counts a loss.
func (r *Reply) Lose(what string) {
	what = short(what)
	if i := slices.IndexFunc(r.Losses, func(l Loss) bool { return l.What == what }); i >= 0 {
		r.Losses[i].Count++
		return
	}
	r.Losses = append(r.Losses, Loss{what, 1})
}

// Invented lists the names of tools that the reply called and that were not
// offered, one a call.
func (r *Reply) Invented() (names []string) {
	for _, c := range r.Calls {
		if c.Hallucinated {
			names = append(names, c.Name)
		}
	}
	for _, p := range r.Problems {
		if p.Kind == utp.ProblemUnknownTool && p.Name != "" {
			names = append(names, p.Name)
		}
	}
	return names
}

// Mismatched reports whether a call came in another dialect than the tools were
// told in.
func (r *Reply) Mismatched(c Call) bool {
	return r.Form != "" && r.Form != FormNone && c.Source != r.Form
}
