package wire

import "encoding/json"

// An Extra of the model holds what one provider alone knows, under its name:
// {"anthropic": {"cache_control": …}}. It is written back to that provider and
// reported as a loss to others.

// PackExtra is the Extra for the fields of a provider; nil if there are none.
func PackExtra(provider string, f Fields) json.RawMessage {
	if len(f) == 0 {
		return nil
	}
	inner, err := f.MarshalJSON()
	if err != nil {
		return nil
	}
	outer, err := Fields{{provider, inner}}.MarshalJSON()
	if err != nil {
		return nil
	}
	return outer
}

// UnpackExtra gives the fields of a provider, and whether there is anything of another.
func UnpackExtra(extra json.RawMessage, provider string) (own Fields, foreign bool) {
	if len(extra) == 0 {
		return nil, false
	}
	all, err := Members(Value{Raw: extra})
	if err != nil {
		return nil, true
	}
	for _, f := range all {
		if f.Name != provider {
			foreign = true
			continue
		}
		if own, err = Members(Value{Raw: f.Value}); err != nil {
			return nil, true
		}
	}
	return own, foreign
}

// MarshalWith writes v, a struct, with more fields behind its own.
func MarshalWith(v any, more Fields) (json.RawMessage, error) {
	b, err := Marshal(v)
	if err != nil || len(more) == 0 {
		return b, err
	}
	tail, err := more.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if len(b) > len("{}") {
		tail[0] = ','
		return append(b[:len(b)-1], tail...), nil
	}
	return tail, nil
}
