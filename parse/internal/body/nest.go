package body

import (
	"encoding/json"
	"html"
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// Nest are the markers of a dialect whose arguments nest: items of lists, and
// arguments within arguments.
type Nest struct {
	Item, ItemClose []scan.Marker
	Arg, ArgClose   []scan.Marker
	Open, Close     []scan.Marker // of both
	Hot             *[256]bool    // the bytes that any of them begins with
	XML             bool          // texts have entities
}

// Read reads the elements of a text and returns what stands after them. texts
// says that the texts inside stay texts, as a schema types them.
func (n *Nest) Read(s string, texts bool, work *int) (v json.RawMessage, rest string) {
	r := nestReader{n, texts, work}
	return r.nested(s, 0)
}

type nestReader struct {
	n     *Nest
	texts bool
	work  *int
}

const maxNest = 100

// members are the elements of an object in the order of their first occurrence.
type members struct {
	keys   []string
	values map[string][]json.RawMessage
	text   string
}

func (m *members) add(key string, v json.RawMessage) {
	if m.values == nil {
		m.values = map[string][]json.RawMessage{}
	}
	if m.values[key] == nil {
		m.keys = append(m.keys, key)
	}
	m.values[key] = append(m.values[key], v)
}

func (m *members) json() json.RawMessage {
	if m.text != "" {
		m.add("$text", Quote(m.text))
	}
	out := []byte{'{'}
	for i, key := range m.keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendString(out, key), ':')
		if all := m.values[key]; len(all) == 1 {
			out = append(out, all[0]...)
		} else {
			out = append(out, List(all)...)
		}
	}
	return append(out, '}')
}

// nested reads elements: items make a list, arguments an object, text a value.
// An argument that is there more than once is a list, and text beside elements
// is the argument "$text".
func (r *nestReader) nested(s string, depth int) (json.RawMessage, string) {
	var list []json.RawMessage
	var object members
	for depth < maxNest {
		var c scan.Caps
		text, rest := r.beforeElement(s)
		n, isItem := r.matchWhole(r.n.Item, rest, &c)
		if !isItem {
			var isArg bool
			if n, isArg = r.matchWhole(r.n.Arg, rest, &c); !isArg {
				break
			}
		}
		if strings.TrimSpace(text) != "" {
			object.text += text
		}
		v, behind := r.nested(rest[n:], depth+1)
		s = r.dropCloser(behind, isItem)
		if isItem {
			list = append(list, v)
		} else {
			object.add(c.Key, v)
		}
	}
	switch {
	case len(list) > 0 && object.text == "" && object.keys == nil:
		return List(list), s
	case len(list) > 0:
		object.add("item", List(list))
	case object.keys == nil:
		return r.leaf(s)
	}
	text, s := r.untilCloser(s)
	if strings.TrimSpace(text) != "" {
		object.text += text
	}
	return object.json(), s
}

// beforeElement splits s where an element begins, at the latest where one ends.
func (r *nestReader) beforeElement(s string) (text, rest string) {
	for i := range len(s) {
		if !r.n.Hot[s[i]] {
			continue
		}
		if _, ok := r.matchWhole(r.n.Open, s[i:], &scan.Caps{}); ok {
			return s[:i], s[i:]
		}
		if _, ok := r.matchWhole(r.n.Close, s[i:], &scan.Caps{}); ok {
			break
		}
	}
	return "", strings.TrimLeft(s, " \t\r\n")
}

// untilCloser splits s where an element ends.
func (r *nestReader) untilCloser(s string) (text, rest string) {
	for i := range len(s) {
		if r.n.Hot[s[i]] {
			if _, ok := r.matchWhole(r.n.Close, s[i:], &scan.Caps{}); ok {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}

// dropCloser takes the closer of an element off, if it is there.
func (r *nestReader) dropCloser(s string, isItem bool) string {
	closers := r.n.ArgClose
	if isItem {
		closers = r.n.ItemClose
	}
	rest := strings.TrimLeft(s, " \t\r\n")
	if n, ok := r.matchWhole(closers, rest, &scan.Caps{}); ok {
		return rest[n:]
	}
	return s
}

// matchWhole fits the first of the markers to a text that is complete.
func (r *nestReader) matchWhole(list []scan.Marker, s string, c *scan.Caps) (int, bool) {
	for i := range list {
		if n, f := list[i].Match(scan.ViewOf(s, true, r.work), c); f == scan.Yes {
			return n, true
		}
	}
	return 0, false
}

// leaf reads text up to the next closer.
func (r *nestReader) leaf(s string) (json.RawMessage, string) {
	text, rest := r.untilCloser(s)
	if r.n.XML {
		text = html.UnescapeString(text)
	}
	if r.texts {
		return Quote(text), rest
	}
	if t := strings.TrimSpace(text); t != "" && strings.IndexByte("{[-0123456789tfn", t[0]) >= 0 && json.Valid([]byte(t)) {
		return json.RawMessage(t), rest
	}
	return Quote(text), rest
}
