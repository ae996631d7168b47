package utp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Kind is what an Event says.
type Kind int

const (
	EventText      Kind = iota + 1 // Text: more of a text part
	EventThink                     // Text: more of a thinking part
	EventCallStart                 // Call: ID, Name, Source; arguments follow
	EventCallDelta                 // Text: more of the arguments' JSON
	EventCallEnd                   // Call: complete; the only event that may lead to a run
	EventWhole                     // Value: a part in one piece
	EventPartEnd                   // the part is complete; Value may carry what belongs to it (a Think's Signature)
	EventProblem                   // Problem: something could not be read; a started call with this Part never ends
	EventMark                      // Raw: markup that belongs to no part; Text: why what the model wrote does not count
	EventFinish                    // End: the reply is over
)

var kindNames = [...]string{"", "text", "think", "call-start", "call-delta", "call", "whole", "part-end", "problem", "mark", "finish"}

// String gives the name used in goldens and in JSON.
func (k Kind) String() string {
	if k < 1 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Event is a Part in motion. Part numbers the parts of one reply from 0 and
// grows; the events of one part share it, and those of parallel native calls
// may alternate.
type Event struct {
	Kind    Kind
	Part    int
	Text    string
	Call    *Call
	Value   Part
	Problem *Problem
	End     *End
	Extra   json.RawMessage // EventFinish: unknown fields of the message; EventText: what its provider says of this piece, such as logprobs
	Raw     string          // model text covered; joined, the Raws of a text parse are its input
}

// ProblemKind sorts what can go wrong with a call.
type ProblemKind string

const (
	ProblemTruncated   ProblemKind = "truncated"    // the output ended inside it
	ProblemMalformed   ProblemKind = "malformed"    // it cannot be read
	ProblemMissingName ProblemKind = "missing_name" // it names no tool
	ProblemEmpty       ProblemKind = "empty"        // markers with nothing between
	ProblemUnknownTool ProblemKind = "unknown_tool" // it names a tool that was not offered
	ProblemTooLong     ProblemKind = "too_long"     // it passed the size cap
	ProblemQuoted      ProblemKind = "quoted"       // it repeats markup from a tool result or of the user
	ProblemInvalid     ProblemKind = "invalid"      // its arguments break the schema
	ProblemRepeated    ProblemKind = "repeated"     // it repeats an earlier call of the reply
)

// Problem is a call that could not be made of what the model wrote. It is an
// error. Its text is never lost: it stands in Raw, and Collect keeps it as text
// too if it shows.
type Problem struct {
	Kind    ProblemKind `json:"kind"`
	Grammar string      `json:"grammar,omitempty"`
	Name    string      `json:"name,omitempty"`    // of the tool, where known
	Offset  int         `json:"offset"`            // in the model's text, in bytes
	Want    string      `json:"want,omitempty"`    // what should have stood there
	Message string      `json:"message,omitempty"` // for people and for the model
	Raw     string      `json:"raw,omitempty"`     // the text in question
}

// Shows reports whether the text of the problem is part of the answer. What an
// output that was cut off, or markers without a call, leave over is not, nor are
// calls that repeat earlier ones.
func (p *Problem) Shows() bool {
	return p == nil || p.Kind != ProblemTruncated && p.Kind != ProblemEmpty && p.Kind != ProblemRepeated
}

// Failed reports whether the model tried to make a call and failed: there is none
// where it only quotes one or repeats itself.
func (p *Problem) Failed() bool { return p.Kind != ProblemQuoted && p.Kind != ProblemRepeated }

// Error says where, what kind and what was wanted.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.Grammar != "" {
		b.WriteString(p.Grammar + ": ")
	}
	fmt.Fprintf(&b, "offset %d: %s", p.Offset, p.Kind)
	if p.Name != "" {
		fmt.Fprintf(&b, " call of %s", p.Name)
	}
	if p.Message != "" {
		b.WriteString(": " + p.Message)
	}
	if p.Want != "" {
		b.WriteString(": want " + p.Want)
	}
	return b.String()
}

// Reply is a complete answer of a model.
type Reply struct {
	Message
	End
	Problems []Problem `json:"problems,omitempty"`
}

type replyJSON struct {
	Message  Message   `json:"message"`
	End      End       `json:"end"`
	Problems []Problem `json:"problems,omitempty"`
}

// MarshalJSON writes {"message","end","problems"}.
func (r Reply) MarshalJSON() ([]byte, error) {
	return encode(replyJSON{r.Message, r.End, r.Problems})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Reply) UnmarshalJSON(b []byte) error {
	var j replyJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("utp: reply: %w", err)
	}
	*r = Reply{j.Message, j.End, j.Problems}
	return nil
}

// Thinking joins the reasoning of the reply.
func (r Reply) Thinking() string {
	var words []string
	for _, t := range partsOf[Think](r.Parts) {
		if t.Text != "" {
			words = append(words, t.Text)
		}
	}
	return strings.Join(words, "\n")
}

// Collect makes a reply of its events. Text and thinking are the deltas, joined
// as they stand; what was parsed from text and is white space alone is none. Native
// calls stand before those found in text. A call that started and did not end
// becomes a Problem.
func Collect(evs []Event) Reply {
	c := collector{index: map[int]int{}}
	for i := range evs {
		c.add(&evs[i])
	}
	return c.reply()
}

// building is a part under construction.
type building struct {
	kind   Kind // EventText, EventThink, EventCallStart, EventWhole
	text   words
	value  Part
	name   string
	raw    []byte // of a call that has not ended
	done   bool
	parsed bool // came out of a text parse
}

// words are a text under construction. One that came in one piece is not copied.
type words struct {
	whole string
	more  []byte // all of it, once there was a second piece
}

func (w *words) add(s string) {
	switch {
	case w.more == nil && w.whole == "":
		w.whole = s
	case s != "":
		if w.more == nil {
			w.more = append(w.more, w.whole...)
		}
		w.more = append(w.more, s...)
	}
}

func (w *words) String() string {
	if w.more == nil {
		return w.whole
	}
	return string(w.more)
}

type collector struct {
	parts []building
	index map[int]int // Event.Part → parts
	out   Reply
}

func (c *collector) add(e *Event) {
	switch e.Kind {
	case EventMark:
		return
	case EventFinish:
		if e.End != nil {
			c.out.End = *e.End
		}
		c.out.Message.Extra = e.Extra
		return
	case EventProblem:
		c.problem(e)
		return
	}
	b := c.at(e)
	b.parsed = b.parsed || e.Raw != ""
	switch e.Kind {
	case EventText, EventThink:
		b.text.add(e.Text)
	case EventCallStart:
		b.name = e.Call.Name
		b.raw = append(b.raw, e.Raw...)
	case EventCallDelta:
		b.raw = append(b.raw, e.Raw...)
	case EventCallEnd:
		b.value, b.done, b.raw = *e.Call, true, nil
	case EventWhole:
		b.value, b.done = e.Value, true
	case EventPartEnd:
		b.end(e.Value)
	}
}

// at finds the part of an event, or begins it.
func (c *collector) at(e *Event) *building {
	if i, ok := c.index[e.Part]; ok {
		return &c.parts[i]
	}
	kind := e.Kind
	switch kind {
	case EventCallDelta, EventCallEnd:
		kind = EventCallStart
	case EventPartEnd:
		kind = EventThink
	case EventProblem:
		kind = EventText
	}
	c.index[e.Part] = len(c.parts)
	c.parts = append(c.parts, building{kind: kind})
	return &c.parts[len(c.parts)-1]
}

// end adds what a part's end carries.
func (b *building) end(v Part) {
	if t, ok := v.(Think); ok {
		t.Text = ""
		b.value = t
	}
}

func (c *collector) problem(e *Event) {
	if e.Problem != nil {
		c.out.Problems = append(c.out.Problems, *e.Problem)
	}
	if i, ok := c.index[e.Part]; ok && c.parts[i].kind == EventCallStart && !c.parts[i].done {
		if !e.Problem.Shows() {
			c.parts[i].raw, e = nil, &Event{}
		}
		c.parts[i].toText(e.Raw)
		return
	}
	if e.Raw == "" {
		return
	}
	if !e.Problem.Shows() {
		return
	}
	b := c.at(e)
	b.text.add(e.Raw)
	b.parsed = true
}

// toText turns a broken call into its text, if it has any: a native one has none.
func (b *building) toText(more string) {
	b.text, b.raw, b.done = words{whole: string(b.raw) + more}, nil, true
	if b.text.String() != "" {
		b.kind = EventText
	}
}

func (c *collector) reply() Reply {
	for i := range c.parts {
		if b := &c.parts[i]; b.kind == EventCallStart && !b.done {
			c.out.Problems = append(c.out.Problems, Problem{Kind: ProblemTruncated, Name: b.name,
				Message: "the stream ended inside the call", Raw: string(b.raw)})
			b.raw = nil
			b.toText("")
		}
	}
	c.join()
	c.out.Role = RoleAssistant
	for i := range c.parts {
		if p := c.finish(i); p != nil {
			c.out.Parts = append(c.out.Parts, p)
		}
	}
	nativeFirst(c.out.Parts)
	return c.out
}

// nativeFirst orders the calls of a reply, in the places that calls have: the
// native ones, then those in text, as they came.
func nativeFirst(parts []Part) {
	var at []int
	var native, text []Part
	for i, p := range parts {
		c, ok := p.(Call)
		if !ok {
			continue
		}
		if at = append(at, i); c.FromText() {
			text = append(text, p)
		} else {
			native = append(native, p)
		}
	}
	if len(native) == 0 || len(text) == 0 {
		return
	}
	for k, p := range append(native, text...) {
		parts[at[k]] = p
	}
}

// join merges parsed texts that became neighbours.
func (c *collector) join() {
	out := c.parts[:0]
	for _, b := range c.parts {
		if n := len(out); n > 0 && b.kind == EventText && b.parsed && out[n-1].kind == EventText && out[n-1].parsed {
			out[n-1].text.add(b.text.String())
			continue
		}
		out = append(out, b)
	}
	c.parts = out
}

func (c *collector) finish(i int) Part {
	b := &c.parts[i]
	if b.kind != EventText && b.kind != EventThink {
		return b.value // nil for a call that broke and left no text
	}
	text := b.text.String()
	if b.parsed && strings.TrimSpace(text) == "" {
		return nil
	}
	if b.kind == EventText {
		return Text{Text: text}
	}
	t, _ := b.value.(Think)
	t.Text = text
	return t
}

// Replay makes the events of a reply. Collect(Replay(r)) is r.
func Replay(r Reply) []Event {
	evs := make([]Event, 0, len(r.Parts)+len(r.Problems)+1)
	for i, p := range r.Parts {
		e := Event{Kind: EventWhole, Part: i, Value: p}
		switch p := p.(type) {
		case Text:
			if p.Extra == nil {
				e = Event{Kind: EventText, Part: i, Text: p.Text}
			}
		case Think:
			if p.Extra == nil && p.plain() {
				e = Event{Kind: EventThink, Part: i, Text: p.Text}
			}
		}
		evs = append(evs, e)
	}
	for i := range r.Problems {
		evs = append(evs, Event{Kind: EventProblem, Part: -1, Problem: &r.Problems[i]})
	}
	end := r.End
	return append(evs, Event{Kind: EventFinish, Part: len(r.Parts), End: &end, Extra: r.Message.Extra})
}

func (t Think) plain() bool {
	return t.Signature == "" && !t.Redacted && t.Provider == "" && t.Model == "" && t.ItemID == ""
}
