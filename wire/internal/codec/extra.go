package codec

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// An Extra of the model holds what one provider alone knows, under its name:
// {"anthropic": {"cache_control": …}}. It is written back to that provider and
// reported as a loss to others.

// PackExtra is the Extra for the fields of a provider; nil if there are none.
func PackExtra(provider string, f shape.Fields) json.RawMessage {
	if len(f) == 0 {
		return nil
	}
	return shape.Fields{{Name: provider, Value: f.Raw()}}.Raw()
}

// UnpackExtra gives the fields of a provider, and whether there is anything of another.
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
	return own, foreign
}
