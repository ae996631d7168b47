package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// key is a key or a table header of a document.
type key struct {
	path []string
	span
	value span // of a key, not of a table
	table bool
	nth   int // of the tables in a list of them, from 0
}

type span struct{ offset, len int }

func (k key) String() string { return strings.Join(k.path, ".") }

// keysOf lists the keys of a document that is known to be valid.
func keysOf(doc []byte) (out []key) {
	var p unstable.Parser
	p.Reset(doc)
	var table key
	lists := map[string]int{}
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.KeyValue {
			out = appendKeys(out, table, e)
			continue
		}
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			k := newKey(nil, e)
			k.table = true
			if e.Kind == unstable.ArrayTable {
				lists[k.String()]++
			}
			k.nth = max(lists[k.path[0]]-1, 0)
			table = k
			out = append(out, k)
		}
	}
	return out
}

// appendKeys adds a key and, for an inline table, the keys in it.
func appendKeys(out []key, table key, e *unstable.Node) []key {
	k := newKey(table.path, e)
	k.nth = table.nth
	value := e.Value()
	k.table = value.Kind == unstable.InlineTable
	k.value = span{int(value.Raw.Offset), int(value.Raw.Length)}
	if k.value.len == 0 {
		k.value = k.span
	}
	out = append(out, k)
	if k.table {
		for it := value.Children(); it.Next(); {
			out = appendKeys(out, k, it.Node())
		}
	}
	return out
}

func newKey(table []string, e *unstable.Node) key {
	k := key{path: slices.Clone(table), span: span{offset: -1}}
	for it := e.Key(); it.Next(); {
		n := it.Node()
		k.path = append(k.path, string(n.Data))
		if k.offset < 0 {
			k.offset = int(n.Raw.Offset)
		}
		k.len = int(n.Raw.Offset+n.Raw.Length) - k.offset
	}
	return k
}

// Find says where a key of the nth table of a name stands in a valid document, or
// that table's header if it lacks the key. The first table is 1; line 0 is nowhere.
func Find(doc []byte, table string, nth int, name string) (line, column int, excerpt string) {
	at, seen := span{offset: -1}, 0
	for _, k := range keysOf(doc) {
		switch path := k.String(); {
		case k.table && path == table:
			if seen++; seen == nth {
				at = k.span
			}
		case seen == nth && (path == table+"."+name || table == "" && path == name):
			at = k.span
		}
	}
	if at.offset < 0 {
		return 0, 0, ""
	}
	e := document{text: doc}.at(at.offset, at.len, "")
	return e.Line, e.Column, e.Excerpt
}

// typeAt finds the type of a key's value. rest is the part of the path that
// names no field; the type is then that of the table which lacks it.
func typeAt(path []string) (t reflect.Type, rest []string) {
	t = reflect.TypeFor[Config]()
	for i, name := range path {
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			t = t.Elem()
		}
		switch {
		case t.Kind() == reflect.Map:
			t = t.Elem()
			continue
		case t.Kind() != reflect.Struct:
			return t, path[i:]
		}
		f, ok := fieldOf(t, name)
		if !ok {
			return t, path[i:]
		}
		t = f.Type
	}
	return t, nil
}

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("toml") == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// namesOf lists the keys that a table may hold.
func namesOf(t reflect.Type) (names []string) {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		if name := f.Tag.Get("toml"); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// valueAt finds the value of a known key in c.
func valueAt(c *Config, k key) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for _, name := range k.path {
		if v.Kind() == reflect.Slice {
			v = v.Index(k.nth)
		}
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() == reflect.Map {
			v = v.MapIndex(reflect.ValueOf(name))
			continue
		}
		f, _ := fieldOf(v.Type(), name)
		v = v.FieldByIndex(f.Index)
	}
	return v
}

// Keys lists the names of all tables and keys, each once.
func Keys() (keys []string) {
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for _, name := range namesOf(t) {
			if !slices.Contains(keys, name) {
				keys = append(keys, name)
			}
			f, _ := fieldOf(t, name)
			if f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Slice {
				add(f.Type.Elem())
			} else {
				add(f.Type)
			}
		}
	}
	add(reflect.TypeFor[Config]())
	return keys
}
