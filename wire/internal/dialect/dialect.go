package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Dialect is what a provider understands of JSON Schema.
type Dialect int

const (
	// RootObject is JSON Schema whose root is an object, without $ref, anyOf, oneOf
	// and allOf there. Source: Anthropic, "Define tools".
	RootObject Dialect = iota
	// Strict is OpenAI's structured outputs: every object closed, every property
	// required. Source: OpenAI, "Structured outputs", supported schemas.
	Strict
	// OpenAPI is Gemini's Schema message: no references, texts as enums, one type.
	// Source: google.golang.org/genai, type Schema.
	OpenAPI
	// Inlined is JSON Schema without references, const, oneOf and allOf, whose root
	// is an object. Source: Ollama api/types.go, type ToolProperty.
	Inlined
)

// Lose takes what cannot be sent as it is: where it stood, what became of it, and
// why, as in a wire.Loss.
type Lose func(path, what, why string)

// Convert writes a tool's schema in a dialect; one that says all already comes
// back as it is. What had to be dropped or rewritten is told to lose (may be nil), and what of
// it must be undone in the arguments of the calls is in back. A schema that is no
// object is one without properties. A schema that the dialect cannot say at all
// comes back as it is: ok is false, and nothing is told.
func (d Dialect) Convert(schema json.RawMessage, path string, lose Lose) (out json.RawMessage, back *Coercion, ok bool) {
	w := &converting{dialect: d, ok: true}
	root, err := shape.Members(shape.Value{Raw: schema})
	if err != nil {
		if len(bytes.TrimSpace(schema)) > 0 {
			w.lose(path, "sent as an object without properties", "it is no JSON object")
		}
		root = nil
	}
	w.root = root
	if err == nil && (d == RootObject && isPlain(root) || d == Inlined && isInlined(schema, root)) {
		return schema, nil, true
	}
	root = w.object(w.flat(root, path))
	switch d {
	case RootObject:
		out = root.Raw()
	case Strict:
		out, back = w.strict(root, path)
		out = w.withDefs(out, path)
	case OpenAPI:
		out, back = w.open(root, path)
	case Inlined:
		out = w.inlined(root, path)
	}
	switch {
	case !w.ok:
		return schema, nil, false
	case d == Strict && len(w.losses) == 0 && back == nil && len(schema) > 0:
		return schema, nil, true
	}
	for _, l := range w.losses {
		if lose == nil {
			break
		}
		lose(l.path, l.what, l.why)
	}
	return out, back, true
}

// isPlain reports an object without a $ref or a union.
func isPlain(f shape.Fields) bool {
	for _, key := range append([]string{"$ref"}, unions...) {
		if f.Get(key) != nil {
			return false
		}
	}
	return text(f.Get("type")) == "object"
}

type loss struct{ path, what, why string }

type converting struct {
	dialect Dialect
	root    shape.Fields
	inside  []string             // the $refs that are being read
	defs    map[string]*Coercion // Strict: of the definitions
	losses  []loss
	ok      bool
}

func (w *converting) lose(path, what, why string) {
	w.losses = append(w.losses, loss{path, what, why})
}

// object makes the root an object with properties.
func (w *converting) object(f shape.Fields) shape.Fields {
	if text(f.Get("type")) != "object" {
		f = append(shape.Fields{{Name: "type", Value: json.RawMessage(`"object"`)}}, f.Without("type")...)
	}
	if f.Get("properties") == nil {
		f = f.Set("properties", json.RawMessage("{}"))
	}
	return f
}

func text(raw json.RawMessage) string {
	s, err := (shape.Value{Raw: raw}).Text()
	if err != nil {
		return ""
	}
	return s
}

func list(raw json.RawMessage) []shape.Value {
	l, err := (shape.Value{Raw: raw}).Elements()
	if err != nil {
		return nil
	}
	return l
}

func members(raw json.RawMessage) shape.Fields {
	f, err := shape.Members(shape.Value{Raw: raw})
	if err != nil {
		return nil
	}
	return f
}

func texts(raw json.RawMessage) (out []string) {
	for _, v := range list(raw) {
		if s, err := v.Text(); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// refer is the schema that a $ref within the document names.
func (w *converting) refer(ref string) (shape.Fields, bool) {
	if ref == "#" {
		return w.root, true
	}
	at := shape.Fields(w.root)
	rest, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil, false
	}
	for step := range strings.SplitSeq(rest, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		raw := at.Get(step)
		if (shape.Value{Raw: raw}).Kind() != '{' {
			return nil, false
		}
		at = members(raw)
	}
	return at, true
}

// unions are the keywords that combine schemas.
var unions = []string{"allOf", "anyOf", "oneOf"}

// flat resolves a $ref and merges the unions of a schema into it. With allOf all
// that is required stays required, with the others what every alternative requires.
func (w *converting) flat(f shape.Fields, path string) shape.Fields {
	if ref := text(f.Get("$ref")); ref != "" {
		target, found := w.refer(ref)
		if !found || slices.Contains(w.inside, ref) {
			w.lose(path+".$ref", "dropped", "it leads nowhere: "+ref)
			return f.Without("$ref")
		}
		w.inside = append(w.inside, ref)
		f = overlay(target, f.Without("$ref"))
		f = w.flat(f, path)
		w.inside = w.inside[:len(w.inside)-1]
	}
	for _, key := range unions {
		branches := list(f.Get(key))
		if branches == nil {
			continue
		}
		w.lose(path+"."+key, "merged into one object", "this API takes one object here")
		f = w.merge(f.Without(key), branches, key == "allOf", path)
	}
	return f
}

// overlay is base with the fields of over.
func overlay(base, over shape.Fields) shape.Fields {
	out := slices.Clone(base)
	for _, f := range over {
		out = out.Set(f.Name, f.Value)
	}
	return out
}

func (w *converting) merge(f shape.Fields, branches []shape.Value, all bool, path string) shape.Fields {
	props, required := members(f.Get("properties")), texts(f.Get("required"))
	var common []string
	for i, b := range branches {
		branch := w.flat(members(b.Raw), path)
		for _, p := range members(branch.Get("properties")) {
			props = props.Set(p.Name, either(props.Get(p.Name), p.Value))
		}
		needs := texts(branch.Get("required"))
		switch {
		case all:
			required = append(required, needs...)
		case i == 0:
			common = needs
		default:
			common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(needs, n) })
		}
		for _, more := range branch.Without("properties", "required") {
			if f.Get(more.Name) == nil {
				f = f.Set(more.Name, more.Value)
			}
		}
	}
	if props != nil {
		f = f.Set("properties", props.Raw())
	}
	return setRequired(f, append(required, common...))
}

func once(names []string) (out []string) {
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func setRequired(f shape.Fields, names []string) shape.Fields {
	if len(names) == 0 {
		return f.Without("required")
	}
	b, err := shape.Marshal(once(names))
	if err != nil {
		return f
	}
	return f.Set("required", b)
}

// either is the schema of a property that two alternatives have.
func either(a, b json.RawMessage) json.RawMessage {
	if a == nil || bytes.Equal(a, b) {
		return b
	}
	return json.RawMessage(fmt.Sprintf(`{"anyOf":[%s,%s]}`, a, b))
}

// typesOf lists the types of a schema without null, and whether null is one.
func typesOf(raw json.RawMessage) (types []string, null bool) {
	all := texts(raw)
	if one := text(raw); one != "" {
		all = []string{one}
	}
	for _, t := range all {
		if t = strings.ToLower(t); t == "null" {
			null = true
			continue
		}
		types = append(types, t)
	}
	return types, null
}

// Closed reports whether every object in a schema says that it has no other
// properties than its own.
func Closed(schema json.RawMessage) bool {
	f := members(schema)
	types, _ := typesOf(f.Get("type"))
	if (slices.Contains(types, "object") || f.Get("properties") != nil) && string(f.Get("additionalProperties")) != "false" {
		return false
	}
	for _, inner := range []string{"properties", "$defs", "definitions"} {
		for _, p := range members(f.Get(inner)) {
			if !Closed(p.Value) {
				return false
			}
		}
	}
	for _, key := range append([]string{"prefixItems"}, unions...) {
		for _, v := range list(f.Get(key)) {
			if !Closed(v.Raw) {
				return false
			}
		}
	}
	items := f.Get("items")
	return items == nil || Closed(items)
}
