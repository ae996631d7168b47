package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// ErrCut is a stream that stopped before the reply was complete.
var ErrCut = errors.New("the stream ended before the reply was complete")

// NotThisAPI is the Error.Type of a stream or body that is none of the API.
const NotThisAPI = "not_this_api"

// Error is what a provider answered in place of a reply.
type Error struct {
	Status     int    // HTTP; 0 when it came inside a stream
	Type       string // the provider's: "invalid_request_error"
	Code       string // the provider's: "model_not_found"
	Param      string // the field of the request in question, in the provider's words: "reasoning.effort"; "" is not said
	Message    string
	RetryAfter time.Duration // 0: not said
	Body       string        // what was sent, at most 512 bytes
}

// Error says the status, the provider's message, or the body where there is no message.
func (e *Error) Error() string {
	var words []string
	if e.Status != 0 {
		words = append(words, fmt.Sprintf("HTTP %d", e.Status))
	}
	switch {
	case e.Message != "":
		words = append(words, e.Message)
	case e.Body != "":
		words = append(words, e.Body)
	default:
		words = append(words, "no message")
	}
	return strings.Join(words, ": ")
}

type errorJSON struct {
	Error   json.RawMessage `json:"error"`
	Message shape.Loose     `json:"message"`
	Type    shape.Loose     `json:"type"`
	Code    shape.Loose     `json:"code"`
	Status  shape.Loose     `json:"status"`
	Param   shape.Loose     `json:"param"`
	Detail  json.RawMessage `json:"detail"`

	Within shape.Lax[withinJSON] `json:"metadata"`
}

type withinJSON struct {
	Raw shape.Loose `json:"raw"`
}

// listedJSON is an error whose message is a list of details, or holds one.
type listedJSON struct {
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type detailJSON struct {
	Loc shape.Lax[[]shape.Loose] `json:"loc"` // "body", and the path to the field
	Msg shape.Loose              `json:"msg"`
}

// path is where the field in question stands.
func (d detailJSON) path() string {
	var words []string
	for i, w := range d.Loc.Is {
		if i > 0 || w != "body" {
			words = append(words, string(w))
		}
	}
	return strings.Join(words, ".")
}

// ReadError reads an error body in any of the shapes {"error":"…"},
// {"error":{"message","type","code"}}, {"message","type","code"} and
// {"detail":…}, in a list (Google's surface for OpenAI's clients), or as plain text.
// OpenRouter puts the error of the provider behind it into "metadata", vLLM and
// Mistral the fields in question into a list of details.
func ReadError(status int, body []byte) *Error {
	e := &Error{Status: status, Body: excerpt(body)}
	var j errorJSON
	if json.Unmarshal(alone(body), &j) != nil {
		return e
	}
	e.fill(j)
	var text string
	var inner errorJSON
	switch {
	case json.Unmarshal(j.Error, &text) == nil && text != "":
		e.Message = text
	case json.Unmarshal(j.Error, &inner) == nil:
		e.fill(inner)
	}
	if raw := inner.Within.Is.Raw; raw != "" {
		behind := ReadError(status, []byte(raw))
		e.Message += ": " + cmp.Or(behind.Message, behind.Body)
		e.Param, e.Code = behind.Param, cmp.Or(behind.Code, e.Code)
	}
	if e.Message == "" {
		e.details(j.Detail)
	}
	if e.Message == "" {
		e.listed(body)
	}
	return e
}

// alone is a body without a list around it.
func alone(body []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

func (e *Error) fill(j errorJSON) {
	for _, f := range []struct {
		to   *string
		from []shape.Loose
	}{{&e.Message, []shape.Loose{j.Message}}, {&e.Type, []shape.Loose{j.Status, j.Type}}, {&e.Code, []shape.Loose{j.Code}}, {&e.Param, []shape.Loose{j.Param}}} {
		for _, from := range f.from {
			if from != "" {
				*f.to = string(from)
			}
		}
	}
}

// details reads FastAPI's error: a text, or a list of objects that say where and what.
func (e *Error) details(raw json.RawMessage) {
	if json.Unmarshal(raw, &e.Message) == nil {
		return
	}
	var list []detailJSON
	_ = json.Unmarshal(raw, &list)
	var words []string
	for _, d := range list {
		path, text := d.path(), string(d.Msg)
		if e.Param = cmp.Or(e.Param, path); path != "" {
			text = path + ": " + text
		}
		words = append(words, text)
	}
	e.Message = strings.Join(words, "; ")
}

// listed reads Mistral's error: the details as the message, or inside of it.
func (e *Error) listed(body []byte) {
	var j, inner listedJSON
	if json.Unmarshal(body, &j) != nil {
		return
	}
	if json.Unmarshal(j.Message, &inner) == nil {
		j.Message = inner.Detail
	}
	e.details(j.Message)
}

const maxExcerpt = 512

// excerpt is the beginning of a body, on one line.
func excerpt(body []byte) string {
	body = bytes.TrimSpace(body)
	if len(body) > maxExcerpt {
		body = body[:maxExcerpt]
		for len(body) > 0 && !utf8.RuneStart(body[len(body)-1]) {
			body = body[:len(body)-1]
		}
		body = append(bytes.Clone(body[:max(0, len(body)-1)]), "…"...)
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(body), "\uFFFD")), " ")
}
