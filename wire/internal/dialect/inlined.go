package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// unread are the keywords that Ollama drops with all that they say.
var unread = []string{`"$ref"`, `"allOf"`, `"oneOf"`, `"const"`}

// isInlined reports a schema of which Ollama reads the structure.
func isInlined(schema json.RawMessage, root shape.Fields) bool {
	return isPlain(root) && !slices.ContainsFunc(unread, func(word string) bool { return bytes.Contains(schema, []byte(word)) })
}

// inlined writes a schema without references and the other keywords that hide
// structure.
func (w *converting) inlined(f shape.Fields, path string) json.RawMessage {
	if ref := text(f.Get("$ref")); ref != "" {
		return w.written(ref, f.Without("$ref"), path)
	}
	if f.Get("allOf") != nil {
		f = w.flat(f, path)
	}
	var out shape.Fields
	for _, field := range f.Without("$defs", "definitions") {
		at := path + "." + field.Name
		switch field.Name {
		case "properties":
			field.Value = w.inlinedMembers(field.Value, at)
		case "items":
			if (shape.Value{Raw: field.Value}).Kind() == '{' {
				field.Value = w.inlined(members(field.Value), at)
			}
		case "anyOf":
			field.Value = w.inlinedList(field.Value, at)
		case "oneOf":
			w.lose(at, "sent as anyOf", "this API does not know oneOf")
			field.Name, field.Value = "anyOf", w.inlinedList(field.Value, at)
		case "const":
			w.lose(at, "sent as an enum of one", "this API does not know const")
			field.Name, field.Value = "enum", slices.Concat([]byte("["), field.Value, []byte("]"))
		}
		out = append(out, field)
	}
	return out.Raw()
}

// written writes what a $ref names in its place. Inside itself it is cut off.
func (w *converting) written(ref string, more shape.Fields, path string) json.RawMessage {
	target, found := w.refer(ref)
	if !found || slices.Contains(w.inside, ref) {
		w.lose(path+".$ref", "cut off", "this API knows no references: "+ref)
		about := fmt.Sprintf("a %s", ref[strings.LastIndex(ref, "/")+1:])
		return shape.Fields{{Name: "type", Value: shape.Quote("object").Raw}, {Name: "description", Value: shape.Quote(about).Raw}}.Raw()
	}
	w.inside = append(w.inside, ref)
	out := w.inlined(overlay(target, more), path)
	w.inside = w.inside[:len(w.inside)-1]
	return out
}

func (w *converting) inlinedMembers(raw json.RawMessage, path string) json.RawMessage {
	props := members(raw)
	if props == nil {
		return raw
	}
	for i := range props {
		props[i].Value = w.inlined(members(props[i].Value), path+"."+props[i].Name)
	}
	return props.Raw()
}

func (w *converting) inlinedList(raw json.RawMessage, path string) json.RawMessage {
	branches := list(raw)
	for i := range branches {
		branches[i].Raw = w.inlined(members(branches[i].Raw), fmt.Sprintf("%s[%d]", path, i))
	}
	return shape.List(branches).Raw
}
