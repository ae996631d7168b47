package clientfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// value is a value of a JSON text, by where it stands.
type value struct {
	start, end int
	members    []member // of an object
}

// member is a key of an object and its value.
type member struct {
	key   int // where the key begins
	name  string
	value value
	comma int // where the comma after it is; -1: there is none
}

func (v value) object(text string) bool { return text[v.start] == '{' }

// member finds a member by name. As in JSON's readers the last of several counts.
func (v value) member(name string) int {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return i
		}
	}
	return -1
}

// maxDepth is how deep values may lie in each other.
const maxDepth = 500

// reader reads JSON with comments and commas before a closer, as editors write it.
type reader struct {
	text string
	at   int
}

// read reads a whole text.
func read(text string) (v value, err error) {
	r := &reader{text: text}
	r.at = len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	if v, err = r.value(0); err == nil {
		if err = r.space(); err == nil && r.at < len(text) {
			err = errors.New("there is more after the end")
		}
	}
	if err != nil {
		line := 1 + strings.Count(text[:r.at], "\n")
		return v, fmt.Errorf("line %d, column %d: %w", line, r.at-strings.LastIndexByte(text[:r.at], '\n'), err)
	}
	return v, nil
}

// space passes over blanks and comments.
func (r *reader) space() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			r.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return errors.New("a comment does not end")
			}
			r.at += end + 2
		default:
			return nil
		}
	}
	return nil
}

// next is the sign after blanks and comments; 0 is the end.
func (r *reader) next() (byte, error) {
	if err := r.space(); err != nil || r.at == len(r.text) {
		return 0, err
	}
	return r.text[r.at], nil
}

func (r *reader) value(depth int) (v value, err error) {
	c, err := r.next()
	v.start = r.at
	switch {
	case err != nil:
		return v, err
	case depth > maxDepth:
		return v, errors.New("the values lie too deep in each other")
	case c == '{':
		v.members, err = r.object(depth)
	case c == '[':
		err = r.list(depth)
	case c == '"':
		_, err = r.quoted()
	default:
		err = r.word()
	}
	v.end = r.at
	return v, err
}

func (r *reader) object(depth int) (members []member, err error) {
	r.at++
	for {
		c, err := r.next()
		if err != nil {
			return nil, err
		}
		if c == '}' {
			r.at++
			return members, nil
		}
		if n := len(members); n > 0 && members[n-1].comma < 0 {
			return nil, errors.New("want , or }")
		}
		if c != '"' {
			return nil, errors.New(`want a key in "quotes"`)
		}
		m := member{key: r.at, comma: -1}
		if m.name, err = r.quoted(); err != nil {
			return nil, err
		}
		if c, err = r.next(); err != nil || c != ':' {
			return nil, errors.Join(errors.New("want : after the key"), err)
		}
		r.at++
		if m.value, err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if m.comma, err = r.comma(); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
}

func (r *reader) list(depth int) error {
	r.at++
	for more := true; ; {
		c, err := r.next()
		if err != nil {
			return err
		}
		if c == ']' {
			r.at++
			return nil
		}
		if !more {
			return errors.New("want , or ]")
		}
		if _, err := r.value(depth + 1); err != nil {
			return err
		}
		comma, err := r.comma()
		if err != nil {
			return err
		}
		more = comma >= 0
	}
}

// comma passes over a comma, and gives where it is; -1 is nowhere.
func (r *reader) comma() (int, error) {
	c, err := r.next()
	if err != nil || c != ',' {
		return -1, err
	}
	r.at++
	return r.at - 1, nil
}

func (r *reader) quoted() (s string, err error) {
	for end := r.at + 1; end < len(r.text); end++ {
		switch r.text[end] {
		case '\\':
			end++
		case '"':
			if err = json.Unmarshal([]byte(r.text[r.at:end+1]), &s); err != nil {
				return "", errors.New("this text in quotes is not valid")
			}
			r.at = end + 1
			return s, nil
		}
	}
	return "", errors.New("a text in quotes does not end")
}

// word reads a number, true, false or null.
func (r *reader) word() error {
	end := r.at
	for end < len(r.text) && !strings.ContainsRune(" \t\r\n,:]}{[\"/", rune(r.text[end])) {
		end++
	}
	if !json.Valid([]byte(r.text[r.at:end])) {
		return errors.New("want a value")
	}
	r.at = end
	return nil
}

// pure is a text without its comments and spare commas.
func pure(text string) string {
	var out strings.Builder
	r := &reader{text: strings.TrimPrefix(text, "\ufeff")}
	for spare := false; ; {
		c, err := r.next()
		if err != nil || c == 0 {
			return out.String()
		}
		if spare && c != '}' && c != ']' {
			out.WriteByte(',')
		}
		spare = c == ','
		from := r.at
		r.at++
		if c == '"' {
			r.at = from
			if _, err := r.quoted(); err != nil {
				return out.String()
			}
		}
		if !spare {
			out.WriteString(r.text[from:r.at])
		}
	}
}
