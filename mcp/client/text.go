package client

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxDescription = 1024 // bytes of a tool's description that a model gets
	maxArgument    = 400  // bytes of an argument's
	maxSaid        = 2000 // bytes of an error of a server's
)

// clean is a text of a server's without what would make it look like something
// else: control characters, those that change the direction of writing or are not
// seen, and the openings of markup. A tag keeps its name and loses its bracket.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	s = strings.Map(visible, s)
	return brackets.ReplaceAllString(angles.ReplaceAllString(s, "‹$1"), "($1)")
}

// angles open a tag or a token of a chat; brackets are such tokens as [INST].
var (
	angles   = regexp.MustCompile(`<([\pL/|!?%_<｜▁])`)
	brackets = regexp.MustCompile(`\[(/?[A-Z][A-Z_ ]{2,})\]`)
)

// visible drops a character that is not seen. Joiners stay, for scripts need them.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == '\u200c', r == '\u200d':
		return r
	case r == '\u2028', r == '\u2029':
		return '\n'
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return -1
	}
	return r
}

// cut is at most n bytes of s.
func cut(s string, n int) (kept string, rest int) {
	if len(s) <= n {
		return s, 0
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], len(s) - n
}

// shortened is a cleaned text of n bytes that says what it lacks. Lines after the
// first are indented: none can pass for a line of what stands around it.
func shortened(s string, n int) string {
	text, rest := cut(strings.TrimSpace(clean(s)), n)
	if rest > 0 {
		text = fmt.Sprintf("%s… [%d bytes cut]", strings.TrimSpace(text), rest)
	}
	return strings.ReplaceAll(text, "\n", "\n  ")
}

// line is a short text of a server's, for a person.
func line(s string) string {
	text, _ := cut(strings.Join(strings.Fields(clean(s)), " "), maxSaid)
	return text
}

// errMarkup says why a schema is not passed on.
type errMarkup struct{ where string }

func (e errMarkup) Error() string { return "its schema has markup or control characters in " + e.where }

// maxDepth is how deep a schema may be nested.
const maxDepth = 40

// cleanSchema cleans the words of a schema for people, and refuses one with markup
// in what calls have to repeat: names and values.
func cleanSchema(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("its schema is nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		return cleanKeywords(v, depth)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			c, err := cleanSchema(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return out, nil
	case string:
		if clean(v) != v {
			return nil, errMarkup{fmt.Sprintf("a value (%q)", line(v))}
		}
	}
	return v, nil
}

// cleanKeywords cleans an object whose keys are words of JSON Schema. A pattern
// with markup goes: the server checks for itself.
func cleanKeywords(m map[string]any, depth int) (any, error) {
	out := make(map[string]any, len(m))
	for key, value := range m {
		text, isText := value.(string)
		names, hasNames := value.(map[string]any)
		c, err := any(nil), error(nil)
		switch {
		case key == "$comment", key == "examples", key == "pattern" && isText && clean(text) != text:
			continue
		case isText && (key == "description" || key == "title"):
			c = shortened(text, maxArgument)
		case hasNames && (key == "properties" || key == "$defs" || key == "definitions" || key == "patternProperties"):
			c, err = cleanNames(names, depth+1)
		case clean(key) != key:
			err = errMarkup{fmt.Sprintf("a name (%q)", line(key))}
		default:
			c, err = cleanSchema(value, depth+1)
		}
		if err != nil {
			return nil, err
		}
		out[key] = c
	}
	return out, nil
}

// cleanNames cleans an object whose keys are names, each with a schema.
func cleanNames(m map[string]any, depth int) (any, error) {
	out := make(map[string]any, len(m))
	for name, value := range m {
		if clean(name) != name {
			return nil, errMarkup{fmt.Sprintf("a name (%q)", line(name))}
		}
		c, err := cleanSchema(value, depth+1)
		if err != nil {
			return nil, err
		}
		out[name] = c
	}
	return out, nil
}

// schemaOf is a tool's schema for a model.
func schemaOf(raw json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	if v == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("its schema is no object")
	}
	c, err := cleanSchema(object, 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(c)
}
