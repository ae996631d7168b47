package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// args writes the arguments of a call whose name stands in a marker.
func (p *printer) args(args json.RawMessage, slots fields) (string, error) {
	if text, ok := p.plainText(args); ok {
		return text, nil
	}
	if p.g.Quote == "" {
		return spaced(args), nil
	}
	return quoted(args, p.g.Quote)
}

// plainText is the value of the one text argument that may stand as the whole
// body, if it cannot be taken for anything else.
func (p *printer) plainText(args json.RawMessage) (string, bool) {
	ms, err := members(args)
	if p.g.Text == "" || err != nil || len(ms) != 1 || ms[0].key != p.g.Text || kindOf(ms[0].value) != '"' {
		return "", false
	}
	text := unquote(ms[0].value)
	if text == "" || text != strings.TrimSpace(text) || strings.ContainsRune("{[\"`", rune(text[0])) {
		return "", false
	}
	if p.g.Line && strings.ContainsAny(text, "\r\n") {
		return "", false
	}
	return text, p.marker(text, "") == ""
}

// tagged writes each member of an object as an argument.
func (p *printer) tagged(object json.RawMessage) (string, error) {
	ms, err := members(object)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, m := range ms {
		text, err := p.arg(m)
		if err != nil {
			return "", fmt.Errorf("argument %q: %w", m.key, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (p *printer) arg(m member) (string, error) {
	slots := fields{key: m.key, kind: typeName(m.value)}
	open, err := fill(p.g.Arg.Open, slots)
	if err != nil {
		return "", err
	}
	end, err := fill(p.g.Arg.Close, slots)
	if err != nil {
		return "", err
	}
	text, err := p.tagValue(m.value, end)
	return open + text + end, err
}

// tagValue writes a value between tags: a text as it is, in a grammar with
// items lists and objects as elements, everything else as JSON.
func (p *printer) tagValue(v json.RawMessage, end string) (string, error) {
	kind := kindOf(v)
	if p.g.Item.Open != "" && (kind == '[' || kind == '{') {
		text, err := p.nested(v, kind)
		if text != "" || err != nil {
			return text, err
		}
	}
	text := spaced(v)
	if kind == '"' {
		if text = unquote(v); p.g.Quoted && strings.HasPrefix(text, `"`) {
			text = spaced(v)
		}
	}
	if p.g.XML {
		return escapeText(text), nil
	}
	marker := p.marker(text, end)
	if marker != "" && kind != '"' {
		text = strings.ReplaceAll(text, "<", `\u003c`)
		marker = p.marker(text, end)
	}
	switch {
	case marker != "":
		return "", fmt.Errorf("its text contains %s, which would end it", marker)
	case strings.HasSuffix(text, "\r") && strings.HasPrefix(end, "\n"):
		return "", fmt.Errorf("its text ends in a carriage return, which the closer's newline would take along")
	}
	return text, nil
}

// nested writes a list or an object as elements; an empty one as "".
func (p *printer) nested(v json.RawMessage, kind byte) (string, error) {
	if kind == '{' {
		return p.tagged(v)
	}
	list, err := elements(v)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range list {
		text, err := p.tagValue(e, p.g.Item.Close)
		if err != nil {
			return "", err
		}
		b.WriteString(p.g.Item.Open + text + p.g.Item.Close)
	}
	return b.String(), nil
}

// marker finds markup in a text that would end the argument it stands in: its
// closer, or a marker of another level. parse reads markers in any case.
func (p *printer) marker(text, end string) string {
	text = strings.ToLower(text)
	for _, m := range append([]string{end, p.end}, p.enders()...) {
		if m = firstLiteral(m); hasLetter(m) && strings.Contains(text, strings.ToLower(m)) {
			return m
		}
	}
	return ""
}

// enders lists the markers of other levels that end a value.
func (p *printer) enders() (out []string) {
	all := p.g.Markers()
	for _, name := range []string{"arg.open", "arg.close", "item.open", "item.close", "call.open", "call.close",
		"group.open", "group.close", "header.open", "end"} {
		out = append(out, all[name]...)
	}
	return out
}

// firstLiteral is the literal that a marker begins with. One without a letter
// (the "<" of "<{key}>") ends nothing by itself.
func firstLiteral(marker string) string {
	pieces, err := grammar.Split(strings.TrimSpace(marker))
	if err != nil || len(pieces) == 0 || pieces[0].Kind != grammar.Literal {
		return ""
	}
	return pieces[0].Text
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter)
}
