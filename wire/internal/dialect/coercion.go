package dialect

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Coercion undoes in the arguments of a call what a Dialect did to their schema.
// A nil Coercion changes nothing.
type Coercion struct {
	enum  map[string]json.RawMessage // values that were offered as texts
	null  bool                       // a null is a field that was left out
	props map[string]*Coercion
	items *Coercion
	same  []*Coercion // more of the same value: alternatives, or what a $ref names
}

// Apply gives the arguments as the tool's own schema has them.
func (c *Coercion) Apply(args json.RawMessage) json.RawMessage {
	if c == nil {
		return args
	}
	switch (shape.Value{Raw: args}).Kind() {
	case '"':
		args = c.text(args)
	case '{':
		args = c.object(args)
	case '[':
		args = c.array(args)
	}
	for _, s := range c.same {
		args = s.Apply(args)
	}
	return args
}

func (c *Coercion) text(raw json.RawMessage) json.RawMessage {
	if text, err := (shape.Value{Raw: raw}).Text(); err == nil && c.enum[text] != nil {
		return c.enum[text]
	}
	return raw
}

func (c *Coercion) object(raw json.RawMessage) json.RawMessage {
	fields, err := shape.Members(shape.Value{Raw: raw})
	if err != nil || len(c.props) == 0 {
		return raw
	}
	out, changed := fields[:0], false
	for _, f := range fields {
		p := c.props[f.Name]
		if p.dropsNull() && string(f.Value) == "null" {
			changed = true
			continue
		}
		now := p.Apply(f.Value)
		changed = changed || string(now) != string(f.Value)
		out = append(out, shape.Field{Name: f.Name, Value: now})
	}
	if !changed {
		return raw
	}
	return out.Raw()
}

func (c *Coercion) dropsNull() bool { return c != nil && c.null }

func (c *Coercion) array(raw json.RawMessage) json.RawMessage {
	list, err := (shape.Value{Raw: raw}).Elements()
	if err != nil || c.items == nil {
		return raw
	}
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, c.items.Apply(v.Raw)...)
	}
	return append(out, ']')
}

// orNil is nil for a Coercion that changes nothing.
func (c *Coercion) orNil() *Coercion {
	if len(c.enum) == 0 && !c.null && len(c.props) == 0 && c.items == nil && len(c.same) == 0 {
		return nil
	}
	return c
}

func (c *Coercion) prop(name string, p *Coercion) {
	if p == nil {
		return
	}
	if c.props == nil {
		c.props = map[string]*Coercion{}
	}
	c.props[name] = p
}

func (c *Coercion) also(p *Coercion) {
	if p != nil {
		c.same = append(c.same, p)
	}
}
