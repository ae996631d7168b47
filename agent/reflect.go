package agent

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is the JSON Schema of a Go type. Its keywords keep the order of the fields.
type kind struct {
	Ref        string            `json:"$ref,omitempty"`
	Type       string            `json:"type,omitempty"`
	Format     string            `json:"format,omitempty"`
	Encoding   string            `json:"contentEncoding,omitempty"`
	About      string            `json:"description,omitempty"`
	Enum       []json.RawMessage `json:"enum,omitempty"`
	Min        *int64            `json:"minimum,omitempty"`
	Max        *int64            `json:"maximum,omitempty"`
	Items      *kind             `json:"items,omitempty"`
	Least      *int              `json:"minItems,omitempty"`
	Most       *int              `json:"maxItems,omitempty"`
	Properties *members          `json:"properties,omitempty"`
	Required   []string          `json:"required,omitempty"`
	Others     any               `json:"additionalProperties,omitempty"` // false, or the *kind of a map's values
	Defs       *members          `json:"$defs,omitempty"`
}

// members is an object whose keys keep their order.
type members []member

type member struct {
	name string
	kind *kind
}

func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, p := range m {
		key, err := json.Marshal(p.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(p.kind)
		if err != nil {
			return nil, err
		}
		b.WriteString([]string{"{", ","}[min(i, 1)])
		b.Write(append(append(key, ':'), value...))
	}
	if len(m) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// schemaOf returns the JSON Schema of a struct or a map as encoding/json reads it, or an
// error for any other type.
func schemaOf(t reflect.Type) (json.RawMessage, error) {
	r := reflector{root: indirect(t)}
	k, err := r.kind(t)
	if err == nil && k.Type != "object" {
		err = fmt.Errorf("want a struct or a map for the arguments, got %v", t)
	}
	for i := 0; err == nil && i < len(r.defs); i++ { // one may add others
		r.open = nil
		r.defs[i].kind, err = r.written(r.named[i])
	}
	if err != nil {
		return nil, err
	}
	if len(r.defs) > 0 {
		k.Defs = &r.defs
	}
	return json.Marshal(k)
}

// reflector builds the schema of one type. Types are inlined; those that contain
// themselves go into $defs.
type reflector struct {
	root  reflect.Type
	open  []reflect.Type // the types around the current one
	named []reflect.Type // the types in defs
	defs  members
}

// special are the types that encoding/json does not read by their kind.
var special = map[reflect.Type]kind{
	reflect.TypeFor[time.Time]():     {Type: "string", Format: "date-time"},
	reflect.TypeFor[time.Duration](): {Type: "integer", About: "nanoseconds"},
	reflect.TypeFor[json.Number]():   {Type: "number"},
	reflect.TypeFor[big.Int]():       {Type: "integer"},
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func (r *reflector) kind(t reflect.Type) (*kind, error) {
	t = indirect(t)
	if k, ok := special[t]; ok {
		return &k, nil
	}
	switch p := reflect.PointerTo(t); {
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &kind{}, nil
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &kind{Type: "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &kind{Type: "boolean"}, nil
	case reflect.String:
		return &kind{Type: "string"}, nil
	case reflect.Float32, reflect.Float64:
		return &kind{Type: "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return signed(t.Bits()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return unsigned(t.Bits()), nil
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return r.composite(t)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return &kind{}, nil
		}
	}
	return nil, fmt.Errorf("no JSON can be read into %v", t)
}

// signed returns the schema of a signed integer with its bounds.
func signed(bits int) *kind {
	if bits > 32 {
		return &kind{Type: "integer"}
	}
	most := int64(1)<<(bits-1) - 1
	return &kind{Type: "integer", Min: new(-most - 1), Max: &most}
}

func unsigned(bits int) *kind {
	k := &kind{Type: "integer", Min: new(int64)}
	if bits <= 32 {
		k.Max = new(int64(1)<<bits - 1)
	}
	return k
}

// composite returns the schema of a list, a map or a struct, or a reference to one that
// is being built.
func (r *reflector) composite(t reflect.Type) (*kind, error) {
	if !slices.Contains(r.open, t) {
		return r.written(t)
	}
	if t == r.root {
		return &kind{Ref: "#"}, nil
	}
	at := slices.Index(r.named, t)
	if at < 0 {
		at = len(r.named)
		r.named = append(r.named, t)
		r.defs = append(r.defs, member{name: notInNames.ReplaceAllString(t.Name(), "_") + strconv.Itoa(at+1)})
	}
	return &kind{Ref: "#/$defs/" + r.defs[at].name}, nil
}

var notInNames = regexp.MustCompile(`\W+`)

func (r *reflector) written(t reflect.Type) (*kind, error) {
	r.open = append(r.open, t)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	switch t.Kind() {
	case reflect.Struct:
		return r.object(t)
	case reflect.Map:
		return r.dictionary(t)
	}
	return r.list(t)
}

func (r *reflector) list(t reflect.Type) (*kind, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return &kind{Type: "string", Encoding: "base64"}, nil
	}
	items, err := r.kind(t.Elem())
	k := &kind{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		k.Least, k.Most = new(t.Len()), new(t.Len())
	}
	return k, err
}

func (r *reflector) dictionary(t reflect.Type) (*kind, error) {
	switch key := t.Key(); {
	case key.Kind() >= reflect.Int && key.Kind() <= reflect.Uint64, key.Kind() == reflect.String:
	case reflect.PointerTo(key).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
	default:
		return nil, fmt.Errorf("no JSON can be read into %v: its keys are no texts", t)
	}
	values, err := r.kind(t.Elem())
	return &kind{Type: "object", Others: values}, err
}

func (r *reflector) object(t reflect.Type) (*kind, error) {
	list, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	k := &kind{Type: "object", Properties: &members{}, Others: false}
	for _, f := range list {
		p, err := r.kind(f.Type)
		if err == nil {
			err = f.describe(p)
		}
		if err != nil {
			return nil, fmt.Errorf("field %s of %v: %w", f.Name, t, err)
		}
		*k.Properties = append(*k.Properties, member{f.key, p})
		if !f.optional {
			k.Required = append(k.Required, f.key)
		}
	}
	return k, nil
}

// field is a field of a struct as encoding/json sees it.
type field struct {
	reflect.StructField
	key      string
	tagged   bool // the key is from the tag
	text     bool // the value is quoted: the option "string"
	optional bool
	depth    int // of the structs in which it is embedded
}

var worded = regexp.MustCompile(`^\w+=`)

// describe adds the description and the allowed values from a field's tags.
func (f field) describe(k *kind) error {
	if f.text {
		*k = kind{Type: "string"}
	}
	if about, ok := f.Tag.Lookup("jsonschema"); ok {
		if worded.MatchString(about) {
			return fmt.Errorf(`the tag jsonschema is %q: want the description alone; values that are allowed stand in a tag of their own, enum:"red,green"`, about)
		}
		k.About = about
	}
	values, ok := f.Tag.Lookup("enum")
	if !ok {
		return nil
	}
	for k.Items != nil {
		k = k.Items
	}
	for v := range strings.SplitSeq(values, ",") {
		raw := json.RawMessage(v)
		if k.Type == "string" {
			raw, _ = json.Marshal(v)
		}
		if !json.Valid(raw) {
			return fmt.Errorf("the tag enum has %q, want a value of JSON type %s", v, k.Type)
		}
		k.Enum = append(k.Enum, raw)
	}
	return nil
}

// fieldsOf returns the fields that encoding/json knows, including those of embedded
// structs. Of several with one key the outermost counts, on one level the tagged one,
// and none if that is not unique.
func fieldsOf(t reflect.Type) ([]field, error) {
	all, err := appendFields(nil, t, nil, false)
	if err != nil {
		return nil, err
	}
	rank := func(f field) int {
		if f.tagged {
			return 2 * f.depth
		}
		return 2*f.depth + 1
	}
	return slices.DeleteFunc(slices.Clone(all), func(f field) bool {
		return slices.ContainsFunc(all, func(o field) bool {
			same := o.key == f.key && !slices.Equal(o.Index, f.Index)
			return same && rank(o) <= rank(f)
		})
	}), nil
}

// appendFields appends the fields of t, which is at index within the outermost struct.
func appendFields(all []field, t reflect.Type, index []int, optional bool) ([]field, error) {
	for i := range t.NumField() {
		f := field{StructField: t.Field(i), depth: len(index), optional: optional}
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		f.Index = append(slices.Clone(index), i)
		inner, pointer := indirect(f.Type), f.Type.Kind() == reflect.Pointer
		embedded := f.Anonymous && inner.Kind() == reflect.Struct
		switch {
		case !f.IsExported() && !embedded:
			continue
		case !f.IsExported() && pointer:
			return nil, fmt.Errorf("field %s of %v: JSON cannot be read into an embedded pointer to a struct that is not exported", f.Name, t)
		case embedded && len(index) > 16:
			return nil, fmt.Errorf("field %s of %v: the struct is embedded in itself", f.Name, t)
		case embedded && name == "":
			var err error
			if all, err = appendFields(all, inner, f.Index, optional || pointer); err != nil {
				return nil, err
			}
			continue
		}
		if f.key, f.tagged = name, name != ""; !f.tagged {
			f.key = f.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			f.text = f.text || option == "string" && isScalar(inner)
			f.optional = f.optional || option == "omitempty" || option == "omitzero"
		}
		f.optional = f.optional || pointer
		all = append(all, f)
	}
	return all, nil
}

// isScalar reports whether the option "string" applies to a type.
func isScalar(t reflect.Type) bool {
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String
}
