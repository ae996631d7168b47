package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Tools lists tools by tier, with all that a model is told of them. offered is
// the tier of a question that raises none.
func Tools(w io.Writer, tools []utp.Tool, offered utp.Tier) {
	for tier := utp.TierCrawl; tier <= utp.TierRun; tier++ {
		fmt.Fprintf(w, "%s%s\n", tier, tierNote(tier, offered))
		for _, t := range tools {
			if t.Tier == tier {
				oneTool(w, t)
			}
		}
	}
}

func tierNote(tier, offered utp.Tier) string {
	switch {
	case tier <= offered:
		return ""
	case tier == utp.TierRun:
		return "  (offered when a question asks for a change, or with --tier run)"
	}
	return "  (offered when a question asks for it, or with --tier " + strings.ToLower(tier.String()) + ")"
}

func oneTool(w io.Writer, t utp.Tool) {
	confirm := ""
	if t.Confirm {
		confirm = "  [asks before it runs]"
	}
	fmt.Fprintf(w, "  %s%s\n", t.Name, confirm)
	for line := range strings.Lines(strings.TrimSpace(t.Description)) {
		fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
	}
	for _, p := range params(t.Schema) {
		fmt.Fprintf(w, "      - %s\n", p)
	}
}

// params lists the properties of a schema in its order, a line each.
func params(schema json.RawMessage) (out []string) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(string(s.Properties)))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return out
		}
		var p property
		if dec.Decode(&p) != nil {
			return out
		}
		out = append(out, p.line(fmt.Sprint(name), s.Required))
	}
	return out
}

type property struct {
	Type        any             `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []any           `json:"enum"`
}

func (p property) line(name string, required []string) string {
	s := name
	if p.Type != nil {
		s += fmt.Sprintf(" (%v", p.Type)
		for _, r := range required {
			if r == name {
				s += ", required"
			}
		}
		if p.Default != nil {
			s += ", default " + string(p.Default)
		}
		if p.Enum != nil {
			s += fmt.Sprintf(", one of %v", p.Enum)
		}
		s += ")"
	}
	if p.Description != "" {
		s += ": " + p.Description
	}
	return s
}

// ToolRow is a tool with each of its fields, also where it is empty.
type ToolRow struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tier        utp.Tier        `json:"tier"`
	Confirm     bool            `json:"requires_confirmation"`
}

// ToolList makes rows for --json.
func ToolList(tools []utp.Tool) []ToolRow {
	rows := []ToolRow{}
	for _, t := range tools {
		rows = append(rows, ToolRow{t.Name, t.Description, t.Schema, t.Tier, t.Confirm})
	}
	return rows
}
