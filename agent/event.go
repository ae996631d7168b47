package agent

import (
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Kind is what an Event tells.
type Kind int

// The order inside a turn:
//
//	Round (Text | Think | Stream | Parsed | Problem)…
//	  per call: Parsed, then
//	    Started Succeeded|Failed                       it ran
//	    Pending Approved Started Succeeded|Failed      it ran after a question
//	    Pending Denied                                 the user said no
//	    Denied | Failed                                refused: tier, unknown tool, arguments
//	  Result for each call, in call order, when all of them are done
//	…next Round…
//	Forced, at the round limit or when the model repeats itself
//	Suggestion, where Config.Suggest asks for it
//	Final, always last; a turn that ends in an error has none
//
// A Warning may stand anywhere, and Summing with Summed before a Round.
const (
	Round      Kind = iota + 1 // a request goes out: Request; Tokens and Window where they are known
	Text                       // Text: more of the text for the reader; Model
	Think                      // Text: more of the reasoning; Model
	Stream                     // Model: any other event of the reply, as it came
	Parsed                     // Call: complete, with its final ID, Source and Fixes; Raw
	Problem                    // Problem: a call that could not be read; Raw
	Pending                    // Call, Tool: waits for the user's word
	Approved                   // Call: the user said yes
	Denied                     // Call, Result, Refusal: it did not run and will not
	Started                    // Call, By: it runs now
	Succeeded                  // Call, Result, Duration
	Failed                     // Call, Result, Duration; Refusal when it did not run
	Result                     // Call, Result: as the model will read it
	Warning                    // Text: for people; Call where it is about one
	Forced                     // Text: why the model is asked to answer without tools
	Suggestion                 // Tool, Text: the sentence of the answer that announces the tool; it was not called, and nothing ran
	Summing                    // Request, Tokens, Window: the model is asked to sum up what does not fit
	Summed                     // Text: the summary
	Final                      // Answer
)

var kindNames = [...]string{"", "round", "text", "think", "stream", "parsed", "problem", "pending", "approved",
	"denied", "started", "succeeded", "failed", "result", "warning", "forced", "suggestion", "summing", "summary", "final"}

// String gives the name used in logs and in JSON.
func (k Kind) String() string {
	if k < 1 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Refusal says why a call did not run.
type Refusal string

const (
	NotRefused   Refusal = ""
	UnknownTool  Refusal = "unknown_tool"  // no tool has this name
	AboveTier    Refusal = "tier"          // the tool is above the gate's tier
	BadArguments Refusal = "arguments"     // they do not fit the schema
	Forbidden    Refusal = "rule"          // a rule of the user's forbids it
	NotConfirmed Refusal = "not_confirmed" // the user said no, or could not be asked
	OverLimit    Refusal = "limit"         // too many calls in the turn
	Doomed       Refusal = "doomed"        // it could not succeed, so that the user was not asked
)

// Event is one step of a turn. Only the fields that its Kind names are set,
// besides Kind and Round. Pointers are the reader's to keep; nothing is
// changed after it was sent.
type Event struct {
	Kind     Kind          `json:"kind"`
	Round    int           `json:"round"` // of the turn, from 1; the forced request has a number too
	Text     string        `json:"text,omitempty"`
	Call     *utp.Call     `json:"call,omitempty"`
	Tool     *utp.Tool     `json:"tool,omitempty"`
	Result   *utp.Result   `json:"result,omitempty"`
	Problem  *utp.Problem  `json:"problem,omitempty"`
	Refusal  Refusal       `json:"refusal,omitempty"`
	By       string        `json:"by,omitempty"`          // Started: who let it run: "tier", "rule", "allow" or "user"
	Tokens   int           `json:"tokens,omitempty"`      // Round: of the prompt, as estimated
	Window   int           `json:"window,omitempty"`      // Round: tokens that a prompt may have
	Duration time.Duration `json:"duration_ns,omitempty"` // by Config.Now
	Cached   bool          `json:"cached,omitempty"`      // Result: an earlier equal call gave it
	Raw      string        `json:"raw,omitempty"`         // Parsed, Problem: what the model wrote
	Request  *utp.Request  `json:"-"`
	Model    *utp.Event    `json:"-"`
	Answer   *Answer       `json:"answer,omitempty"`
}

// Done is a call with its result.
type Done struct {
	Call     utp.Call      `json:"call"`
	Result   utp.Result    `json:"result"` // whole, also where the model got it cut
	Refusal  Refusal       `json:"refusal,omitempty"`
	Cached   bool          `json:"cached,omitempty"` // not run: an equal call had run
	Duration time.Duration `json:"duration_ns"`
}

// Answer is the outcome of a turn.
type Answer struct {
	Text     string        `json:"text"` // for the reader; without call markup
	Thinking string        `json:"thinking,omitempty"`
	Calls    []Done        `json:"calls"`            // in call order, over all rounds, refused ones too
	Rounds   int           `json:"rounds"`           // rounds in which tools were called
	Requests int           `json:"requests"`         // requests to the model
	Usage    utp.Usage     `json:"usage"`            // summed over the requests
	Forced   string        `json:"forced,omitempty"` // why the answer was forced; "" when it was not
	Stop     utp.Stop      `json:"stop,omitempty"`   // of the last reply
	Model    string        `json:"model,omitempty"`  // as the provider named it
	Problems []utp.Problem `json:"problems,omitempty"`
	LeftOut  []LeftOut     `json:"left_out,omitempty"` // what the window of the model had no room for
	Messages []utp.Message `json:"-"`                  // what the turn adds to the conversation after the question
}
