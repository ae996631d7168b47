package reading_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// A struct of ours, a struct of another module and ready JSON of two vendors
// are one tool: every provider gets the same bytes.
//
// contract: F-02
func TestAToolIsTheSameWhereverItComesFrom(t *testing.T) {
	own := utp.Tool{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}`)}
	schema := map[string]any{"type": "object", "properties": map[string]any{"path": map[string]string{"type": "string"}}, "required": []string{"path"}}
	for name, given := range map[string]any{
		"struct":  sdk.Tool{Name: "read_file", Description: "Reads.", InputSchema: schema},
		"openai":  map[string]any{"type": "function", "function": map[string]any{"name": "read_file", "description": "Reads.", "parameters": schema}},
		"claude":  map[string]any{"name": "read_file", "description": "Reads.", "input_schema": schema},
		"its own": own,
	} {
		text, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		tools, err := reading.ParseTools(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, back := range []wire.Back{openai.Back{}, ollama.Back{}, anthropic.Back{}} {
			if want, got := opened(t, back, own), opened(t, back, tools[0]); got != want {
				t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
			}
		}
	}
}

// opened is the request that offers a tool, its keys in one order.
func opened(t *testing.T, b wire.Back, tool utp.Tool) string {
	t.Helper()
	x, err := b.Open(&utp.Request{Model: "m", Tools: []utp.Tool{tool}, Messages: []utp.Message{utp.NewText(utp.RoleUser, "?")}})
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(x.Body, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
