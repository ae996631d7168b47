package codec

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// What Gemini wants back with a call is in the call's Extra, and on Google's
// surface for OpenAI's clients in the call's extra_content.
// Source: Google, "Thought signatures", OpenAI compatibility.
const (
	gemini    = "gemini"
	signature = "thoughtSignature"
)

// ThoughtSignature is Gemini's signature of a call in its Extra, and the Extra
// without it.
func ThoughtSignature(extra json.RawMessage) (said string, rest shape.Fields) {
	rest, _ = shape.Members(shape.Value{Raw: extra})
	own, _ := UnpackExtra(extra, gemini)
	if said = own.Text(signature); said == "" {
		return "", rest
	}
	if own = own.Without(signature); len(own) == 0 {
		return said, rest.Without(gemini)
	}
	return said, rest.Set(gemini, own.Raw())
}

// WithThoughtSignature is the fields of an Extra with the signature in an
// extra_content, if there is one.
func WithThoughtSignature(extra, content shape.Fields) shape.Fields {
	google, _ := shape.Members(shape.Value{Raw: content.Get("google")})
	said := google.Get("thought_signature")
	if (shape.Value{Raw: said}).String() == "" {
		return extra
	}
	own, _ := shape.Members(shape.Value{Raw: extra.Get(gemini)})
	return extra.Set(gemini, own.Set(signature, said).Raw())
}
