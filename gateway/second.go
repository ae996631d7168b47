package gateway

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/template"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// held passes on the events of one try, holding back what hold says. A useless reply
// that the client has seen only thoughts of is asked for once more, as a JSON object
// that calls one of the tools. If that does not help, the first reply goes out as it
// is. Held events of a reply that breaks off are dropped.
func (x *exchange) held(try iter.Seq2[utp.Event, error]) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		h := x.newHold()
		for e, err := range try {
			if err != nil {
				yield(utp.Event{}, err)
				return
			}
			h.add(e)
			if e.Kind == utp.EventFinish {
				if why := h.useless(e); why != "" {
					h.events = x.again(why, h.events, h.next)
				}
				if err := h.settle(); err != nil {
					yield(utp.Event{}, err)
					return
				}
			}
			if (e.Kind == utp.EventFinish || !h.holds()) && !h.pass(yield) {
				return
			}
		}
	}
}

// use tracks whether a reply is useful to the client: its calls can be read, and there
// is one if one was required.
type use struct {
	must, once bool // a call is required; no second try
	choice     utp.Choice

	broken *utp.Problem
	calls  int // calls begun that the choice allows
}

// lacks reports whether the reply so far may turn out useless.
func (u *use) lacks() bool { return u.must && u.calls == 0 || u.broken != nil }

// note records an event of the reply.
func (u *use) note(e utp.Event) {
	switch {
	case e.Kind == utp.EventCallStart && allows(u.choice, e.Call.Name), wholeCall(e):
		u.calls++
	case e.Kind == utp.EventProblem && e.Problem != nil && mendable[e.Problem.Kind] && u.broken == nil:
		u.broken = e.Problem
	}
}

// allows reports whether a choice permits calls of a tool.
func allows(c utp.Choice, name string) bool {
	return (c.Mode != utp.ChoiceNamed || name == c.Name) && (len(c.Allowed) == 0 || slices.Contains(c.Allowed, name))
}

// wholeCall reports whether an event is a call in one piece, as from utp.Replay.
func wholeCall(e utp.Event) bool {
	_, call := e.Value.(utp.Call)
	return e.Kind == utp.EventWhole && call
}

// mendable are the problems that a second try may avoid.
var mendable = map[utp.ProblemKind]bool{utp.ProblemMalformed: true, utp.ProblemMissingName: true, utp.ProblemInvalid: true, utp.ProblemEmpty: true, utp.ProblemTruncated: true}

// useless returns why the finished reply is useless, "" if it is not. A call that the
// output limit cut off would be cut off again; text in place of a call may not be.
func (h *hold) useless(e utp.Event) string {
	if h.answered || h.once || h.ended() {
		return ""
	}
	if e.End != nil {
		switch e.End.Stop {
		case utp.StopFilter:
			return ""
		case utp.StopLength:
			if h.calls > 0 || !h.must || h.broken != nil && h.broken.Kind == utp.ProblemTruncated {
				return ""
			}
		case utp.StopBadCall:
			return "broken call"
		}
	}
	switch {
	case h.broken != nil:
		return "broken call"
	case h.must:
		return "no call"
	}
	return ""
}

// ended reports whether the reply has a usable call.
func (h *hold) ended() bool {
	return slices.ContainsFunc(h.events, func(e utp.Event) bool {
		return e.Kind == utp.EventCallEnd && (!h.must || allows(h.choice, e.Call.Name)) || wholeCall(e)
	})
}

// again asks once more and returns the reply to pass on: if the new one is useful, its
// events, with parts numbered from next after the thoughts of the old one; else the old
// one.
func (x *exchange) again(why string, old []utp.Event, next int) []utp.Event {
	if _, ok := x.gate.second.take(x.Now(), 1); !ok {
		return old
	}
	x.report.Again = why
	defer func(tries int) { x.report.Tries = tries }(x.report.Tries) // a second try is no fallback
	q := x.correction(why, utp.Collect(old))
	evs, err := x.gathered(q)
	if err != nil && wire.FaultOf(err).Kind == wire.BadInput { // not every server can be held to a schema
		q.Params.Schema = nil
		evs, err = x.gathered(q)
	}
	if err != nil {
		x.warn("a second try failed: %s", wire.FaultOf(err).Message)
		return old
	}
	said := utp.Collect(evs)
	call, err := chosen(x.request, x.Compile, said.Text())
	if err != nil {
		x.warn("a second try failed: %v", err)
		return old
	}
	call.ID = mint(x.request.Messages, 0, call.Name, x.learned())
	end := said.End
	end.Stop, end.Usage = utp.StopTool, end.Usage.Add(usageOf(old))
	thoughts := slices.DeleteFunc(old, func(e utp.Event) bool { return !isThinking(e) })
	return append(thoughts,
		utp.Event{Kind: utp.EventCallStart, Part: next, Call: &utp.Call{ID: call.ID, Name: call.Name, Source: call.Source}},
		utp.Event{Kind: utp.EventCallDelta, Part: next, Text: string(call.Args)},
		utp.Event{Kind: utp.EventCallEnd, Part: next, Call: &call}, utp.Event{Kind: utp.EventFinish, Part: next + 1, End: &end})
}

// gathered returns all events of a reply.
func (x *exchange) gathered(q *utp.Request) (evs []utp.Event, err error) {
	err = x.ask(q, func(try iter.Seq2[utp.Event, error]) (seen bool, err error) {
		evs = nil
		for e, err := range try {
			if err != nil {
				return false, err
			}
			evs = append(evs, e)
		}
		return false, nil
	})
	return evs, err
}

func (x *exchange) warn(format string, a ...any) {
	x.report.Warnings = append(x.report.Warnings, utp.Redact(fmt.Sprintf(format, a...)))
}

func usageOf(evs []utp.Event) (u utp.Usage) {
	for _, e := range evs {
		if e.End != nil {
			u = u.Add(e.End.Usage)
		}
	}
	return u
}

// choice is the object that the second try must be.
type choice struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`
}

// correction returns the request for a second try: it says what was wrong, and asks for
// an object that calls one of the tools.
func (x *exchange) correction(why string, said utp.Reply) *utp.Request {
	q := *x.request
	q.Tools, q.Choice = nil, utp.Choice{}
	q.Params.Schema, q.Params.SchemaName, q.Params.SchemaAbout, q.Params.SchemaHeld = choices(callable(x.request)), "", "", nil
	q.Messages = slices.Clone(q.Messages)
	text := said.Text()
	for _, c := range said.Calls() { // the choice allows none of them
		line, err := marshal(choice{c.Name, c.Args})
		if err == nil {
			text += string(line)
		}
	}
	if text != "" {
		q.Messages = append(q.Messages, utp.NewText(utp.RoleAssistant, text))
	}
	q.Messages = append(q.Messages, utp.NewText(utp.RoleUser, x.complaint(why, said)))
	return &q
}

//go:embed second.md
var secondText string

var secondTemplate = sync.OnceValue(func() template.Set { return template.Must(template.New("second.md", secondText)) })

// complaint returns the text that says what was wrong with a reply and what is wanted
// instead.
func (x *exchange) complaint(why string, said utp.Reply) string {
	var wrong struct {
		None            bool   // no call where one is required
		Barred, Problem string // the forbidden call; what could not be read
		Tools           []string
	}
	switch calls := said.Calls(); {
	case why == "no call" && len(calls) > 0:
		wrong.Barred = calls[0].Name
	case why == "no call":
		wrong.None = true
	case len(said.Problems) > 0:
		wrong.Problem = said.Problems[0].Error()
	}
	for _, t := range callable(x.request) {
		if line, err := marshal(definition{t.Name, t.Description, t.Schema}); err == nil {
			wrong.Tools = append(wrong.Tools, string(line))
		}
	}
	words, err := secondTemplate().Execute("second.md", wrong)
	if err != nil {
		panic(err) // the template is embedded
	}
	return words
}

type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// callable lists the tools that the request's choice allows.
func callable(q *utp.Request) []utp.Tool {
	return slices.DeleteFunc(slices.Clone(q.Tools), func(t utp.Tool) bool {
		return t.Kind != utp.FunctionTool || !allows(q.Choice, t.Name)
	})
}

// choices returns the schema of an object that calls one of the tools.
func choices(tools []utp.Tool) json.RawMessage {
	type named struct {
		Type string   `json:"type"`
		Enum []string `json:"enum"`
	}
	type properties struct {
		Name named           `json:"name"`
		Args json.RawMessage `json:"arguments"`
	}
	type object struct {
		Type       string     `json:"type"`
		Properties properties `json:"properties"`
		Required   []string   `json:"required"`
		Additional bool       `json:"additionalProperties"`
	}
	type union struct {
		Type  string   `json:"type"` // OpenAI wants it at the root
		AnyOf []object `json:"anyOf"`
	}
	all := union{Type: "object"}
	for _, t := range tools {
		args := t.Schema
		if len(args) == 0 {
			args = json.RawMessage(`{"type":"object"}`)
		}
		all.AnyOf = append(all.AnyOf, object{"object", properties{named{"string", []string{t.Name}}, args}, []string{"name", "arguments"}, false})
	}
	out, err := marshal(all)
	if len(tools) == 1 {
		out, err = marshal(all.AnyOf[0])
	}
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

// chosen reads the second try, strictly.
func chosen(q *utp.Request, compile func([]utp.Tool) *schema.Set, text string) (utp.Call, error) {
	var c choice
	if err := json.Unmarshal([]byte(text), &c); err != nil || !isObject(c.Args) {
		return utp.Call{}, errors.New("it is not an object with a name and arguments")
	}
	tools := callable(q)
	if !slices.ContainsFunc(tools, func(t utp.Tool) bool { return t.Name == c.Name }) {
		return utp.Call{}, fmt.Errorf("it calls %q, which was not offered", c.Name)
	}
	args, fixes, issues := compile(tools).Check(c.Name, c.Args)
	if len(issues) > 0 {
		return utp.Call{}, fmt.Errorf("its arguments do not fit: %v", issues[0])
	}
	return utp.Call{Name: c.Name, Args: args, RawArgs: string(c.Args), Source: "text:json", Fixes: fixes}, nil
}
