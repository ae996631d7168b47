package wire

import (
	"bytes"
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

// overflow are words of the messages for a prompt that is longer than the window.
// Source: error texts of OpenAI, vLLM, llama.cpp, LM Studio, Anthropic and Gemini.
var overflow = []string{"context length", "context window", "maximum context", "context size", "context_length_exceeded", "prompt is too long", "too many tokens"}

// Overflow reports whether the prompt did not fit the model's window.
func (e *Error) Overflow() bool {
	if e.Code == "context_length_exceeded" || e.Type == "exceed_context_size_error" {
		return true
	}
	text := strings.ToLower(e.Message)
	for _, words := range overflow {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

type errorJSON struct {
	Error   json.RawMessage `json:"error"`
	Message shape.Loose     `json:"message"`
	Type    shape.Loose     `json:"type"`
	Code    shape.Loose     `json:"code"`
	Status  shape.Loose     `json:"status"`
	Detail  json.RawMessage `json:"detail"`
}

type detailJSON struct {
	Msg string `json:"msg"`
}

// ReadError reads an error body in any of the shapes {"error":"…"},
// {"error":{"message","type","code"}}, {"message","type","code"} and
// {"detail":…}, in a list (Google's surface for OpenAI's clients), or as plain text.
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
	if e.Message == "" {
		e.Message = detail(j.Detail)
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
	}{{&e.Message, []shape.Loose{j.Message}}, {&e.Type, []shape.Loose{j.Status, j.Type}}, {&e.Code, []shape.Loose{j.Code}}} {
		for _, from := range f.from {
			if from != "" {
				*f.to = string(from)
			}
		}
	}
}

// detail reads FastAPI's error: a text or a list of objects with "msg".
func detail(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []detailJSON
	_ = json.Unmarshal(raw, &list)
	var words []string
	for _, d := range list {
		words = append(words, d.Msg)
	}
	return strings.Join(words, "; ")
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
