package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var identifier = regexp.MustCompile(`^[\pL_][\pL\pN_.-]*$`)

// python writes f(k=v, …).
func python(name string, args json.RawMessage) (string, error) {
	if !identifier.MatchString(name) {
		return "", fmt.Errorf("name %q: python form needs an identifier", name)
	}
	ms, err := members(args)
	if err != nil {
		return "", err
	}
	words := make([]string, len(ms))
	for i, m := range ms {
		if !identifier.MatchString(m.key) || strings.ContainsAny(m.key, ".-") {
			return "", fmt.Errorf("key %q: python form needs an identifier", m.key)
		}
		words[i] = m.key + "=" + literal(m.value)
	}
	return name + "(" + strings.Join(words, ", ") + ")", nil
}

var pythonWords = map[byte]string{'t': "True", 'f': "False", 'n': "None"}

// literal writes a value as Python. JSON's strings are Python's but for "\/".
func literal(v json.RawMessage) string {
	switch kind := kindOf(v); kind {
	case '"':
		if s := string(bytes.TrimSpace(v)); !strings.Contains(s, `\/`) {
			return s
		}
		return quote(unquote(v))
	case '[':
		list, _ := elements(v)
		words := make([]string, len(list))
		for i, e := range list {
			words[i] = literal(e)
		}
		return "[" + strings.Join(words, ", ") + "]"
	case '{':
		ms, _ := members(v)
		words := make([]string, len(ms))
		for i, m := range ms {
			words[i] = quote(m.key) + ": " + literal(m.value)
		}
		return "{" + strings.Join(words, ", ") + "}"
	default:
		return or(pythonWords[kind], string(bytes.TrimSpace(v)))
	}
}

var bareKey = regexp.MustCompile(`^[\pL_][\pL\pN_-]*$`)

// quoted writes a value in the language of a grammar with its own string
// delimiter: bare keys, no blanks.
func quoted(v json.RawMessage, delimiter string) (string, error) {
	switch kindOf(v) {
	case '"':
		return delimit(unquote(v), delimiter)
	case '[':
		list, err := elements(v)
		if err != nil {
			return "", err
		}
		words := make([]string, len(list))
		for i, e := range list {
			if words[i], err = quoted(e, delimiter); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(words, ",") + "]", nil
	case '{':
		return quotedObject(v, delimiter)
	}
	return string(bytes.TrimSpace(v)), nil
}

func quotedObject(v json.RawMessage, delimiter string) (string, error) {
	ms, err := members(v)
	if err != nil {
		return "", err
	}
	words := make([]string, len(ms))
	for i, m := range ms {
		key := m.key
		if !bareKey.MatchString(key) {
			if key, err = delimit(key, delimiter); err != nil {
				return "", err
			}
		}
		value, err := quoted(m.value, delimiter)
		if err != nil {
			return "", err
		}
		words[i] = key + ":" + value
	}
	return "{" + strings.Join(words, ",") + "}", nil
}

func delimit(s, delimiter string) (string, error) {
	if strings.Contains(s, delimiter) {
		return "", fmt.Errorf("a text contains the delimiter %s", delimiter)
	}
	return delimiter + s + delimiter, nil
}
