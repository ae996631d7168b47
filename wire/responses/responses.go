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

// wants notes the output that a format asks for; {} is any JSON.
func (f *formatJSON) wants(p *utp.Params) {
	switch {
	case f == nil:
	case f.Type == "json_object":
		p.Schema = json.RawMessage("{}")
	case f.Type == "json_schema":
		p.Schema, p.SchemaName, p.SchemaAbout, p.SchemaHeld = f.Schema, f.Name, f.Description, f.Strict
	}
}

// reasoningText joins the summary, or where there is none the reasoning itself.
func reasoningText(t reasoningItem) (text string, open bool) {
	parts := t.Summary
	if open = len(parts) == 0 && len(t.Content) > 0; open {
		parts = t.Content
	}
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.Text
	}
	return strings.Join(words, "\n\n"), open
}

func (u *usageJSON) usage() utp.Usage {
	return codec.OpenAIUsage(u.Input, u.InputHow.Cached, u.InputHow.Written, u.Output, u.OutputHow.Reasoning)
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

// Names in the Extra of this provider that are none of the API, or mean more.
const (
	asRole          = "role"       // of a message: the one that its client gave it, "developer"
	inContent       = "in_content" // of reasoning: it came as text, not as a summary
	strictDefault   = "strict"     // of a tool: null where it was left out
	inNamespace     = "namespace"  // of a tool, whose own name is then NAMESPACE__NAME
	namespaceText   = "namespace_description"
	nameInNamespace = "name_in_namespace"
)
