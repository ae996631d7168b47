package codec

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// An Extra of the model holds what one provider alone knows, under its name:
// {"anthropic": {"cache_control": …}}. It is written back to that provider and
// reported as a loss to others. Two names in it are none of the API's fields:
// "as" holds the exact form of what the model has a place for, which others are
// told in their own words, and "mark" what concerns nobody else.
const (
	asSaid = "as"
	mark   = "mark"
)

// Form is how a client said something that the model has a place for.
type Form struct {
	Name  string
	Value shape.Value
	All   bool // the model holds all that it says
}

// Forms is f with the forms that were given.
func Forms(f shape.Fields, forms ...Form) shape.Fields {
	for _, form := range forms {
		switch field := (shape.Field{Name: form.Name, Value: form.Value.Raw}); {
		case form.Value.IsZero():
		case form.All:
			f = Marked(f, field)
		default:
			f = inside(f, asSaid, shape.Fields{field})
		}
	}
	return f
}

// Only reports an object that has no other members than these.
func Only(v shape.Value, names ...string) bool {
	all, err := shape.Members(v)
	return err == nil && len(all.Without(names...)) == 0
}

// Marked is f with what concerns no other provider.
func Marked(f shape.Fields, marks ...shape.Field) shape.Fields { return inside(f, mark, marks) }

// Mark is a mark that is there or not.
func Mark(name string) shape.Field { return shape.Field{Name: name, Value: json.RawMessage("true")} }

func inside(f shape.Fields, name string, more shape.Fields) shape.Fields {
	if len(more) == 0 {
		return f
	}
	had, _ := shape.Members(shape.Value{Raw: f.Get(name)})
	return f.Set(name, append(had, more...).Raw())
}

// PackExtra is the Extra for the fields of a provider; nil if there are none.
func PackExtra(provider string, f shape.Fields) json.RawMessage {
	if len(f) == 0 {
		return nil
	}
	return shape.Fields{{Name: provider, Value: f.Raw()}}.Raw()
}

// UnpackExtra gives the fields of a provider, with its forms and marks among
// them, and whether there is anything of another.
func UnpackExtra(extra json.RawMessage, provider string) (own shape.Fields, foreign bool) {
	if len(extra) == 0 {
		return nil, false
	}
	all, err := shape.Members(shape.Value{Raw: extra})
	if err != nil {
		return nil, true
	}
	for _, f := range all {
		if f.Name != provider {
			foreign = true
			continue
		}
		if own, err = shape.Members(shape.Value{Raw: f.Value}); err != nil {
			return nil, true
		}
	}
	return flat(own), foreign
}

// flat has forms and marks among the fields.
func flat(own shape.Fields) shape.Fields {
	for _, name := range []string{asSaid, mark} {
		if raw := own.Get(name); raw != nil {
			more, _ := shape.Members(shape.Value{Raw: raw})
			own = append(own.Without(name), more...)
		}
	}
	return own
}
