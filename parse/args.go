package parse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/lenient"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// argument is the top-level argument being read.
type argument struct {
	key    string
	stream bool // a string that is passed on as it comes
	w      lenient.Writer
}

// argKey begins an argument.
func (p *Parser) argKey(key string) {
	c := &p.cur
	key = body.Valid(key)
	own, fix := p.tools.Key(c.name, key)
	if fix != nil {
		c.fixes = append(c.fixes, *fix)
	}
	if len(c.keys) == 0 {
		if p.isResult(own) {
			p.giveBack()
			return
		}
		p.firstKey(own)
	}
	p.sawValue()
	p.again(own)
	c.holds = c.holds || p.repeats(own)
	if p.tries.trying() && p.tries.trial().bare && !p.tries.trial().whole && !c.holds && c.declared {
		p.accept()
	}
	p.startCall()
	c.keys = append(c.keys, own)
	c.args.key, c.args.stream = own, false
	if len(c.keys) > 1 {
		c.buf = append(c.buf, ',')
	} else {
		c.buf = append(c.buf, '{')
	}
	c.buf = body.AppendString(c.buf, own)
	c.buf = append(c.buf, ':')
	c.valueAt = len(c.buf)
}

// isResult reports whether {tool: {key: …}} as ordinary text is no call: the
// tool has no such argument.
func (p *Parser) isResult(key string) bool {
	order := p.tools.Order(p.cur.name)
	return p.tries.trying() && p.tries.trial().bare && p.cur.el.byKey && len(order) > 0 && !slices.Contains(order, key)
}

// firstKey sees whether the arguments may turn out to be something else.
func (p *Parser) firstKey(key string) {
	c := &p.cur
	known := slices.Contains(p.tools.Order(c.name), key)
	if !known && schema.Wraps(key) {
		c.holds = true
	}
	if !known && p.cur.el.mayDefine() && (key == "type" || key == "properties" || key == "$schema" || key == "required") {
		c.holds = true
	}
}

// argToken takes a token of the argument's value. whole says that it ends it.
func (p *Parser) argToken(t lenient.Token, whole bool) {
	c := &p.cur
	a := &c.args
	if t.Kind == lenient.StringOpen && a.w.Len() == 0 && !a.stream && p.tools.Kind(c.name, a.key).Text() {
		a.stream = true
		c.buf = append(c.buf, '"')
		return
	}
	if a.stream {
		p.streamed(t)
		return
	}
	a.w.Token(t)
	if whole {
		p.argValue(append(json.RawMessage(nil), a.w.Bytes()...))
		a.w.Reset()
	}
}

// streamed passes on a piece of a string argument.
func (p *Parser) streamed(t lenient.Token) {
	c := &p.cur
	switch t.Kind {
	case lenient.StringPart:
		p.piece(t.Text)
	case lenient.StringClose:
		c.buf = append(c.buf, '"')
		c.args.stream = false
	}
}

// piece sends a JSON-escaped piece of a string argument.
func (p *Parser) piece(escaped string) {
	c := &p.cur
	if escaped == "" {
		return
	}
	direct := c.started && !c.holds && !p.cfg.Check && c.sent == len(c.buf)
	c.buf = append(c.buf, escaped...)
	if p.st == inElement && p.watch() {
		return
	}
	if !direct {
		p.flush()
		return
	}
	c.sent = len(c.buf)
	p.sendText(utp.EventCallDelta, c.part, escaped, p.take())
}

// streamText passes on text of a string argument, escaped on the way. Short
// text, as in a stream, goes out in pieces that need no memory of their own.
func (p *Parser) streamText(text string) {
	if len(text) > maxPiece {
		from := len(p.cur.buf)
		p.cur.buf = body.AppendEscaped(p.cur.buf, text)
		escaped := string(p.cur.buf[from:])
		p.cur.buf = p.cur.buf[:from]
		p.piece(escaped)
		return
	}
	from := 0
	for i := range len(text) {
		if esc := body.Escapes[text[i]]; esc != "" {
			p.piece(text[from:i])
			p.piece(esc)
			from = i + 1
		}
	}
	p.piece(text[from:])
}

const maxPiece = 64

// argValue writes a complete value, typed by the schema.
func (p *Parser) argValue(v json.RawMessage) {
	c := &p.cur
	v, fixes := p.tools.Value(c.name, c.args.key, v)
	c.fixes = append(c.fixes, fixes...)
	c.buf = body.AppendCompact(c.buf, v)
	if c.twice == "" && (v[0] == '{' || v[0] == '[') {
		if at := schema.Twice(v); at != "" {
			c.twice = c.args.key + at
		}
	}
}

// argField writes a whole argument.
func (p *Parser) argField(f body.Field) {
	p.argKey(f.Key)
	p.argValue(f.Value)
}

// argsJSON takes arguments that are JSON: an object, or the value of the only
// argument.
func (p *Parser) argsJSON(v json.RawMessage) {
	v = json.RawMessage(strings.TrimSpace(string(v)))
	switch {
	case len(v) == 0 || string(v) == "null" || string(v) == `""`:
		return
	case v[0] == '"':
		var s string
		if json.Unmarshal(v, &s) == nil {
			p.argsText(s)
			return
		}
	case v[0] == '{':
		for _, f := range body.Fields(v) {
			p.argField(f)
		}
		return
	case v[0] == '[' && len(p.cur.el.guessed()) > 0: // an id, or a reference
		p.broken("the arguments are no object", "{")
		return
	case v[0] == '[' && !p.cur.el.lists() && p.placeAll(v):
		return
	}
	p.sole(v)
}

// lists reports whether the arguments stand where a document may count or list
// what a function takes: there only an object is arguments.
func (e *element) lists() bool { return e.argsKey == "params" || e.argsKey == "param" }

// placeAll takes a list for all arguments in the schema's order, unless the
// first one is a list itself.
func (p *Parser) placeAll(list json.RawMessage) bool {
	c := &p.cur
	order := p.tools.Order(c.name)
	var values []json.RawMessage
	if len(order) == 0 || json.Unmarshal(list, &values) != nil || len(values) > len(order) {
		return false
	}
	switch p.tools.Kind(c.name, order[0]) {
	case schema.Any, schema.Array, schema.Mixed:
		return false
	}
	for i, v := range values {
		if k := p.tools.Kind(c.name, order[i]); v[0] == '{' && k != schema.Any && k != schema.Object && k != schema.Mixed {
			return false
		}
	}
	for i, v := range values {
		p.guess("/"+order[i], "", order[i], "positional argument")
		p.argField(body.Field{Key: order[i], Value: v})
	}
	return true
}

// argsText takes arguments that are text: an object written as a string, or
// the text of the only argument.
func (p *Parser) argsText(s string) {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" || trimmed == "null" {
		return
	}
	if trimmed[0] == '{' {
		if v, n, fixes, err := lenient.Repair(trimmed, p.mending()); err == nil && strings.TrimSpace(trimmed[n:]) == "" {
			p.cur.fixes = append(p.cur.fixes, utp.Fixes(fixes)...)
			p.argsJSON(v)
			return
		}
	}
	p.sole(body.Quote(s))
}

// sole gives a lone value to the tool's only argument.
func (p *Parser) sole(v json.RawMessage) {
	key, ok := p.tools.Sole(p.cur.name)
	if !ok || p.cur.el.lists() {
		p.broken("the arguments are no object", "{")
		return
	}
	p.guess("/"+key, "", key, "a lone value for the only argument")
	p.argField(body.Field{Key: key, Value: v})
}

// closeArgs completes the arguments' JSON.
func (p *Parser) closeArgs() {
	c := &p.cur
	if len(c.keys) == 0 {
		c.buf = append(c.buf, "{}"...)
		return
	}
	p.sawValue()
	c.buf = append(c.buf, '}')
	if !c.holds {
		return
	}
	switch fields := body.Fields(c.buf); {
	case p.isDefinition(fields):
		c.echo = true
	case len(fields) == 1 && schema.Wraps(fields[0].Key) && p.wraps(fields[0]):
	case c.twiceAt > 0:
		p.settleTwice(fields)
	}
}

// mayDefine reports whether the arguments stand where a tool's definition has its
// JSON Schema.
func (e *element) mayDefine() bool {
	return e.argsKey == "parameters" || e.argsKey == "params" || e.argsKey == "param"
}

// isDefinition reports whether the arguments are a JSON Schema.
func (p *Parser) isDefinition(fields []body.Field) bool {
	if !p.cur.el.mayDefine() {
		return false
	}
	for _, f := range fields {
		if f.Key == "properties" && f.Value[0] == '{' || f.Key == "type" && string(f.Value) == `"object"` {
			return true
		}
	}
	return false
}

// wraps unwraps arguments that stand in one argument the tool does not have.
func (p *Parser) wraps(f body.Field) bool {
	c := &p.cur
	if slices.Contains(p.tools.Order(c.name), f.Key) {
		return false
	}
	v := f.Value
	var text string
	if json.Unmarshal(v, &text) == nil {
		if fixed, n, _, err := lenient.Repair(text, lenient.Options{}); err == nil && strings.TrimSpace(text[n:]) == "" {
			v = fixed
		}
	}
	if len(v) == 0 || v[0] != '{' {
		return false
	}
	inner := body.Fields(v)
	if f.Key != "" && !p.known(inner) {
		return false
	}
	c.fixes = append(c.fixes, utp.Fix{Path: "/" + f.Key, Why: "arguments in a wrapper"})
	c.buf, c.keys, c.valueAt = c.buf[:0], c.keys[:0], 0
	for _, in := range inner {
		p.argField(in)
	}
	p.sawValue()
	if len(c.keys) == 0 {
		c.buf = append(c.buf, '{')
	}
	c.buf = append(c.buf, '}')
	return true
}

// knownAll reports whether the tool has all of these arguments.
func (p *Parser) knownAll(fields []body.Field) bool {
	order := p.tools.Order(p.cur.name)
	for _, f := range fields {
		if key, _ := p.tools.Key(p.cur.name, f.Key); !slices.Contains(order, key) {
			return false
		}
	}
	return true
}

// known reports whether the tool has one of these arguments, or there are none.
func (p *Parser) known(fields []body.Field) bool {
	order := p.tools.Order(p.cur.name)
	for _, f := range fields {
		if key, _ := p.tools.Key(p.cur.name, f.Key); slices.Contains(order, key) {
			return true
		}
	}
	return len(fields) == 0
}
