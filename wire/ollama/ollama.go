// Package ollama speaks Ollama's own API: Back calls /api/chat, Front poses as a
// server with /api/chat, /api/generate and the lists of models.
//
// Source: Ollama docs/api.md, api/types.go and server/routes.go.
package ollama

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// provider is the name of this API in Extra, Think and Unknown.
const provider = "ollama"

func image(b utp.Blob) shape.Value {
	return shape.JSON(base64.StdEncoding.EncodeToString(b.Data), nil)
}

// generate marks, in a request's Extra, one of /api/generate: its reply has no message.
const generate = "generate"

func blob(v shape.Value) (b utp.Blob, err *shape.Error) {
	s, err := v.Text()
	if err != nil {
		return b, err
	}
	if head, data, ok := strings.Cut(s, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		s = data
	}
	raw, bad := base64.StdEncoding.DecodeString(s)
	if bad != nil {
		return b, &shape.Error{Offset: v.Offset, Want: fmt.Sprintf("an image in base64 (%v)", bad)}
	}
	return utp.Blob{MIME: kindOf(raw), Data: raw}, nil
}

// kindOf tells an image's type by its first bytes; the API does not say it.
func kindOf(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xd8")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("GIF8")):
		return "image/gif"
	case len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	}
	return "image/png"
}

// schemaOf is the schema that a format asks for; {} is any JSON.
func schemaOf(format shape.Value) json.RawMessage {
	switch format.Kind() {
	case '{':
		return format.Raw
	case '"':
		if format.String() == "json" {
			return json.RawMessage("{}")
		}
	}
	return nil
}

// effortOf is the Params.Effort for a think; true is medium.
func effortOf(v shape.Value) string {
	switch v.Kind() {
	case 't':
		return "medium"
	case 'f':
		return "none"
	}
	return v.String()
}

// duration is one of a reply's times, by its name.
type duration struct {
	name string
	at   *shape.LooseInt
}

func durations(j *replyJSON) []duration {
	return []duration{{"total_duration", &j.Total}, {"load_duration", &j.Load}, {"prompt_eval_duration", &j.PromptDuration}, {"eval_duration", &j.EvalDuration}}
}
