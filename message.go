package utp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A Part is a piece of a message: Text, Think, Call, Result, Blob or Unknown.
type Part interface{ part() }

// Text is text for the reader.
type Text struct {
	Text  string          `json:"text"`
	Extra json.RawMessage `json:"extra,omitempty"`
}

// Think is reasoning. Signature and Redacted belong to the Provider and Model
// that made them and mean nothing to others.
type Think struct {
	Text      string          `json:"text,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Redacted  bool            `json:"redacted,omitempty"`
	Provider  string          `json:"provider,omitempty"`
	Model     string          `json:"model,omitempty"`
	ItemID    string          `json:"item_id,omitempty"`
	Extra     json.RawMessage `json:"extra,omitempty"`
}

// Blob is an image, a file or a sound: Data, or a URL to it.
type Blob struct {
	MIME   string          `json:"mime,omitempty"`
	Name   string          `json:"name,omitempty"`
	Data   []byte          `json:"data,omitempty"`
	URL    string          `json:"url,omitempty"`
	Detail string          `json:"detail,omitempty"` // of an image, how closely it is looked at: low, high, auto
	Extra  json.RawMessage `json:"extra,omitempty"`
}

// Unknown is a part that only its own provider understands.
type Unknown struct {
	Provider string          `json:"provider"`
	Raw      json.RawMessage `json:"raw"`
}

func (Text) part()    {}
func (Think) part()   {}
func (Call) part()    {}
func (Result) part()  {}
func (Blob) part()    {}
func (Unknown) part() {}

// Role is who speaks.
type Role string

const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // carries Results only
)

// Message is one turn of a conversation. It marshals to JSON, each part with
// its "type", and unmarshals from it.
type Message struct {
	Role  Role
	Parts []Part
	Extra json.RawMessage
}

// NewText is a message of one text part.
func NewText(r Role, text string) Message {
	return Message{Role: r, Parts: []Part{Text{Text: text}}}
}

// Text joins the texts that say something: as they stand around calls and thinking,
// else a line each.
func (m Message) Text() string { return textOf(m.Parts) }

// Calls lists the calls in order.
func (m Message) Calls() []Call { return partsOf[Call](m.Parts) }

// Results lists the results in order.
func (m Message) Results() []Result { return partsOf[Result](m.Parts) }

func partsOf[P Part](parts []Part) (out []P) {
	for _, p := range parts {
		if p, ok := p.(P); ok {
			out = append(out, p)
		}
	}
	return out
}

func textOf(parts []Part) string {
	if len(parts) == 1 {
		t, _ := parts[0].(Text)
		return t.Text
	}
	var b strings.Builder
	apart := true
	for _, p := range parts {
		switch p := p.(type) {
		case Call, Think:
			apart = true
		case Text:
			if p.Text == "" {
				continue
			}
			if !apart {
				b.WriteByte('\n')
			}
			b.WriteString(p.Text)
			apart = false
		}
	}
	return b.String()
}

var partTypes = map[string]func() any{
	"text": func() any { return new(Text) }, "think": func() any { return new(Think) },
	"call": func() any { return new(Call) }, "result": func() any { return new(Result) },
	"blob": func() any { return new(Blob) }, "unknown": func() any { return new(Unknown) },
}

func typeOf(p Part) string {
	switch p.(type) {
	case Text:
		return "text"
	case Think:
		return "think"
	case Call:
		return "call"
	case Result:
		return "result"
	case Blob:
		return "blob"
	case Unknown:
		return "unknown"
	}
	return ""
}

func marshalParts(parts []Part) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(parts))
	for i, p := range parts {
		if p == nil {
			return nil, fmt.Errorf("parts[%d] is nil", i)
		}
		body, err := encode(p)
		if err != nil {
			return nil, fmt.Errorf("parts[%d]: %w", i, err)
		}
		head := fmt.Sprintf(`{"type":%q`, typeOf(p))
		if len(body) > len("{}") {
			head += ","
		}
		out[i] = append([]byte(head), body[1:]...)
	}
	return out, nil
}

func unmarshalParts(raw []json.RawMessage) ([]Part, error) {
	if raw == nil {
		return nil, nil
	}
	out := make([]Part, len(raw))
	for i, r := range raw {
		var head struct{ Type string }
		if err := json.Unmarshal(r, &head); err != nil {
			return nil, fmt.Errorf("parts[%d]: %w", i, err)
		}
		build := partTypes[head.Type]
		if build == nil {
			return nil, fmt.Errorf("parts[%d]: unknown type %q", i, head.Type)
		}
		p := build()
		if err := json.Unmarshal(r, p); err != nil {
			return nil, fmt.Errorf("parts[%d] (%s): %w", i, head.Type, err)
		}
		out[i] = deref(p)
	}
	return out, nil
}

func deref(p any) Part {
	switch p := p.(type) {
	case *Text:
		return *p
	case *Think:
		return *p
	case *Call:
		return *p
	case *Result:
		return *p
	case *Blob:
		return *p
	case *Unknown:
		return *p
	}
	return nil
}

// encode is json.Marshal without HTML escapes: arguments keep their bytes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

type messageJSON struct {
	Role  Role              `json:"role"`
	Parts []json.RawMessage `json:"parts"`
	Extra json.RawMessage   `json:"extra,omitempty"`
}

// MarshalJSON writes {"role","parts":[{"type",…}]}.
func (m Message) MarshalJSON() ([]byte, error) {
	parts, err := marshalParts(m.Parts)
	if err != nil {
		return nil, fmt.Errorf("utp: message: %w", err)
	}
	return encode(messageJSON{m.Role, parts, m.Extra})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Message) UnmarshalJSON(b []byte) error {
	var j messageJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("utp: message: %w", err)
	}
	parts, err := unmarshalParts(j.Parts)
	if err != nil {
		return fmt.Errorf("utp: message: %w", err)
	}
	*m = Message{j.Role, parts, j.Extra}
	return nil
}

type resultJSON struct {
	CallID string            `json:"call_id,omitempty"`
	Name   string            `json:"name,omitempty"`
	Status Status            `json:"status"`
	Parts  []json.RawMessage `json:"parts"`
	Extra  json.RawMessage   `json:"extra,omitempty"`
}

// MarshalJSON writes the result with its parts.
func (r Result) MarshalJSON() ([]byte, error) {
	parts, err := marshalParts(r.Parts)
	if err != nil {
		return nil, fmt.Errorf("utp: result: %w", err)
	}
	return encode(resultJSON{r.CallID, r.Name, r.Status, parts, r.Extra})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Result) UnmarshalJSON(b []byte) error {
	var j resultJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("utp: result: %w", err)
	}
	parts, err := unmarshalParts(j.Parts)
	if err != nil {
		return fmt.Errorf("utp: result: %w", err)
	}
	*r = Result{CallID: j.CallID, Name: j.Name, Parts: parts, Status: j.Status, Extra: j.Extra}
	return nil
}
