package backend

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// plan is a request made ready to send.
type plan struct {
	model    string
	native   bool             // tools went into the provider's field
	told     *grammar.Grammar // in which tools and calls were told, if not native
	choice   format.Choice
	adapter  format.Adapter
	late     bool  // a tool has answered the question
	single   bool  // one call in a reply
	heeded   heeds // what the server refused of the model
	exchange *wire.Exchange
	fitted   fitted
	parse    parse.Config
}

// plan makes a request ready, with the tools as text where asked for. r stays
// as it is.
func (c *Client) plan(ctx context.Context, r *utp.Request, asText string) (*plan, error) {
	p := &plan{model: c.model(r), late: answered(r.Messages), single: r.Choice.Parallel != nil && !*r.Choice.Parallel}
	a := c.ability(ctx, p.model)
	p.heeded = c.heeded(p.model)
	p.choice = c.choose(p.model, a, cmp.Or(asText, p.heeded.asText()))
	p.native, p.told = p.choice.Tools.Way == format.Native, p.choice.Tools.Grammar
	for _, w := range p.choice.Warnings {
		c.caution(w)
	}
	p.adapter = c.adapter(p.model, p.heeded)
	p.parse = ranked(c.reading(r), p.choice)
	aloud := p.thinkAloud(r)
	r = plainly(r)
	if c.cfg.OnlyOffered && (len(r.Tools) == 0 || r.Choice.Mode == utp.ChoiceNone) || !p.choice.Calls.Text {
		p.readNoCalls(aloud)
	}
	p.parse.Marks, p.parse.OneCall = p.adapter.Marks, p.single
	out, err := c.formed(r, p)
	if err != nil {
		return nil, err
	}
	req := *out
	req.Model, req.Stream = p.model, !c.cfg.Whole
	if req.Choice.Mode == utp.ChoiceNone && !p.native {
		req.Tools = nil
	}
	if req.Choice.Mode == utp.ChoiceNone && len(req.Tools) == 0 {
		req.Choice = utp.Choice{} // some servers refuse a choice without tools
	}
	p.adapt(&req)
	if p.fitted, err = c.fit(ctx, &req, a); err != nil {
		return nil, err
	}
	p.exchange, err = c.api.back(c.base, a).Open(&req)
	if err != nil {
		return nil, err
	}
	p.obey()
	return p, nil
}

// thinkAloud is the dialect of ReAct in whose words the model thinks and answers,
// which is then preferred: it was told so with its tools or with earlier calls, or
// the last turn in which it called shows that it does. nil: there is none.
func (p *plan) thinkAloud(r *utp.Request) *grammar.Grammar {
	turn := lastCalls(r.Messages)
	calls := turn.Calls()
	switch {
	case isAloud(p.told):
		if len(calls) > 0 || len(r.Tools) > 0 && r.Choice.Mode != utp.ChoiceNone {
			return p.prefer(p.told)
		}
		return nil
	case len(calls) == 0 || p.choice.Calls.Only:
		return nil
	}
	g, _ := grammar.ByName(calls[len(calls)-1].Dialect())
	if !isAloud(g) && isThought(turn.Text()) {
		g, _ = grammar.ByName(labelled)
	}
	if isAloud(g) {
		return p.prefer(g)
	}
	return nil
}

func (p *plan) prefer(g *grammar.Grammar) *grammar.Grammar {
	if !slices.Contains(p.parse.Prefer, g.Name) {
		p.parse.Prefer = append(slices.Clone(p.parse.Prefer), g.Name)
	}
	return g
}

// lastCalls is the model's last turn with calls, in however many messages.
func lastCalls(ms []utp.Message) (turn utp.Message) {
	for _, m := range slices.Backward(ms) {
		switch {
		case m.Role == utp.RoleAssistant:
			turn.Parts = slices.Concat(m.Parts, turn.Parts)
		case len(turn.Calls()) > 0:
			return turn
		default:
			turn.Parts = nil
		}
	}
	return turn
}

// labelled is the dialect in which a text that begins with the label of a thought
// is written, where nothing else tells.
const labelled = "react"

// maxLabel is more than such a label takes.
const maxLabel = 64

// isThought reports a text that begins with the label of a thought.
func isThought(text string) bool {
	p := parse.New(parse.Config{Prefer: []string{labelled}})
	evs := slices.Clone(p.Feed(text[:min(len(text), maxLabel)]))
	head := utp.Collect(append(evs, p.Close(true)...))
	return head.Thinking() != "" && head.Text() == ""
}

// readNoCalls leaves the text as it is, but for the labels of ReAct.
func (p *plan) readNoCalls(aloud *grammar.Grammar) {
	p.parse = parse.Config{Grammars: []*grammar.Grammar{}, Tools: schema.Compile(nil)}
	if aloud != nil {
		p.parse.Grammars, p.parse.Prefer = append(p.parse.Grammars, aloud), []string{aloud.Name}
	}
}

// isAloud reports a dialect of ReAct that has words for a thought and an answer.
func isAloud(g *grammar.Grammar) bool {
	return g != nil && g.Line && g.Think.Close != "" && strings.HasPrefix(g.Result.Open, "Observation")
}

// plainly is r with the types of its tools in JSON Schema's words.
func plainly(r *utp.Request) *utp.Request {
	out := *r
	for i, t := range r.Tools {
		s := schema.Plain(t.Schema)
		if bytes.Equal(s, t.Schema) {
			continue
		}
		if &out.Tools[0] == &r.Tools[0] {
			out.Tools = slices.Clone(r.Tools)
		}
		out.Tools[i].Schema = s
	}
	return &out
}

// adapt gives the request what the adapter wants.
func (p *plan) adapt(req *utp.Request) {
	if p.adapter.NoSystem {
		req.Messages = fold(req.Messages)
	}
	if !p.late && len(p.adapter.Stops) > 0 {
		req.Params.Stop = append(slices.Clone(req.Params.Stop), p.adapter.Stops...)
	}
}

// formed puts the tools and the history into the form that was chosen.
func (c *Client) formed(r *utp.Request, p *plan) (*utp.Request, error) {
	tools, results := p.choice.Tools, p.choice.Results
	if tools.Way == format.None {
		bare := *r
		bare.Tools, bare.Choice, r = nil, utp.Choice{}, &bare
	}
	switch {
	case tools.Way != format.Text && results.Way != format.Text:
		return r, nil
	case tools.Way != format.Text:
		return historyAsText(c.writer(results.Grammar), r)
	case results.Way != format.Text:
		return toolsAsText(c.writer(tools.Grammar), r)
	}
	return allAsText(c.writer(tools.Grammar), c.writer(results.Grammar), r)
}

func (c *Client) writer(g *grammar.Grammar) prompt.Writer {
	return prompt.Writer{Grammar: g, Custom: c.cfg.Custom, Append: c.cfg.Literal, Warn: func(err error) { c.caution(err.Error()) }}
}

// allAsText is for a model that knows neither tools nor results but as text.
func allAsText(w, results prompt.Writer, r *utp.Request) (*utp.Request, error) {
	if w.Grammar.Name == results.Grammar.Name {
		out := *offered(r)
		if w.Grammar.Line {
			out.Messages = reminded(r.Messages)
		}
		return render(w, &out)
	}
	told, err := historyAsText(results, r)
	if err != nil {
		return nil, err
	}
	return toolsAsText(w, told)
}

// historyAsText tells earlier calls and results and leaves the tools.
func historyAsText(w prompt.Writer, r *utp.Request) (*utp.Request, error) {
	messages := r.Messages
	if w.Grammar.Line {
		messages = reminded(messages)
	}
	told, err := w.History(messages)
	if err != nil {
		return nil, err
	}
	out := *r
	out.Messages = told
	return &out, nil
}

// toolsAsText offers the tools and leaves the history.
func toolsAsText(w prompt.Writer, r *utp.Request) (*utp.Request, error) {
	bare := *offered(r)
	isSystem := func(m utp.Message) bool { return m.Role == utp.RoleSystem }
	bare.Messages = slices.DeleteFunc(slices.Clone(r.Messages), func(m utp.Message) bool { return !isSystem(m) })
	out, err := render(w, &bare)
	if err != nil {
		return nil, err
	}
	if answered(r.Messages) {
		out.Params.Stop = r.Params.Stop
	}
	out.Messages = append(slices.Clone(out.Messages), slices.DeleteFunc(slices.Clone(r.Messages), isSystem)...)
	return out, nil
}

// offered is r without tools if none may be called.
func offered(r *utp.Request) *utp.Request {
	if r.Choice.Mode != utp.ChoiceNone {
		return r
	}
	out := *r
	out.Tools = nil
	return &out
}

// render writes r, with the grammar's stops, but only while no tool has answered: a
// model that reads results may quote what would stop it.
func render(w prompt.Writer, r *utp.Request) (*utp.Request, error) {
	out, err := w.Render(r)
	if err == nil && len(r.Tools) > 0 && !answered(r.Messages) {
		out.Params.Stop = append(slices.Clone(out.Params.Stop), w.Grammar.Stops()...)
	}
	return out, err
}

// answered reports whether a tool has answered since the user last spoke.
func answered(ms []utp.Message) bool {
	for i := len(ms) - 1; i >= 0; i-- {
		if len(ms[i].Results()) > 0 {
			return true
		}
		if ms[i].Role == utp.RoleUser {
			return false
		}
	}
	return false
}

// reading is how the reply's text is to be read: by every tool that the caller
// knows, offered or not, so that a call above the tier is found and refused. A
// request without tools has none, unless it says that none may be called: then
// a call is found, and is no part of the answer.
func (c *Client) reading(r *utp.Request) parse.Config {
	p := c.cfg.Parse
	if c.cfg.Reads != nil {
		c.cfg.Reads(&p)
	}
	if p.Tools == nil || len(r.Tools) == 0 && r.Choice.Mode != utp.ChoiceNone {
		p.Tools = c.cfg.Compile(r.Tools)
	}
	if r.Choice.Mode == utp.ChoiceNamed {
		p.Forced = r.Choice.Name
	}
	p.Seen = append(slices.Clone(p.Seen), others(r.Messages)...)
	p.Made = append(slices.Clone(p.Made), calls(r.Messages)...)
	p.Stops = r.Params.Stop
	return p
}

// calls are the fingerprints of the calls that were made.
func calls(ms []utp.Message) (prints []string) {
	for _, m := range ms {
		for _, c := range m.Calls() {
			prints = append(prints, c.Fingerprint())
		}
	}
	return prints
}

// others are the texts of users and tools: a model that repeats a call from them
// makes none.
func others(ms []utp.Message) (texts []string) {
	for _, m := range ms {
		if m.Role == utp.RoleUser {
			texts = append(texts, m.Text())
		}
		for _, res := range m.Results() {
			if text := res.Text(); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
