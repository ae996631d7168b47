package parse

import (
	"bytes"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// fitted is a call whose arguments fit its tool, where the caller wants them
// checked; or what is wrong with them.
func (p *Parser) fitted(c utp.Call) (utp.Call, *utp.Problem) {
	if !p.cfg.Check {
		return c, nil
	}
	out, issues := p.tools.Fit(c)
	prob := utp.Problem{Name: c.Name, Want: p.tools.Describe(c.Name)}
	switch {
	case len(issues) > 0:
		var words []string
		for _, i := range issues {
			words = append(words, i.Error())
		}
		prob.Kind, prob.Message = utp.ProblemInvalid, strings.Join(words, "; ")
		return c, &prob
	case p.cfg.Repair == Off && len(out.Fixes) > len(c.Fixes):
		prob.Kind, prob.Message = utp.ProblemMalformed, out.Fixes[len(c.Fixes)].Why
		return c, &prob
	}
	return out, nil
}

// fittedNative are the events of a native call, of which the last is its end: one
// that does not fit its tool is a Problem.
func (p *Parser) fittedNative(evs []utp.Event) []utp.Event {
	end := evs[len(evs)-1]
	if !p.cfg.Check || end.Kind != utp.EventCallEnd {
		return evs
	}
	c, prob := p.fitted(*end.Call)
	if prob == nil && bytes.Equal(c.Args, end.Call.Args) {
		return evs
	}
	start, raw := evs[0], ""
	for _, e := range evs[1 : len(evs)-1] {
		raw += e.Raw
	}
	if prob != nil {
		return []utp.Event{misfit(end.Part, c, *prob, start.Raw+raw+end.Raw)}
	}
	end.Call = &c
	return []utp.Event{start, {Kind: utp.EventCallDelta, Part: end.Part, Text: string(c.Args), Raw: raw}, end}
}

// misfit is the event of a native call that does not fit its tool.
func misfit(part int, c utp.Call, prob utp.Problem, raw string) utp.Event {
	if prob.Raw = c.RawArgs; prob.Raw == "" {
		prob.Raw = string(c.Args)
	}
	return utp.Event{Kind: utp.EventProblem, Part: part, Problem: &prob, Raw: raw}
}
