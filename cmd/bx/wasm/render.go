//go:build wasip1 && render

package main

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// more prepares the part that only writes, which adds a ninth to the size.
func more() {
	must(render(`{"tools":[{"name":"now"}],"messages":[{"role":"user","parts":[{"type":"text","text":"Hi"}]}]}`))
}

// render writes tools, calls and results as the text of a dialect.
//
//go:wasmexport render
func render(ask string) int32 { return answer(rendered([]byte(ask))) }

func rendered(b []byte) (any, error) {
	var ask struct {
		Dialect  string          `json:"dialect"`
		Model    string          `json:"model"`
		Tools    json.RawMessage `json:"tools"`
		Messages []utp.Message   `json:"messages"`
		Choice   utp.Choice      `json:"choice"`
	}
	if err := json.Unmarshal(b, &ask); err != nil {
		return nil, err
	}
	g, err := reading.Written(ask.Dialect, ask.Model)
	if err != nil {
		return nil, err
	}
	r := &utp.Request{Messages: ask.Messages, Choice: ask.Choice}
	if len(ask.Tools) > 0 {
		if r.Tools, err = reading.ParseTools(ask.Tools); err != nil {
			return nil, err
		}
	}
	text := prompt.Tools(g, r.Tools)
	if r, err = prompt.Render(g, r); err != nil {
		return nil, err
	}
	return map[string]any{"dialect": g.Name, "text": text, "messages": r.Messages}, nil
}
