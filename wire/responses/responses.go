// Package responses speaks OpenAI's Responses API, /v1/responses: Back calls a
// server that has it, Front poses as one. Nothing is stored: a request holds its
// whole conversation.
//
// Source: the types of github.com/openai/openai-go, package responses, and
// OpenAI's API reference, "Responses" and "Streaming events".
package responses

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
)

// provider is the name of this API in Extra, Think and Unknown.
const provider = "responses"

// schemaOf is the schema that a format asks for; {} is any JSON.
func schemaOf(f *formatJSON) json.RawMessage {
	switch {
	case f == nil:
		return nil
	case f.Type == "json_object":
		return json.RawMessage("{}")
	case f.Type == "json_schema":
		return f.Schema
	}
	return nil
}

// asRole is, in a message's Extra, the role that its client gave it: "developer".
const asRole = "role"

// inContent marks, in Extra, reasoning that came as text, not as a summary.
const inContent = "in_content"

// reasoningText joins the summary, or where there is none the reasoning itself.
func reasoningText(t reasoningItem) (text string, open bool) {
	parts := t.Summary
	if len(parts) == 0 && len(t.Content) > 0 {
		parts, open = t.Content, true
	}
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.Text
	}
	return strings.Join(words, "\n\n"), open
}

func (u *usageJSON) usage() utp.Usage {
	out := utp.Usage{CacheRead: int(u.InputHow.Cached), CacheWrite: int(u.InputHow.Written), Output: int(u.Output)}
	out.Input = max(0, int(u.Input)-out.CacheRead-out.CacheWrite)
	if n := int(u.OutputHow.Reasoning); n <= out.Output {
		out.Output, out.Reasoning = out.Output-n, n
	}
	return out
}

// member is the namespace of a tool and its name there.
type member struct{ namespace, name string }

// members lists the tools that are in namespaces, by their full names.
func members(tools []utp.Tool) map[string]member {
	out := map[string]member{}
	for _, t := range tools {
		own, _ := codec.UnpackExtra(t.Extra, provider)
		if ns := own.Text(inNamespace); ns != "" {
			out[t.Name] = member{ns, own.Text(nameInNamespace)}
		}
	}
	return out
}

// Of a tool in a namespace, Extra names both; the tool's own name is then
// NAMESPACE__NAME.
const (
	inNamespace     = "namespace"
	namespaceText   = "namespace_description"
	nameInNamespace = "name_in_namespace"
	strictDefault   = "strict" // in Extra: null where it was left out
)
