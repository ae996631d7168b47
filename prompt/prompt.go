// Package prompt writes what package parse reads: calls, results and tools as
// the text of a grammar, and whole requests for models without native tools.
//
// A grammar names the form of its tool list, its manifest; every example in one
// is a call that parse reads back and that fits the tool's schema. A Writer can
// replace a tool's entry with custom text.
//
// It is the inverse of parse: what Call prints, parse reads back as the same
// call. A call that the grammar cannot say is an error, never a near miss.
package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Call prints one call as the model would write it, with its group around it.
// It fails if the grammar cannot say the call: a name or key that the marker
// cannot hold, arguments that are no JSON object, a text that would end its own
// argument.
func Call(g *grammar.Grammar, c utp.Call) (string, error) {
	return Calls(g, []utp.Call{c})
}

// Calls prints the calls of one turn. No calls are the empty string.
func Calls(g *grammar.Grammar, cs []utp.Call) (string, error) {
	p := printer{g: g}
	text, err := p.calls(cs)
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	return text, nil
}

// printer writes the calls of one conversation.
type printer struct {
	g *grammar.Grammar
	n int // calls written so far: the {n} of ids

	end string // the closer of the call being written
}

func (p *printer) calls(cs []utp.Call) (string, error) {
	if len(cs) == 0 {
		return "", nil
	}
	texts := make([]string, len(cs))
	for i, c := range cs {
		text, err := p.call(c)
		if err != nil {
			return "", fmt.Errorf("grammar %s: calls[%d] (%s): %w", p.g.Name, i, c.Name, err)
		}
		texts[i] = text
		p.n++
	}
	if _, ok := callRoute(p.g); ok {
		return strings.Join(texts, ""), nil
	}
	return strings.TrimRight(p.group(strings.Join(texts, p.separator())), " \t\r\n"), nil
}

// call prints one call: without its group, or as a whole message where calls
// are messages.
func (p *printer) call(c utp.Call) (string, error) {
	args, err := object(c)
	if err != nil {
		return "", err
	}
	if err := sayable(c.Name); err != nil {
		return "", fmt.Errorf("name: %w", err)
	}
	slots := fields{name: c.Name, id: p.id(c), n: p.n}
	if p.end, err = fill(p.g.Call.Close, slots); err != nil {
		return "", err
	}
	text, err := p.body(c, args, slots)
	if err != nil {
		return "", err
	}
	if text, err = p.around(text, slots); err != nil {
		return "", err
	}
	r, ok := callRoute(p.g)
	if !ok {
		return text, nil
	}
	open, err := fill(r.Write.Open, slots)
	if err != nil {
		return "", err
	}
	if as, ok := taken(p.g, open); ok {
		return "", fmt.Errorf("name: %q is how this grammar begins its %s", c.Name, as)
	}
	return open + p.group(text) + plain(r.Write.Close), nil
}

// around puts the call's own fence around its body.
func (p *printer) around(body string, slots fields) (string, error) {
	open, err := fill(p.g.Call.Open, slots)
	if err != nil {
		return "", err
	}
	return open + body + p.end, nil
}

func (p *printer) body(c utp.Call, args json.RawMessage, slots fields) (string, error) {
	switch p.g.Body {
	case grammar.JSON:
		return p.envelope(c, args) + plain(p.g.Arg.Open), nil
	case grammar.Python:
		return python(c.Name, args)
	case grammar.Tagged:
		return p.tagged(args)
	case grammar.Args:
		return p.args(args, slots)
	}
	return "", fmt.Errorf("body %q: want json, args, tagged or python", p.g.Body)
}

// group puts the turn's fence around its calls.
func (p *printer) group(text string) string {
	return plain(p.g.Group.Open) + text + plain(p.g.Group.Close)
}

// separator is what stands between two calls of a turn.
func (p *printer) separator() string {
	g := p.g
	switch open := strings.TrimSpace(g.Group.Open); {
	case strings.HasSuffix(open, "["):
		return ", "
	case strings.HasSuffix(g.Call.Close, "\n"):
		return ""
	case open != "" && g.Call.Open != "":
		return ""
	}
	return "\n"
}

// envelope is the object that carries the name and the arguments.
func (p *printer) envelope(c utp.Call, args json.RawMessage) string {
	f := p.g.Fields
	if f.Name == "{name}" {
		return "{" + quote(c.Name) + ": " + spaced(args) + "}"
	}
	var b strings.Builder
	b.WriteByte('{')
	if f.ID != "" {
		b.WriteString(quote(f.ID) + ": " + quote(p.id(c)) + ", ")
	}
	b.WriteString(quote(or(f.Name, "name")) + ": " + quote(c.Name) + ", ")
	b.WriteString(quote(or(f.Args, "arguments")) + ": " + spaced(args) + "}")
	return wrapped(b.String(), f.In)
}

// wrapped puts an object into those of a path of keys, the outer first.
func wrapped(object, path string) string {
	if path == "" {
		return object
	}
	keys := strings.Split(path, ".")
	for _, key := range slices.Backward(keys) {
		object = "{" + quote(key) + ": " + object + "}"
	}
	return object
}

// id is the id to write: the call's own if the dialect could have written it,
// else a new one in the dialect's form, else a number.
func (p *printer) id(c utp.Call) string {
	form := p.g.ID
	if form == "" {
		return or(c.ID, strconv.Itoa(p.n))
	}
	head, tail, _ := strings.Cut(strings.ReplaceAll(form, "{name}", c.Name), "{n}")
	for _, id := range []string{c.ID, c.OrigID} {
		if n, ok := strings.CutPrefix(id, head); ok {
			if n, ok = strings.CutSuffix(n, tail); ok && digits(n) {
				return id
			}
		}
	}
	return head + strconv.Itoa(p.n) + tail
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// callRoute is the message form of a call, for dialects that speak in messages.
func callRoute(g *grammar.Grammar) (grammar.Route, bool) {
	for _, r := range g.Routes {
		if r.As == grammar.CallRoute && r.Write.Open != "" {
			return r, true
		}
	}
	return grammar.Route{}, false
}

// taken reports a call's header that leads to text or thinking: of a tool that is
// called like the place for them.
func taken(g *grammar.Grammar, open string) (grammar.RouteKind, bool) {
	for _, r := range g.Routes {
		_, after, ok := strings.Cut(open, r.Has)
		if r.As != grammar.CallRoute && r.Has != "" && ok && (after == "" || !isWord(after[0])) {
			return r.As, true
		}
	}
	return "", false
}

func isWord(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// object is the call's arguments, checked. A custom call's text becomes the
// argument "input".
func object(c utp.Call) (json.RawMessage, error) {
	if c.Kind == utp.CustomCall {
		return json.RawMessage(`{"input":` + quote(c.RawArgs) + `}`), nil
	}
	args := c.Args
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	if !json.Valid(args) || kindOf(args) != '{' {
		return nil, fmt.Errorf("arguments: want a JSON object, have %.60q", args)
	}
	return args, nil
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
