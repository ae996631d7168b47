package parse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
)

// complete makes a call of the fields that were read.
func (e *element) complete(p *Parser) {
	c := &p.cur
	if !c.open {
		return
	}
	if c.pending && p.cfg.Forced != "" {
		e.forced(p)
	}
	if c.pending && c.g.segments() {
		e.typed(p)
	}
	if c.pending && c.counted {
		e.fitted(p)
	}
	if c.pending {
		p.nameless()
		return
	}
	if !e.hasArgs && len(e.others) > 0 {
		e.flat(p)
	}
	if p.st != inElement {
		return
	}
	e.sameTwice(p)
	c.echo = e.mayDefine() && len(c.keys) == 0 && e.described()
	if p.tries.trying() && p.tries.trial().bare && (!c.declared || !e.hasArgs && len(c.keys) == 0 && !p.tools.needsNothing(c.name)) {
		p.giveBack()
	}
}

// described reports whether a description stands beside the name, as in a
// tool's definition.
func (e *element) described() bool {
	return slices.ContainsFunc(e.others, func(f other) bool { return f.Key == "description" })
}

// fitted names a call that has a mere counter by its arguments, where they fit one
// tool alone.
func (e *element) fitted(p *Parser) {
	name := p.tools.fitting(e.early)
	if name == "" || string(e.early) == "{}" {
		return
	}
	p.setName(name)
	p.guess("", p.cur.id, name, "the only tool that its arguments fit")
	e.named(p)
}

// typed names a call by the type of its segment.
func (e *element) typed(p *Parser) {
	for i, f := range e.others {
		var name string
		if f.Key == "type" && json.Unmarshal(f.Value, &name) == nil && name != "tool" && name != "tool_call" {
			e.others = slices.Delete(e.others, i, i+1)
			p.setName(name)
			return
		}
	}
}

// nameless ends an element that names no tool; its siblings go on.
func (p *Parser) nameless() {
	if len(p.cur.el.stack) == 0 && !p.tries.trying() && len(p.ownClosers()) > 0 {
		p.broken("", "")
		p.cur.why = utp.Problem{Kind: utp.ProblemMissingName, Want: "the name of a tool"}
		return
	}
	p.fail(utp.Problem{Kind: utp.ProblemMissingName, Want: "the name of a tool"})
	if p.st == inElement && len(p.cur.el.stack) == 0 {
		p.cur.open = false
		p.now.textPart = -1
		p.st = inGap
		if p.block.group == nil && p.block.lists == 0 && len(p.cur.g.call.close) == 0 {
			p.endBlock(false)
		}
	}
}

// forced takes a lone object as the arguments of the tool that the request named.
func (e *element) forced(p *Parser) {
	p.setName(p.cfg.Forced)
	p.guess("", "", p.cur.name, "the tool that the request named")
	for _, f := range e.others {
		p.argField(f.Field)
	}
	if e.early != nil {
		p.argField(body.Field{Key: e.argsKey, Value: e.early})
		e.early = nil
	}
	e.hasArgs = true
}

// flat takes the other fields of a call object as its arguments:
// {"name": f, "x": 1}. The tool must have them, if it is known.
func (e *element) flat(p *Parser) {
	order := p.tools.Order(p.cur.name)
	var own []body.Field
	for _, f := range e.others {
		key, _ := p.tools.Key(p.cur.name, f.Key)
		switch {
		case slices.Contains(order, key) || !p.cur.declared:
			own = append(own, f.Field)
		case !ignored(f.Key) && !remark(f.Key):
			p.broken("a field that is no argument: "+f.Key, "arguments")
			return
		}
	}
	for _, f := range own {
		p.argField(f)
	}
	if len(own) > 0 {
		e.hasArgs = true
		if !p.cur.g.segments() {
			p.fix("", "", "", "arguments beside the name")
		}
	}
}

// remark reports whether a field tells what the model thinks of its call.
func remark(key string) bool {
	switch strings.ToLower(key) {
	case "thought", "thoughts", "reasoning", "explanation", "reason":
		return true
	}
	return false
}

// done ends the element: its value is complete.
func (e *element) done(p *Parser) {
	c := &p.cur
	if e.ended && !e.lost && !e.primed && (e.r.Cut() || !e.r.Closed() && (p.cut || !p.stopTook())) {
		e.cutOff(p)
		return
	}
	e.moveFixes(p)
	if len(e.others) == 1 && e.special(p) || e.fromText(p) {
		return
	}
	if slices.ContainsFunc(e.others, func(f other) bool { return f.lone == placed }) {
		p.broken("more arguments than the tool has places for", "NAME=value")
		return
	}
	e.complete(p)
	if p.st != inElement {
		return
	}
	if !p.mayGuessWords() {
		p.broken("variables are not evaluated", "a value")
		return
	}
	if !c.open { // a list: its calls are done
		p.st = inGap
		if p.block.group == nil && len(c.g.call.close) == 0 {
			p.endBlock(false)
		}
		return
	}
	c.balanced = true
	if c.plain || c.ticks > 0 || len(c.g.call.close) > 0 || p.block.group != nil && len(c.g.group.close) > 0 || p.now.message != nil {
		p.st = inAfter
		return
	}
	p.finish()
}

// stopTook reports whether a stop sequence of the request may have taken closing
// brackets off the end of the output. Else one that is open there was cut off.
func (p *Parser) stopTook() bool {
	return slices.ContainsFunc(p.cfg.Stops, func(s string) bool {
		s = strings.TrimSpace(s)
		return s != "" && strings.IndexByte("}])", s[0]) >= 0
	})
}

// special uses what is no object: a string that holds a call, a pair, an only
// positional argument.
func (e *element) special(p *Parser) bool {
	f := e.others[0]
	switch f.lone {
	case quotedCall:
		p.embedded(f.Value)
		return true
	case pairedCall:
		p.fromPair(f.Value)
		return true
	case placed:
		if len(p.cur.keys) > 0 && f.Value[0] != '{' {
			return false
		}
		e.others = nil
		p.fix("", "", "", "an object for all arguments")
		p.argsJSON(f.Value)
	}
	return false
}

// moveFixes turns the value's fixes into the call's, with paths into the arguments.
func (e *element) moveFixes(p *Parser) {
	for _, f := range e.r.Fixes() {
		if e.primed {
			f.Path = ""
		}
		if e.argsKey != "" {
			at := "/" + e.argsKey
			i := strings.Index(f.Path, at)
			if i < 0 {
				f.Path = ""
			} else {
				f.Path = f.Path[i+len(at):]
			}
		}
		p.cur.fixes = append(p.cur.fixes, utp.Fix(f))
	}
}

// embedded reads a call written as a string.
func (p *Parser) embedded(quoted json.RawMessage) {
	var s string
	_ = json.Unmarshal(quoted, &s)
	p.adopt(p.inner(s), "written as a string")
}

// fromPair reads (name, {arguments}).
func (p *Parser) fromPair(list json.RawMessage) {
	var pair []json.RawMessage
	var name string
	if json.Unmarshal(list, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[0], &name) != nil {
		p.broken("no call", "a name and its arguments")
		return
	}
	p.setName(name)
	if fields := body.Fields(pair[1]); p.tries.trying() && !p.knownAll(fields) {
		p.broken("no call", "the tool's arguments")
		return
	}
	p.fix("", "", "", "written as a pair")
	p.argsJSON(pair[1])
	p.cur.balanced, p.st = true, inAfter
	if len(p.cur.g.call.close) == 0 && p.block.group == nil {
		p.finish()
	}
}

// inner parses a text on its own, bare forms allowed.
func (p *Parser) inner(s string) utp.Reply {
	c := *p.cfg
	c.Seen, c.Forced = nil, ""
	in, _ := newParser(c, embedded(), callText)
	evs := slices.Clone(in.feed(s))
	return utp.Collect(append(evs, in.close(false)...))
}

// adopt takes the calls of an inner reply as the open call.
func (p *Parser) adopt(r utp.Reply, why string) {
	calls := r.Calls()
	if len(calls) == 0 {
		p.nameless()
		return
	}
	for i, in := range calls {
		if i > 0 {
			p.nextCall()
		}
		p.setName(in.Name)
		p.cur.fixes = append(p.cur.fixes, in.Fixes...)
		p.fix("", "", "", why)
		p.argsJSON(in.Args)
		p.finish()
	}
}
