package codec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// ReadParts reads the content of a client's message: a text, or an array of what
// part reads. kind says of what: "blocks".
func ReadParts(v shape.Value, kind string, part func(shape.Value) (utp.Part, *shape.Error)) ([]utp.Part, *shape.Error) {
	switch v.Kind() {
	case '"':
		text, err := v.Text()
		return []utp.Part{utp.Text{Text: text}}, err
	case '[':
	default:
		return nil, &shape.Error{Offset: v.Offset, Want: "a text or an array of " + kind}
	}
	list, err := v.Elements()
	if err != nil {
		return nil, err
	}
	parts := make([]utp.Part, len(list))
	for i, v := range list {
		if parts[i], err = part(v); err != nil {
			return nil, shape.Inside(err, "", i)
		}
	}
	return parts, nil
}

// ReadArguments reads the arguments of a call in a client's history: an object, or
// a text of one. Of what is neither, raw is the text.
func ReadArguments(v shape.Value) (args json.RawMessage, raw string) {
	switch v.Kind() {
	case '{':
		return v.Raw, ""
	case '"':
		if text := v.String(); shape.IsObject([]byte(text)) {
			return json.RawMessage(text), ""
		} else {
			return nil, text
		}
	}
	return nil, string(v.Raw)
}

// ReadFile reads a file by its URL, or with a data: URL, which is of base64, the
// file itself. v is where the URL stood.
func ReadFile(url string, v shape.Value) (utp.Blob, *shape.Error) {
	kind, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || !strings.HasPrefix(url, "data:") {
		return utp.Blob{URL: url}, nil
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return utp.Blob{}, &shape.Error{Offset: v.Offset, Want: fmt.Sprintf("base64 in the data: URL (%v)", err)}
	}
	return utp.Blob{MIME: kind, Data: b}, nil
}

// FileURL is the URL of a file, or a data: URL with the file itself.
func FileURL(b utp.Blob) string {
	if b.URL != "" {
		return b.URL
	}
	return "data:" + b.MIME + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
}

// Plain reports parts whose content is texts with nothing to them.
func Plain(parts []utp.Part) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case utp.Text:
			if len(p.Extra) > 0 {
				return false
			}
		case utp.Blob, utp.Unknown:
			return false
		}
	}
	return true
}
