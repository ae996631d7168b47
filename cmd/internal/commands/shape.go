package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

// shape is te json FILE: the keys and the kinds of values of a JSON document,
// or of one in each line.
func (a *app) shape(context.Context) (int, error) {
	words, err := options{a.sharedOptions()}.all(a.args)
	if err != nil {
		return 0, err
	}
	if len(words) != 1 {
		return 0, usage("te json wants one file: te json FILE")
	}
	t, err := a.toRead(words[0])
	if err != nil {
		return 0, err
	}
	src, err := search.Read(t.place.Root, t.name, handle.MaxSize)
	if err != nil {
		return 0, readError(words[0], err)
	}
	s, n, err := shapeOf(string(src))
	if err != nil {
		return 0, fail("not_found", exitNone, "%s is no JSON: %v", words[0], err)
	}
	text := s.text("") + "\n"
	if n > 1 {
		text = fmt.Sprintf("%d documents, each:\n%s", n, text)
	}
	return a.show(result{meta: te.Meta{Cmd: "json", Size: int64(len(src)), ContentType: "json"}, text: text})
}

// shape is what several values have in common.
type shape struct {
	seen  int            // values
	kinds map[string]int // string, number …
	keys  []string       // of objects, in the order in which they came
	of    map[string]*shape
	items *shape // of arrays
	least int    // items of an array
	most  int
	one   string // the value, as long as all are the same string, number or word
	many  bool
}

func shapeOf(src string) (*shape, int, error) {
	d := json.NewDecoder(strings.NewReader(src))
	d.UseNumber()
	s, n := newShape(), 0
	for {
		var v any
		t, err := d.Token()
		if errors.Is(err, io.EOF) && n > 0 {
			return s, n, nil
		}
		if err == nil {
			v, err = value(d, t, 0)
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("it ends in the middle")
		}
		if err != nil {
			return nil, 0, err
		}
		s.add(v)
		n++
	}
}

// member is one of an object, in its order.
type member struct {
	key   string
	value any
}

// maxDepth is how deep values may be nested, as in package json.
const maxDepth = 10000

func value(d *json.Decoder, t json.Token, depth int) (any, error) {
	if t != json.Delim('{') && t != json.Delim('[') {
		return t, nil
	}
	if depth == maxDepth {
		return nil, errors.New("it is nested too deep")
	}
	object, list := []member{}, []any{}
	for d.More() {
		var key string
		if t == json.Delim('{') {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			key, _ = k.(string)
		}
		next, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := value(d, next, depth+1)
		if err != nil {
			return nil, err
		}
		if t == json.Delim('{') {
			object = append(object, member{key, v})
		} else {
			list = append(list, v)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if t == json.Delim('{') {
		return object, nil
	}
	return list, nil
}

func newShape() *shape { return &shape{kinds: map[string]int{}, of: map[string]*shape{}} }

func (s *shape) add(v any) {
	s.seen++
	switch v := v.(type) {
	case nil:
		s.kinds["null"]++
	case bool:
		s.plain("boolean", strconv.FormatBool(v))
	case json.Number:
		s.plain("number", v.String())
	case string:
		s.plain("string", strconv.Quote(v))
	case []member:
		s.kinds["object"]++
		for _, m := range v {
			if s.of[m.key] == nil {
				s.keys, s.of[m.key] = append(s.keys, m.key), newShape()
			}
			s.of[m.key].add(m.value)
		}
	case []any:
		if s.kinds["array"] == 0 || len(v) < s.least {
			s.least = len(v)
		}
		s.kinds["array"]++
		s.most = max(s.most, len(v))
		if s.items == nil {
			s.items = newShape()
		}
		for _, item := range v {
			s.items.add(item)
		}
	}
}

func (s *shape) plain(kind, text string) {
	s.kinds[kind]++
	if s.seen > 1 && text != s.one || len(text) > 40 {
		s.many = true
	}
	s.one = text
}

func (s *shape) text(indent string) string {
	var kinds []string
	for _, kind := range []string{"object", "array", "string", "number", "boolean", "null"} {
		if s.kinds[kind] > 0 {
			kinds = append(kinds, s.kind(kind, indent))
		}
	}
	if len(kinds) == 0 {
		return "nothing"
	}
	return strings.Join(kinds, " | ")
}

func (s *shape) kind(kind, indent string) string {
	switch kind {
	case "object":
		return s.object(indent)
	case "array":
		n := strconv.Itoa(s.most)
		if s.least != s.most {
			n = strconv.Itoa(s.least) + "-" + n
		}
		if s.most == 0 {
			return "[]"
		}
		return "[" + n + " × " + s.items.text(indent) + "]"
	case "string", "number", "boolean":
		if !s.many && len(s.kinds) == 1 {
			return kind + " " + s.one
		}
	}
	return kind
}

// maxKeys is how many keys of an object are written out: one with more is a
// table, and its values are of one shape.
const maxKeys = 60

var plainKey = regexp.MustCompile(`^[\w-]+$`)

func (s *shape) object(indent string) string {
	if len(s.keys) == 0 {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for i, k := range s.keys {
		if i == maxKeys {
			fmt.Fprintf(&b, "%s  # TE: %d more keys\n", indent, len(s.keys)-i)
			break
		}
		name := k
		if !plainKey.MatchString(k) {
			name = strconv.Quote(k)
		}
		if s.of[k].seen < s.kinds["object"] {
			name += "?"
		}
		b.WriteString(indent + "  " + name + ": " + s.of[k].text(indent+"  ") + "\n")
	}
	return b.String() + indent + "}"
}
