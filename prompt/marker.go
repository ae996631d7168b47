package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// fields are what the slots of a marker are filled with.
type fields struct {
	name, key, kind, id string
	n                   int
}

// maxSlot is the longest name that parse reads in a slot, in bytes.
const maxSlot = 256

// unsaid are the characters at which an open slot ends.
const unsaid = "<>{}[]()\"'=,|"

func (f fields) of(slot string) string {
	switch slot {
	case "name":
		return f.name
	case "key":
		return f.key
	case "type":
		return f.kind
	case "id":
		return f.id
	case "n":
		return strconv.Itoa(f.n)
	}
	return "" // {sfx} and {any} are written empty
}

// fill writes a marker. It fails if a slot cannot hold its value.
func fill(marker string, f fields) (string, error) {
	pieces, err := grammar.Split(marker)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, p := range pieces {
		switch p.Kind {
		case grammar.Slot:
			value := f.of(p.Text)
			if err := fits(p.Text, value, pieces[i+1:]); err != nil {
				return "", err
			}
			b.WriteString(value)
		case grammar.Attr:
			b.WriteString(p.Name + `="` + escapeAttr(attrValue(p, f)) + `"`)
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String(), nil
}

// attrValue is the slot's value, but for string="{type}", which asks whether
// the value is a text.
func attrValue(p grammar.Piece, f fields) string {
	if p.Text == "type" && p.Name == "string" {
		return strconv.FormatBool(f.kind == "string")
	}
	return f.of(p.Text)
}

// plain writes a marker without slots, or with empty ones.
func plain(marker string) string {
	text, err := fill(marker, fields{})
	if err != nil {
		return marker
	}
	return text
}

// fits reports why a value cannot stand in an open slot before rest.
func fits(slot, value string, rest []grammar.Piece) error {
	if slot == "sfx" || slot == "any" {
		return nil
	}
	if err := sayable(value); err != nil {
		return fmt.Errorf("%s: %w", slot, err)
	}
	if i := strings.IndexAny(value, unsaid); i >= 0 {
		return fmt.Errorf("%s %q: the marker cannot hold %q", slot, value, value[i])
	}
	if strings.ContainsFunc(value, unicode.IsSpace) || slot == "name" && strings.Contains(value, "/") {
		return fmt.Errorf("%s %q: the marker cannot hold a blank or a slash", slot, value)
	}
	if len(rest) > 0 && rest[0].Kind == grammar.Literal && strings.Contains(value, rest[0].Text) {
		return fmt.Errorf("%s %q: it contains %q, which ends it", slot, value, rest[0].Text)
	}
	return nil
}

// sayable reports what no grammar can hold as a name or key.
func sayable(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("it is empty")
	case len(s) > maxSlot:
		return fmt.Errorf("%.20q… is longer than %d bytes", s, maxSlot)
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("%q has a control character", s)
	}
	return nil
}

var textEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
var attrEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escapeText(s string) string { return textEscapes.Replace(s) }
func escapeAttr(s string) string { return attrEscapes.Replace(s) }
