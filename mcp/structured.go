package mcp

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/te"
)

// outputSchema is that of every tool's structured content.
const outputSchema = `{"type":"object","properties":{` +
	`"status":{"type":"string","enum":["ok","error","denied"],"description":"denied: a rule or the user forbids it"},` +
	`"data":{"type":"object","description":"The result, where it is an object"},` +
	`"envelope":{"type":"object","description":"Of a search: what was found, what is left out, and the handle of all"},` +
	`"text":{"type":"string","description":"Any other result"}},` +
	`"required":["status"]}`

// structured is a result for programs: the facts of its text.
type structured struct {
	Status   string          `json:"status"`
	Data     json.RawMessage `json:"data,omitempty"`
	Envelope *envelope       `json:"envelope,omitempty"`
	Text     string          `json:"text,omitempty"`
}

type envelope struct {
	Meta    json.RawMessage `json:"meta"`
	Matches []match         `json:"matches"`
	Omitted []tally         `json:"omitted,omitempty"`
}

type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type tally struct {
	In string `json:"in,omitempty"`
	N  int    `json:"n"`
}

func structure(r utp.Result) structured {
	out := structured{Status: string(r.Status)}
	text := r.Text()
	e, err := te.Parse(text)
	switch trimmed := strings.TrimSpace(text); {
	case err == nil && len(e.Matches) > 0:
		out.Envelope = enveloped(e, text)
	case strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)):
		out.Data = json.RawMessage(trimmed)
	default:
		out.Text = text
	}
	return out
}

func enveloped(e te.Envelope, text string) *envelope {
	lines := strings.SplitN(text, "\n", 3) // the mark, the header
	out := &envelope{Meta: json.RawMessage(lines[1])}
	for _, m := range e.Matches {
		out.Matches = append(out.Matches, match{m.Path, m.N, m.Text})
		for _, l := range m.More {
			out.Matches = append(out.Matches, match{m.Path, l.N, l.Text})
		}
	}
	for _, t := range e.Omitted {
		out.Omitted = append(out.Omitted, tally{t.Dir, t.N})
	}
	return out
}
