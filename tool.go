package utp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Tier orders tools by what they may do to the machine. A tier includes all lower ones.
type Tier int

const (
	TierCrawl Tier = iota // searches an index
	TierWalk              // reads files
	TierRun               // writes or executes
)

var tierNames = [...]string{"CRAWL", "WALK", "RUN"}

// String gives the name used in config and in messages: CRAWL, WALK or RUN.
func (t Tier) String() string {
	if t < TierCrawl || t > TierRun {
		return fmt.Sprintf("Tier(%d)", int(t))
	}
	return tierNames[t]
}

// ParseTier reads a tier's name in any case.
func ParseTier(s string) (Tier, error) {
	for i, name := range tierNames {
		if strings.EqualFold(s, name) {
			return Tier(i), nil
		}
	}
	return 0, fmt.Errorf("tier %q: want crawl, walk or run", s)
}

// MarshalText writes the tier's name.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the tier's name.
func (t *Tier) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTier(string(b))
	return err
}

// ToolKind says who runs a tool and what its input is.
type ToolKind string

const (
	FunctionTool  ToolKind = ""          // JSON arguments by schema; the caller runs it
	CustomTool    ToolKind = "custom"    // free text input
	HostedTool    ToolKind = "hosted"    // the provider runs it
	NamespaceTool ToolKind = "namespace" // a named group of tools, in Extra
)

// Tool is a tool as offered to a model. Schema is the JSON Schema of its
// arguments, byte for byte as the caller gave it; empty means no arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parameters,omitempty"`
	Kind        ToolKind        `json:"kind,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Tier        Tier            `json:"tier"`
	Confirm     bool            `json:"requires_confirmation,omitempty"`
	Extra       json.RawMessage `json:"extra,omitempty"`
}

// Fix is one change made to what a model wrote so that it could be used.
type Fix struct {
	Path string `json:"path"`          // JSON pointer into the arguments; "" is the whole call
	Was  string `json:"was,omitempty"` // as written
	Now  string `json:"now,omitempty"` // as used
	Why  string `json:"why"`           // for people: "trailing comma"

	// Guess tells a change that decided what was meant: which tool, which argument
	// a value belongs to, or where a value ends. All others keep what was written
	// and change how.
	Guess bool `json:"guess,omitempty"`
}

// Fixes are repairs that another package lists in a type of its own.
func Fixes[F ~struct {
	Path string `json:"path"`
	Was  string `json:"was,omitempty"`
	Now  string `json:"now,omitempty"`
	Why  string `json:"why"`

	Guess bool `json:"guess,omitempty"`
}](list []F) (out []Fix) {
	for _, f := range list {
		out = append(out, Fix(f))
	}
	return out
}

// CallKind says how a call carries its input.
type CallKind string

const (
	FunctionCall CallKind = ""       // Args is the input
	CustomCall   CallKind = "custom" // RawArgs is the input
)

// SourceNative is the Source of a call that came in a provider's own field.
// A call found in text has the Source "text:" and its grammar's name.
const SourceNative = "native"

const inText = "text:"

// Call is a tool call, whoever wrote it and in whatever form.
type Call struct {
	ID      string          `json:"id,omitempty"`
	OrigID  string          `json:"orig_id,omitempty"` // as the provider or model wrote it, where ID had to differ
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"arguments,omitempty"`     // always a valid JSON object in a finished call
	RawArgs string          `json:"raw_arguments,omitempty"` // as written, also when broken
	Kind    CallKind        `json:"kind,omitempty"`
	Source  string          `json:"source,omitempty"`
	Fixes   []Fix           `json:"fixes,omitempty"`
	Extra   json.RawMessage `json:"extra,omitempty"`
}

// FromText reports whether the call was found in text.
func (c Call) FromText() bool { return strings.HasPrefix(c.Source, inText) }

// Dialect is the name of the grammar by which the call was found in text; "" of
// every other call.
func (c Call) Dialect() string {
	if !c.FromText() {
		return ""
	}
	return c.Source[len(inText):]
}

// Status is the outcome of a call.
type Status string

const (
	StatusOK     Status = "ok"
	StatusFailed Status = "error"
	StatusDenied Status = "denied" // refused by a tier, a rule or the user
)

// Result answers one call. A failure is a Result too: the model must see it.
type Result struct {
	CallID string          `json:"call_id,omitempty"`
	Name   string          `json:"name,omitempty"`
	Parts  []Part          `json:"-"`
	Status Status          `json:"status"`
	Extra  json.RawMessage `json:"extra,omitempty"`
}

// Text joins the texts that say something, a line each.
func (r Result) Text() string { return textOf(r.Parts) }

// TextResult is the answer to c with one text part.
func TextResult(c Call, s Status, text string) Result {
	return Result{CallID: c.ID, Name: c.Name, Status: s, Parts: []Part{Text{Text: text}}}
}
