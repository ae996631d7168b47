// Package anthropic speaks Anthropic's Messages API, /v1/messages: Back calls a
// server that has it, Front poses as one.
//
// Source: the types of github.com/anthropics/anthropic-sdk-go, package message,
// and Anthropic's API reference, "Messages", "Streaming" and "Errors".
package anthropic

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// provider is the name of this API in Extra, Think and Unknown.
const provider = "anthropic"

// betas is the header with the names of what is tried out, and its name in Extra.
const betas = "anthropic-beta"

// said is what a client's thinking and output_config mean.
func said(thinking, output shape.Value) (effort string, schema json.RawMessage) {
	o, err := readOutput.Read(output)
	if err == nil && o.Format != nil {
		schema = o.Format.Schema
	}
	t, bad := readThinking.Read(thinking)
	switch {
	case bad == nil && t.Type == "disabled":
		effort = "none"
	case err == nil && o.Effort != "":
		effort = o.Effort
	case bad == nil && t.Type == "enabled":
		effort = wire.Effort(t.Budget)
	}
	return effort, schema
}

// inline marks, in a message's Extra, a system message that its client put among
// the others.
const inline = "inline"

// stops maps stop_reason.
var stops = map[string]utp.Stop{
	"end_turn": utp.StopEnd, "max_tokens": utp.StopLength, "model_context_window_exceeded": utp.StopLength,
	"stop_sequence": utp.StopSequence, "tool_use": utp.StopTool, "pause_turn": utp.StopPause, "refusal": utp.StopFilter,
}

func (u *usageJSON) usage() utp.Usage {
	out := utp.Usage{Input: int(u.Input), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite), Output: int(u.Output)}
	if u.How != nil && int(u.How.Thinking) <= out.Output {
		out.Reasoning = int(u.How.Thinking)
		out.Output -= out.Reasoning
	}
	return out
}
