package parse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/lenient"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// inList reports whether an open list holds the calls, with no marker of its own.
func (p *Parser) inList() bool { return p.block.lists > 0 || p.block.group != nil && p.bareBlock() }

// quoted begins a string that holds a call. In a list its end is told by what may
// follow an element, so that quotes within it need no escapes.
func (e *element) quoted(p *Parser) {
	e.reset(lenient.Options{Python: true}, otherRole, p.at())
	e.lone = quotedCall
	if p.inList() {
		e.r.Next("[")
		e.start, e.primed = e.start-1, true
	}
}

// pair begins (name, {arguments}) or ["name", {arguments}].
func (e *element) pair(p *Parser) {
	e.reset(lenient.Options{Python: true}, otherRole, p.at())
	e.lone = pairedCall
}

// lookPair accepts what stands after the bracket of ("name", {…}).
func (p *Parser) lookPair(v scan.View) scan.Found {
	_, v = v.Blanks()
	if v.S == "" {
		return v.Ask()
	}
	if v.S[0] != '"' && v.S[0] != '\'' {
		return scan.No
	}
	n := 1 + scan.Word(v.S[1:])
	switch {
	case n == len(v.S) && n <= scan.MaxSlot:
		return v.Ask()
	case n == len(v.S) || v.S[n] != v.S[0] || !p.tools.plainly(v.S[1:n]):
		return scan.No
	}
	_, v = v.From(n + 1).Blanks()
	if v.S == "" {
		return v.Ask()
	}
	_, inner := v.From(1).Blanks()
	switch {
	case v.S[0] != ',':
		return scan.No
	case inner.S == "":
		return inner.Ask()
	}
	return scan.Either(inner.S[0] == '{')
}

// lookListPair is lookPair for a list: ["name", {…}].
func (p *Parser) lookListPair(v scan.View) scan.Found {
	if v.S == "" || v.S[0] != '[' {
		return scan.No
	}
	return p.lookPair(v.From(1))
}

// lookKeyed accepts what stands after the brace of name{key: …}: a name alone is no
// key of JSON, but one of the tool's arguments is one.
func (p *Parser) lookKeyed(name string, v scan.View) scan.Found {
	_, v = v.Blanks()
	n := scan.Word(v.S)
	if n == len(v.S) && n <= scan.MaxSlot {
		return v.Ask()
	}
	if n == 0 || v.S[n-1] != ':' && n == len(v.S) {
		return scan.No
	}
	key := strings.TrimRight(v.S[:n], ":")
	_, rest := v.From(len(key)).Blanks()
	switch own, _, ok := p.tools.resolve(name); {
	case rest.S == "":
		return rest.Ask()
	case !ok || rest.S[0] != ':' || !slices.Contains(p.tools.Order(own), key):
		return scan.No
	}
	return scan.Yes
}

// wrapping are keys of an object whose only value may be a call as text.
var wrapping = map[string]bool{"content": true, "response": true, "output": true}

// wraps reports whether the object may hold a call as the text of its only key.
func (e *element) wraps(p *Parser, key string) bool {
	return e.first && p.cur.pending && len(e.stack) == 1 && wrapping[key] && !p.inList()
}

// unwraps gives up such a text as soon as it is known to be none.
func (e *element) unwraps(p *Parser, t lenient.Token) bool {
	if !e.wrapped || e.sink != otherSink || t.Kind != lenient.StringPart && t.Kind != lenient.ObjectOpen && t.Kind != lenient.ArrayOpen && t.Kind != lenient.Scalar {
		return true
	}
	text := strings.TrimLeft(t.Text, " ")
	if t.Kind == lenient.StringPart && text == "" {
		return true
	}
	e.wrapped = t.Kind == lenient.StringPart && text[0] == '{'
	if !e.wrapped && p.tries.trying() {
		p.giveBack()
		return false
	}
	e.wrapped = false
	return true
}

// fromText takes the only text of an object for a call, if it is a sound one and
// nothing else.
func (e *element) fromText(p *Parser) bool {
	if len(e.others) != 1 || !wrapping[e.others[0].Key] || !p.cur.pending || e.others[0].Value[0] != '"' {
		return false
	}
	var s string
	_ = json.Unmarshal(e.others[0].Value, &s)
	r := p.inner(s)
	calls := r.Calls()
	if len(calls) != 1 || strings.TrimSpace(r.Text()) != "" || !p.tools.sound(calls[0].Name, calls[0].Args) {
		return false
	}
	p.adopt(r, "written as a string")
	return true
}

// guessed lists the arguments whose values were text without quotes.
func (e *element) guessed() (out []utp.Fix) {
	for _, f := range e.r.Fixes() {
		if f.Why == lenient.BareWord {
			out = append(out, utp.Fix(f))
		}
	}
	return out
}

// mayGuessWords reports whether the text without quotes in f(k=v) is certain to be
// text: every key is one of the tool's, and no value is the name of one, as
// variables have it. Where nothing but the call says that it is one, a word that
// may be a variable is none either.
func (p *Parser) mayGuessWords() bool {
	c, order := &p.cur, p.tools.Order(p.cur.name)
	words := p.cur.el.guessed()
	if len(words) == 0 {
		return true
	}
	strict := p.reads == callText || p.cur.el.alone
	for _, f := range words {
		if slices.Contains(order, f.Was) || strict && isVariable(f.Was) {
			return false
		}
		if key, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/"); strict && !slices.Contains(c.keys, key) {
			return false
		}
	}
	unknown := func(key string) bool { return !slices.Contains(order, key) }
	return !strict || c.declared && !slices.ContainsFunc(c.keys, unknown)
}

// isVariable reports whether a word looks like the name of a variable.
func isVariable(s string) bool {
	return len(s) <= 2 || strings.ContainsAny(s, "_.") && !strings.Contains(s, " ")
}
