package parse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/lenient"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/schema"
)

func (e *element) top() holder { return e.stack[len(e.stack)-1] }

// key decides the role of the value that follows.
func (e *element) key(p *Parser, k string) {
	e.keyed, e.lone = k, keyed
	if e.top() == args {
		p.argKey(k)
		e.role = argRole
		return
	}
	if e.role = e.roleOf(p, k); e.role == nameRole && p.cur.pending {
		e.nameKey = k
	}
	e.wrapped = e.role == otherRole && e.wraps(p, k)
	if p.tries.trying() && p.tries.trial().bare && e.first && e.role == otherRole && p.cfg.Forced == "" && !ignored(k) && !p.tools.declared(k) && !e.wrapped {
		p.giveBack()
		return
	}
	e.first = e.first && ignored(k)
}

// roleOf knows the keys of a call object: the grammar's own, then the usual ones.
func (e *element) roleOf(p *Parser, k string) role {
	f := p.cur.g.Fields
	if f.Name == "{name}" && len(e.stack) == 1 {
		if p.cur.pending {
			p.setName(k)
		}
		e.argsKey, e.byKey = k, true
		return argsRole
	}
	switch {
	case k == f.Name && k != "":
		return nameRole
	case k == f.Args && k != "":
		e.argsKey = k
		return argsRole
	case k == f.ID && k != "":
		return idRole
	case f.In != "" && slices.Contains(strings.Split(f.In, "."), k):
		return nameRole
	}
	if isNameKey(k) {
		if !p.cur.pending && !strings.HasPrefix(strings.ToLower(k), "function") {
			return otherRole
		}
		return nameRole
	}
	switch strings.ToLower(k) {
	case "arguments", "parameters", "args", "input", "tool_input", "kwargs", "action_input", "params", "param", "parameters_json", "arguments_json":
		if e.hasArgs {
			return otherRole
		}
		e.argsKey = k
		return argsRole
	case "id", "tool_call_id", "call_id":
		return idRole
	case "tool_calls", "tools", "calls", "tool_uses":
		return listRole
	}
	if p.cur.pending && p.tools.declared(k) && len(e.others) == 0 {
		p.setName(k)
		e.argsKey, e.byKey = k, true
		return argsRole
	}
	return otherRole
}

func ignored(k string) bool { return k == "type" || k == "index" }

// value begins a value by its role.
func (e *element) value(p *Parser, t lenient.Token) {
	switch e.role {
	case elementRole, nameRole, listRole:
		switch {
		case t.Kind == lenient.ObjectOpen:
			e.pushCall(p)
			return
		case t.Kind == lenient.ArrayOpen && e.role != nameRole:
			e.stack = append(e.stack, aList)
			e.list, e.role = true, elementRole
			return
		case t.Kind == lenient.StringOpen && e.role == nameRole:
			e.collect(p, t)
			return
		}
	case argsRole:
		if e.argsValue(p, t) {
			return
		}
	case placeRole:
		if p.placed(t) {
			e.sink, e.role = argSink, argRole
			e.sinkToken(p, t)
			return
		}
		e.role = otherRole
	case argRole:
		e.sink = argSink
		e.sinkToken(p, t)
		return
	case idRole:
		if t.Kind == lenient.StringOpen {
			e.collect(p, t)
			return
		}
	}
	e.sink = otherSink
	e.w.Reset()
	e.sinkToken(p, t)
}

// pushCall opens an object with a call's fields; directly in a list it is a new call.
func (e *element) pushCall(p *Parser) {
	if n := len(e.stack); n > 0 && e.stack[n-1] == aList {
		if !p.cur.open {
			p.nextCall()
		}
		e.others, e.early, e.nameKey, e.hasArgs, e.begun, e.byKey, e.first = nil, nil, "", false, false, false, true
	}
	e.stack = append(e.stack, aCall)
}

// argsValue begins the arguments: an object, or a string that holds one.
func (e *element) argsValue(p *Parser, t lenient.Token) bool {
	e.hasArgs = true
	if p.cur.argsAt == noArgs || p.cur.pending {
		p.cur.argsAt = e.start + t.At
	}
	switch {
	case p.cur.pending:
		return false // kept until the name is known
	case t.Kind == lenient.ObjectOpen:
		e.stack = append(e.stack, args)
		e.begun = true
		return true
	case t.Kind == lenient.StringOpen:
		e.collect(p, t)
		return true
	}
	return false
}

// collect gathers a string.
func (e *element) collect(p *Parser, t lenient.Token) {
	e.sink, e.text = textSink, e.text[:0]
}

// sinkToken hands a token to the sink until its value is complete.
func (e *element) sinkToken(p *Parser, t lenient.Token) {
	if !e.unwraps(p, t) {
		return
	}
	switch t.Kind {
	case lenient.ObjectOpen, lenient.ArrayOpen:
		e.nest++
	case lenient.ObjectClose, lenient.ArrayClose:
		e.nest--
	}
	whole := e.nest == 0 && (t.Kind == lenient.ObjectClose || t.Kind == lenient.ArrayClose || t.Kind == lenient.StringClose || t.Kind == lenient.Scalar)
	switch e.sink {
	case argSink:
		p.argToken(t, whole)
	case otherSink:
		e.w.Token(t)
	case textSink:
		if t.Kind == lenient.StringPart {
			e.text = append(e.text, t.Text...)
		}
	}
	if whole {
		p.cur.end(e, t)
		e.sunk(p)
	}
}

// end notes where the arguments end, if t is their last token so far.
func (c *call) end(e *element, t lenient.Token) {
	if e.role == argsRole || e.role == argRole {
		c.argsEnd = e.start + t.End()
	}
}

// sunk uses a value that is complete.
func (e *element) sunk(p *Parser) {
	was := e.sink
	e.sink = noSink
	switch {
	case was == textSink && e.role == nameRole:
		if name := body.Unescape(e.text); name != "" {
			p.setName(name)
			e.named(p)
		}
	case was == textSink && e.role == idRole:
		p.cur.id = body.Unescape(e.text)
	case was == textSink:
		p.argsText(body.Unescape(e.text))
	case was == otherSink && e.role == argsRole:
		e.early = append(json.RawMessage(nil), e.w.Bytes()...)
		if !p.cur.pending {
			e.named(p)
		}
	case was == otherSink && e.role == otherRole:
		e.others = append(e.others, other{body.Field{Key: e.keyed, Value: append(json.RawMessage(nil), e.w.Bytes()...)}, e.lone})
	}
}

// named uses arguments that came before the name.
func (e *element) named(p *Parser) {
	if e.early != nil {
		at := p.cur.argsAt
		p.argsJSON(e.early)
		e.early, p.cur.argsAt = nil, at
	}
}

// positional expects an argument that is named by its place in the schema.
func (e *element) positional(p *Parser) {
	e.role, e.keyed, e.lone = placeRole, "", placed
	e.index++
}

// placed begins such an argument with its first token. False: there is no such
// place, or an object stands where no object is wanted: f({"x": 1}).
func (p *Parser) placed(t lenient.Token) bool {
	order, i := p.tools.Order(p.cur.name), p.cur.el.index-1
	if i >= len(order) {
		return false
	}
	if i == 0 && t.Kind == lenient.ObjectOpen {
		if k := p.tools.Kind(p.cur.name, order[0]); k != schema.Any && k != schema.Object && k != schema.Mixed {
			return false
		}
	}
	p.guess("/"+order[i], "", order[i], "positional argument")
	p.argKey(order[i])
	return true
}

// pop closes an object or a list.
func (e *element) pop(p *Parser, t lenient.Token) {
	if len(e.stack) == 0 {
		return
	}
	was := e.top()
	e.stack = e.stack[:len(e.stack)-1]
	if was == args {
		p.cur.end(e, t)
		return
	}
	if was == aCall && len(e.stack) > 0 && e.top() == aList {
		e.complete(p)
		if p.st == inElement && p.cur.open {
			p.finish()
			if p.st != inText {
				p.st = inElement
			}
		}
		e.role = elementRole
	}
}

// isNameKey reports whether a key of a call holds its name, or the call.
func isNameKey(k string) bool {
	switch strings.ToLower(k) {
	case "name", "tool_name", "tool", "function", "function_name", "action", "tool_call", "function_call", "functioncall", "recipient_name":
		return true
	}
	return false
}
