// Package reading says in one JSON object what package parse finds in the text
// of a model or in the reply of a provider: what was said, the calls with their
// places and repairs, and the problems. It does so for one input, or for every
// line of a stream.
package reading

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Reading is what was found.
type Reading struct {
	Content   string    `json:"content"`
	Reasoning string    `json:"reasoning"`
	ToolCalls []Call    `json:"tool_calls"`
	Problems  []Problem `json:"problems"`
	Events    []Event   `json:"events,omitempty"`
}

// Status says whether a call can be used.
type Status string

const (
	OK       Status = "ok"       // as the model wrote it
	Repaired Status = "repaired" // after the Fixes
	Invalid  Status = "invalid"  // it does not fit its tool: see Issues
)

// Place is where the text of a call stands, in bytes.
type Place struct {
	In     string `json:"in,omitempty"` // "reasoning": in that field of a provider's reply; else in the model's text
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

// Call is a tool call. It has Arguments, or RawArguments if it takes a plain
// text or its arguments cannot be read. A call without a place came in the
// provider's own field.
type Call struct {
	ID           string          `json:"id"`
	Grammar      string          `json:"grammar"` // its name, or "native"
	Name         string          `json:"name"`
	Arguments    json.RawMessage `json:"arguments,omitempty"` // an object
	RawArguments *string         `json:"arguments_raw,omitempty"`
	Status       Status          `json:"status"`
	Fixes        []utp.Fix       `json:"fixes"`
	Issues       []schema.Issue  `json:"issues"`
	*Place
}

// Problem is a call that could not be made. Its text is in the content, unless
// Policy.Malformed says otherwise; that of a native call is in Raw.
type Problem struct {
	Kind    utp.ProblemKind `json:"kind"`
	Grammar string          `json:"grammar,omitempty"`
	Name    string          `json:"name,omitempty"`
	*Place
	Message string `json:"message"`
	Raw     string `json:"raw,omitempty"`
}

// Event is an event of the stream, as it came.
type Event struct {
	In  string `json:"-"` // the field whose text it covers, as in Place
	Fed int    `json:"-"` // bytes of that field that had arrived when it came

	Kind     string       `json:"kind"`
	Part     int          `json:"part"`
	Text     string       `json:"text,omitempty"`
	Call     *utp.Call    `json:"call,omitempty"`
	ToolCall *Call        `json:"tool_call,omitempty"` // of a stream: the call that ended, as in Reading.ToolCalls
	Value    utp.Part     `json:"value,omitempty"`
	Problem  *utp.Problem `json:"problem,omitempty"`
	End      *utp.End     `json:"end,omitempty"`
	Raw      string       `json:"raw,omitempty"`
}

// Input says what an input is.
type Input int

const (
	Auto  Input = iota // a reply, if a provider's envelope is around it, else a text
	Text               // a model's text
	Reply              // a provider's reply
)

var inputs = []string{"auto", "text", "reply"}

// ParseInput reads the word for an Input.
func ParseInput(word string) (Input, error) {
	i := slices.Index(inputs, word)
	if i < 0 {
		return 0, fmt.Errorf("%s: want text, reply or auto", word)
	}
	return Input(i), nil
}

// Options say how to read.
type Options struct {
	Dialects Dialects
	Tools    []utp.Tool // that were offered; none: not known
	Prefill  string     // how the prompt ended
	Policy   Policy
	Input    Input
	Chunk    int  // feed the text in pieces of so many bytes; 0: in one
	Cut      bool // the server cut a text off at its end
	Events   bool // list the events

	// Ops answer lines with other words in "op" than those of Lines: each gets the
	// line and gives what makes an object.
	Ops map[string]func(line []byte) (any, error)

	// Replies makes a reader of providers' replies for tools; nil: there are no replies.
	Replies func([]utp.Tool) Replies
}

// Replies reads providers' replies. found is false if b is none; bare takes
// the list of its calls for one too. An error after events says why the reply
// is not complete.
type Replies interface {
	Read(b []byte, bare bool) (evs []utp.Event, found bool, err error)
}

// Read reads one input.
func Read(o Options, input []byte) (*Reading, error) {
	m := newMemory(o)
	return o.reader(m.offer, o.Dialects.config(), o.Prefill, new(collector)).read(string(input), false)
}

// reader reads inputs by the same options.
type reader struct {
	o   *Options
	of  *offer
	cfg parse.Config
	c   *collector // to reuse
}

// read reads one input. bare takes the list of a reply's calls for a reply.
func (r *reader) read(input string, bare bool) (*Reading, error) {
	wanted := bare || r.o.Input == Reply
	if r.o.Replies != nil && (wanted || r.o.Input == Auto && mayBeReply(input)) {
		evs, found, err := r.of.replies.Read([]byte(input), wanted)
		if found {
			return r.reply(evs, err)
		}
	}
	if wanted {
		return nil, errors.New("this is no reply of a provider: want one of OpenAI's, Anthropic's, Gemini's, Ollama's or a compatible API, whole or as a stream")
	}
	return r.text(input)
}

// mayBeReply reports whether a text begins as JSON or server-sent events do.
func mayBeReply(s string) bool {
	s = strings.TrimLeft(s, "\ufeff \t\r\n")
	return s != "" && strings.IndexByte("{[:deir", s[0]) >= 0
}

func (r *reader) text(s string) (*Reading, error) {
	c := r.c.begin(r, false)
	p := parse.New(r.cfg)
	for step := r.step(len(s)); s != ""; s = s[step:] {
		step = min(step, len(s))
		c.fed[inText] += step
		c.all(p.Feed(s[:step]))
	}
	c.all(p.Close(r.o.Cut))
	return c.reading()
}

// reply passes the events of a provider through the parser.
func (r *reader) reply(evs []utp.Event, broken error) (*Reading, error) {
	if broken != nil && !saysMore(evs) {
		return nil, broken
	}
	c := r.c.begin(r, true)
	p := parse.New(r.cfg)
	p.Expect(evs)
	for _, e := range evs {
		if e.Kind != utp.EventText && e.Kind != utp.EventThink {
			c.all(p.Through(e))
			continue
		}
		field := fieldOf(e.Kind)
		for text, step := e.Text, r.step(len(e.Text)); text != ""; text = text[step:] {
			step = min(step, len(text))
			e.Text = text[:step]
			c.fed[field] += step
			c.all(p.Through(e))
		}
	}
	if broken != nil {
		c.problems = append(c.problems, Problem{Kind: utp.ProblemTruncated, Message: broken.Error()})
	}
	return c.reading()
}

func (r *reader) step(all int) int {
	if r.o.Chunk > 0 {
		return r.o.Chunk
	}
	return all
}

// saysMore reports whether the events say more than that the reply is over.
func saysMore(evs []utp.Event) bool {
	for _, e := range evs {
		if e.Kind != utp.EventFinish && e.Kind != utp.EventMark {
			return true
		}
	}
	return false
}

// broken are the problems that Policy.Malformed is about.
func broken(k utp.ProblemKind) bool {
	switch k {
	case utp.ProblemTruncated, utp.ProblemMalformed, utp.ProblemMissingName, utp.ProblemEmpty, utp.ProblemTooLong:
		return true
	}
	return false
}

// words says what a problem is and what was wanted.
func words(p *utp.Problem) string {
	text := p.Message
	if text == "" {
		text = meaning[p.Kind]
	}
	if p.Want != "" && !strings.Contains(text, p.Want) {
		text = fmt.Sprintf("%s: want %s", text, p.Want)
	}
	return text
}

var meaning = map[utp.ProblemKind]string{
	utp.ProblemTruncated:   "the output ended inside the call",
	utp.ProblemMalformed:   "the call cannot be read",
	utp.ProblemMissingName: "the call names no tool",
	utp.ProblemEmpty:       "markers of a call with nothing between them",
	utp.ProblemUnknownTool: "no such tool was offered",
	utp.ProblemTooLong:     "the call is longer than the limit",
	utp.ProblemQuoted:      "it is shown, not made: in a sentence, or as a tool or the user wrote it",
	utp.ProblemInvalid:     "the arguments do not fit the tool",
	utp.ProblemRepeated:    "it repeats an earlier call of the reply",
}
