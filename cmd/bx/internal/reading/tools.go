package reading

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
)

// ParseTools reads a list of tools as JSON: OpenAI's, Anthropic's, MCP's, or
// plain {"name","description","parameters"}; also one tool, or an object with
// the list in "tools". An error names the entry. Of two tools of one name the
// first counts.
func ParseTools(b []byte) (tools []utp.Tool, err error) {
	if err := json.Unmarshal(b, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("tools: %w", located(b, err))
	}
	entries, err := entriesOf(bytes.TrimSpace(b))
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		tool, err := parseTool(e)
		if err != nil {
			return nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// located adds the line of a syntax error.
func located(b []byte, err error) error {
	var s *json.SyntaxError
	if !errors.As(err, &s) || s.Offset > int64(len(b)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(b[:s.Offset], []byte("\n")), err)
}

func entriesOf(b []byte) (entries []json.RawMessage, err error) {
	var o struct{ Tools json.RawMessage }
	switch {
	case b[0] == '{' && json.Unmarshal(b, &o) == nil && o.Tools != nil:
		b = o.Tools
	case b[0] == '{':
		return []json.RawMessage{b}, nil
	}
	if string(b) == "null" {
		return nil, nil
	}
	if json.Unmarshal(b, &entries) != nil {
		return nil, fmt.Errorf("tools: want a list of tools, have %s", excerpt(b))
	}
	return entries, nil
}

// toolJSON is an entry in any of the styles. Source: OpenAI's and Anthropic's
// API references ("tools"), the Model Context Protocol ("tools/list").
type toolJSON struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	InputSchema json.RawMessage `json:"input_schema"`
	MCPSchema   json.RawMessage `json:"inputSchema"`
	Strict      *bool           `json:"strict"`
	Function    *toolJSON       `json:"function"`
	Custom      *toolJSON       `json:"custom"`
}

const wantTool = `want {"type":"function","function":{"name","parameters"}}, {"name","input_schema"} or {"name","parameters"}`

func parseTool(b []byte) (utp.Tool, error) {
	var j toolJSON
	if err := json.Unmarshal(b, &j); err != nil || b[0] != '{' {
		return utp.Tool{}, fmt.Errorf("%s, have %s", wantTool, excerpt(b))
	}
	kind := utp.FunctionTool
	switch {
	case j.Function != nil:
		j = *j.Function
	case j.Custom != nil:
		j, kind = *j.Custom, utp.CustomTool
	case j.Type == "custom" && j.InputSchema == nil:
		kind = utp.CustomTool
	}
	if j.Name == "" {
		return utp.Tool{}, fmt.Errorf("the name is missing: %s", wantTool)
	}
	for _, s := range []json.RawMessage{j.InputSchema, j.MCPSchema} {
		if j.Parameters == nil {
			j.Parameters = s
		}
	}
	schema, err := schemaOf(j.Parameters)
	if err != nil {
		return utp.Tool{}, fmt.Errorf("%s: %w", j.Name, err)
	}
	return utp.Tool{Name: j.Name, Description: j.Description, Schema: schema, Kind: kind, Strict: j.Strict}, nil
}

func schemaOf(b json.RawMessage) (json.RawMessage, error) {
	switch {
	case b == nil || string(b) == "null":
		return nil, nil
	case b[0] != '{':
		return nil, fmt.Errorf("the parameters: want a JSON Schema, an object, have %s", excerpt(b))
	}
	return b, nil
}

const maxExcerpt = 60

// excerpt is the beginning of a text.
func excerpt(b []byte) string {
	if len(b) > maxExcerpt {
		return string(bytes.ToValidUTF8(b[:maxExcerpt], nil)) + "…"
	}
	return string(b)
}
