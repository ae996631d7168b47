// Package doctor finds out by asking which form of tools a model can work with.
//
// It tries native tools, then text dialects: the one that the model wrote by
// itself, those of its name, the common ones. In each form that works it looks
// at a call, a whole reply, a call without arguments, two calls at once, a call
// behind thinking, and the answer to a result. Where no form works, it reminds
// the model of its tools after each answer without a call, as Config.Insist of
// package agent does. Nothing is run: the tools and their results are made up.
//
// Full measures instead of looking: it asks in all scenarios, often enough for an
// interval, and compares the forms.
package doctor

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Native is the form of tools in the server's own field.
const Native = "native"

// Setup says how a model is to be asked.
type Setup struct {
	Form  string // Native, or the name of a grammar
	Whole bool   // in one piece
}

// Model answers requests.
type Model interface {
	Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error]
}

// Server is where the model is.
type Server interface {
	// Open makes a model for a setup. Once it was asked, refused says why it was
	// told in another form after all; "": it was not.
	Open(Setup) (m Model, refused func() string, err error)
	// Explain words an error of a model; fatal: it says nothing of the model, as
	// there is no server, or no key.
	Explain(error) (words string, fatal bool)
}

// Verdict is what a probe found.
type Verdict string

const (
	Yes     Verdict = "yes"
	No      Verdict = "no"
	Skipped Verdict = "-" // not tried, or nothing to see
)

// Finding is the outcome of one probe in one form.
type Finding struct {
	Form    string  `json:"form"`
	Probe   string  `json:"probe"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail,omitempty"`
}

// Report is what is known of a model in the end.
type Report struct {
	Model    string    `json:"model"`
	Findings []Finding `json:"findings,omitempty"`
	Format   string    `json:"tool_format"`      // the best form; "none": none works
	Insist   bool      `json:"insist,omitempty"` // the model calls when it is reminded of its tools
	Why      string    `json:"why"`

	Forms []Measure `json:"forms,omitempty"` // of a full examination
	Asked []Asked   `json:"-"`               // all its answers
}

// Examine asks a model. It fails only if the server cannot be asked at all;
// told is called with each finding as it comes.
func Examine(ctx context.Context, model string, server Server, told func(Finding)) (Report, error) {
	e := &examiner{ctx: ctx, server: server, report: Report{Model: model}, told: told}
	native, err := e.examine(Native)
	if err != nil {
		return e.report, err
	}
	if native.sound() {
		_, err := e.first(e.candidates(model)[:1])
		return e.decide(native), err
	}
	best, err := e.best(native, e.candidates(model))
	if err == nil && !best.calls && len(e.talked) > 0 {
		e.report.Insist, e.tried = true, nil
		best, err = e.best(best, slices.Clone(e.talked))
		e.report.Insist = best.calls
	}
	if err != nil {
		return e.report, err
	}
	return e.decide(best), nil
}

// best examines forms until one is sound, and gives the best one.
func (e *examiner) best(so score, forms []string) (score, error) {
	for _, form := range forms {
		s, err := e.examine(form)
		if err != nil {
			return so, err
		}
		if s.better(so) {
			so = s
		}
		if s.sound() {
			break
		}
	}
	if so.sound() && so.strayed() {
		return e.home(so)
	}
	return so, nil
}

// home examines the dialect that a model writes whatever it is told. One that was
// tried already was not better.
func (e *examiner) home(so score) (score, error) {
	if slices.Contains(e.tried, so.wrote) {
		return so, nil
	}
	s, err := e.examine(so.wrote)
	if err == nil && s.better(so) {
		return s, nil
	}
	return so, err
}

// examiner is one examination.
type examiner struct {
	ctx    context.Context
	server Server
	report Report
	told   func(Finding)
	wrote  []string // dialects that the model wrote by itself
	last   string   // the dialect of the latest call
	tried  []string // forms that were examined
	talked []string // forms in which it answered in words where a call was due
	called bool     // the latest reply had a call, or a try at one
	wrong  string   // a tool that was called in place of the one that was asked for
}

// candidates are the text forms to try, in their order.
func (e *examiner) candidates(model string) []string {
	names := slices.Clone(e.wrote)
	for _, g := range grammar.ForModel(model) {
		names = append(names, g.Name)
	}
	names = append(names, "hermes", "react", "default-json")
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// score is what one form is good for.
type score struct {
	form  string
	wrote string // the dialect of the call that came, "native" of one in the server's field
	calls bool   // a call came, streamed
	talks bool   // the answer to a result came
	good  int    // further probes that went well
}

func (s score) sound() bool { return s.calls && s.talks }

// strayed reports a model that calls in another dialect than it was told.
func (s score) strayed() bool { return s.calls && s.form != Native && s.wrote != s.form }

func (s score) better(than score) bool {
	rank := func(s score) int {
		n := s.good
		if s.calls {
			n += 20
		}
		if s.calls && !s.strayed() {
			n += 10
		}
		if s.sound() {
			n += 20
		}
		return n
	}
	return s.calls && rank(s) > rank(than)
}

// examine makes all probes of a form, if the first one goes well.
func (e *examiner) examine(form string) (score, error) {
	e.tried = append(e.tried, form)
	s := score{form: form}
	for i, p := range probes {
		f, err := e.probe(p, form)
		if err != nil {
			return s, err
		}
		ok := f.Verdict == Yes
		switch p.name {
		case "call":
			s.calls, s.wrote = ok, e.last
		case "second turn":
			s.talks = ok
		default:
			if ok {
				s.good++
			}
		}
		if i == 0 && !ok {
			break
		}
	}
	return s, nil
}

// first makes the first probe alone in each form.
func (e *examiner) first(forms []string) (ok bool, err error) {
	for _, form := range forms {
		f, err := e.probe(probes[0], form)
		if err != nil {
			return false, err
		}
		ok = ok || f.Verdict == Yes
	}
	return ok, nil
}

// probe asks once.
func (e *examiner) probe(p probe, form string) (Finding, error) {
	f := Finding{Form: form, Probe: p.name}
	m, refused, err := e.server.Open(Setup{form, p.whole})
	if err != nil {
		return f, err
	}
	reply, err := ask(e.ctx, m, p.request())
	why := refused()
	idle := err == nil && why == "" && !p.after && !p.idle && inWords(reply)
	e.called = false
	if idle && e.report.Insist {
		reply, err = ask(e.ctx, m, p.reminded(reply))
	} else if idle {
		e.talked = append(e.talked, form)
	}
	switch {
	case err != nil && e.ctx.Err() != nil:
		return f, err
	case err != nil:
		words, fatal := e.server.Explain(err)
		if fatal {
			return f, err
		}
		f.Verdict, f.Detail = No, words
	default:
		if f.Verdict, f.Detail = p.judge(form, reply); f.Verdict != No && p.invented(reply) != "" {
			f.Verdict, f.Detail = No, "called "+p.invented(reply)+", which is no tool"
		}
		e.called = len(reply.Calls()) > 0 || len(reply.Problems) > 0
		e.note(reply)
		if calls := reply.Calls(); p.name == probes[0].name && len(calls) > 0 && calls[0].Name != weather.Name {
			e.wrong = calls[0].Name
		}
	}
	if idle && e.report.Insist {
		f.Detail += ", when reminded"
	}
	if why = refused(); why != "" {
		f.Verdict, f.Detail = No, why
	}
	e.report.Findings = append(e.report.Findings, f)
	if e.told != nil {
		e.told(f)
	}
	return f, nil
}

// note keeps the dialects of calls that came as text.
func (e *examiner) note(r utp.Reply) {
	for _, c := range r.Calls() {
		e.last = strings.TrimPrefix(c.Source, "text:")
		if name := c.Dialect(); name != "" && !slices.Contains(e.wrote, name) {
			e.wrote = append(e.wrote, name)
		}
	}
}

func (e *examiner) decide(best score) Report {
	r := &e.report
	switch {
	case best.sound() && r.Insist:
		r.Format, r.Why = best.form, "calls come when the model is reminded of its tools, and results are answered"
	case best.sound():
		r.Format, r.Why = best.form, "calls come, and results are answered"
	case best.calls:
		r.Format, r.Why = best.form, "calls come, but results are not answered well in any form"
	default:
		r.Format, r.Why = "none", "the call that was asked for came in no form"
		if e.wrong != "" {
			r.Why = "calls come, but of another tool than was asked for: " + e.wrong
		}
	}
	return *r
}
