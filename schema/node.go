package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// node is a JSON value that remembers how it was written.
type node struct {
	kind  byte            // one of { [ " 0 t n: what the value is; t stands for both booleans
	raw   json.RawMessage // as written
	val   any             // as the validator reads it: json.Number, no absurd exponents
	keys  []key           // of an object, beside kids
	kids  []node
	size  int    // values in it, itself included
	depth int    // levels in it, itself not included
	loose bool   // a number in it is written with a fraction or an exponent
	twice string // pointer to a member that is there twice, with different values
}

// key is an object key, read and as written.
type key struct {
	name string
	raw  json.RawMessage
}

// sum works out what a container's kids say about it.
func (n *node) sum() {
	n.size, n.depth, n.loose, n.twice = 1, 0, false, ""
	for i := range n.kids {
		n.size += n.kids[i].size
		n.depth = max(n.depth, n.kids[i].depth+1)
		n.loose = n.loose || n.kids[i].loose
		if n.kids[i].twice != "" && n.twice == "" {
			n.twice = n.pointer(i) + n.kids[i].twice
		}
	}
	if n.kind == '[' {
		list := make([]any, len(n.kids))
		for i := range n.kids {
			list[i] = n.kids[i].val
		}
		n.val = list
		return
	}
	m := make(map[string]any, len(n.kids))
	for i := range n.kids {
		name, val := n.keys[i].name, n.kids[i].val
		if was, ok := m[name]; ok && !reflect.DeepEqual(was, val) {
			n.twice = n.pointer(i)
		}
		m[name] = val
	}
	n.val = m
}

// pointer is the JSON pointer from a container to one of its kids.
func (n *node) pointer(i int) string {
	if n.kind == '{' {
		return "/" + escape(n.keys[i].name)
	}
	return "/" + strconv.Itoa(i)
}

// Twice is the JSON pointer to a member that stands in its object twice, with
// different values; "" if there is none, or v is no JSON.
func Twice(v json.RawMessage) string {
	n, err := parse(v)
	if err != nil {
		return ""
	}
	return n.twice
}

// rebuild writes a container anew from its kids, each as it was written.
func (n *node) rebuild() {
	var b bytes.Buffer
	b.WriteByte(n.kind)
	for i := range n.kids {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.kind == '{' {
			b.Write(n.keys[i].raw)
			b.WriteByte(':')
		}
		b.Write(n.kids[i].raw)
	}
	b.WriteByte(n.kind + 2)
	n.raw = b.Bytes()
	n.sum()
}

// find gives the last member of that name: the one that counts.
func (n node) find(name string) (node, bool) {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i].name == name {
			return n.kids[i], true
		}
	}
	return node{}, false
}

func (n node) text() string {
	s, _ := n.val.(string)
	return s
}

func stringNode(raw json.RawMessage) node {
	return node{kind: '"', raw: raw, val: unquote(raw), size: 1}
}

func textNode(s string) node {
	return node{kind: '"', raw: quote(s), val: s, size: 1}
}

func listNode(v node) node {
	n := node{kind: '[', kids: []node{v}}
	n.rebuild()
	return n
}

func literalNode(raw json.RawMessage) node {
	switch raw[0] {
	case 't', 'f':
		return node{kind: 't', raw: raw, val: raw[0] == 't', size: 1}
	case 'n':
		return node{kind: 'n', raw: raw, size: 1}
	}
	return node{kind: '0', raw: raw, val: tame(string(raw)), size: 1, loose: bytes.ContainsAny(raw, ".eE")}
}

func unquote(raw json.RawMessage) string {
	if len(raw) < 2 { // of a reader that failed
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw was found valid
	return s
}

// quote writes s as a JSON string, with no more escapes than JSON needs.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// hugeNumber bounds the digits and the exponent of a number that the
// validator is shown: it computes with exact fractions.
const hugeNumber = 999

// tame gives a number as the validator may see it: as it is, or, beyond
// hugeNumber, another of the same sign that is as good for any real bound.
func tame(lit string) json.Number {
	mantissa, exp := lit, 0
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		mantissa = lit[:i]
		var err error
		if exp, err = strconv.Atoi(lit[i+1:]); err != nil {
			exp = math.MaxInt32
			if lit[i+1] == '-' {
				exp = -exp
			}
		}
	}
	if len(mantissa) <= hugeNumber && exp <= hugeNumber && exp >= -hugeNumber {
		return json.Number(lit)
	}
	if strings.Trim(mantissa, "-0.") == "" {
		return "0"
	}
	out := "1e999"
	if exp < -hugeNumber {
		out = "1e-999"
	}
	if lit[0] == '-' {
		out = "-" + out
	}
	return json.Number(out)
}
