// Package extract is the built-in model for a machine without a model server.
// It understands nothing: it searches for the words of the question and shows
// what was found, with files and lines, and says so.
//
// It goes the way of every other model. It asks for tools in a text grammar,
// its text is parsed for calls, and it reads the results from the conversation.
package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Name is the model's name in its replies.
const Name = "search-only"

// dialect is the grammar of its calls.
const dialect = "hermes"

// Tools that it knows how to use.
const (
	searchTool  = "search_code"
	inspectTool = "inspect_code"
)

// Model is the built-in model. It keeps nothing between requests.
type Model struct{}

// New makes the model.
func New() Model { return Model{} }

// Report words what the searches of a conversation found for its last question,
// which its model gave no answer to; "" is nothing.
func Report(ms []utp.Message) string {
	v := viewOf(&utp.Request{Messages: ms})
	if v.found == nil || len(v.found.places) == 0 {
		return ""
	}
	return v.report()
}

// Stream answers a request: with a call of search_code, then one of
// inspect_code for the best match, then with what they gave. A tool that is not
// offered is done without.
func (Model) Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		evs, err := reply(ctx, r)
		for _, e := range evs {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(utp.Event{}, err)
		}
	}
}

func reply(ctx context.Context, r *utp.Request) ([]utp.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := viewOf(r)
	if c, more := v.next(); more {
		return say(r, c)
	}
	end := utp.End{Stop: utp.StopEnd, Model: Name}
	return []utp.Event{
		{Kind: utp.EventText, Text: v.answer()}, // not parsed: what it quotes is no call
		{Kind: utp.EventFinish, Part: 1, End: &end},
	}, nil
}

// say writes a call as text and reads it back as any model's text is read.
func say(r *utp.Request, c utp.Call) ([]utp.Event, error) {
	g, ok := grammar.ByName(dialect)
	if !ok {
		return nil, fmt.Errorf("extract: there is no grammar %q", dialect)
	}
	text, err := prompt.Call(g, c)
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	p := parse.New(parse.Config{Grammars: []*grammar.Grammar{g}, Tools: schema.Compile(r.Tools)})
	evs := slices.Clone(p.Through(utp.Event{Kind: utp.EventText, Text: text}))
	return append(evs, p.Through(utp.Event{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopTool, Model: Name}})...), nil
}

// view is what the model sees in a request.
type view struct {
	tools    []utp.Tool
	question string
	words    string // of the question, to search for
	asked    []string
	found    *finding // nil: not searched yet
	shown    string   // what inspect_code gave
}

func viewOf(r *utp.Request) *view {
	v := &view{tools: r.Tools}
	start := len(r.Messages)
	for i, m := range r.Messages {
		if m.Role != utp.RoleUser {
			continue
		}
		if words := keywords(m.Text()); words != "" {
			v.words = words
		}
		start, v.question = i, m.Text()
	}
	names := map[string]string{}
	for _, m := range r.Messages[min(start, len(r.Messages)):] {
		for _, c := range m.Calls() {
			names[c.ID] = c.Name
			v.asked = append(v.asked, c.Name)
		}
		for _, res := range m.Results() {
			v.read(names[res.CallID], res)
		}
	}
	return v
}

func (v *view) read(name string, r utp.Result) {
	if name == "" {
		name = r.Name
	}
	switch {
	case name == searchTool:
		if f := findingOf(r); v.found == nil || len(f.places) > 0 {
			v.found = &f
		}
	case name == inspectTool && r.Status == utp.StatusOK:
		v.shown = r.Text()
	}
}

// next is the call to make, if there is one left to make.
func (v *view) next() (c utp.Call, more bool) {
	switch {
	case v.words == "":
	case v.can(searchTool):
		return call(searchTool, searchArgs{v.words, maxPlaces})
	case v.can(inspectTool) && v.found != nil && len(v.found.places) > 0:
		best := v.found.places[0]
		return call(inspectTool, inspectArgs{best.path, best.line})
	}
	return c, false
}

// can reports whether a tool is offered and was not asked yet.
func (v *view) can(name string) bool {
	return !slices.Contains(v.asked, name) && slices.ContainsFunc(v.tools, func(t utp.Tool) bool { return t.Name == name })
}

type searchArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

type inspectArgs struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

func call(name string, args any) (utp.Call, bool) {
	b, err := json.Marshal(args)
	return utp.Call{Name: name, Args: b}, err == nil
}
