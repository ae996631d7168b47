// Package openai speaks OpenAI's chat completions, /v1/chat/completions: Back
// calls OpenAI and the many servers that copy it, Front poses as one.
//
// Source: OpenAI API reference, "Chat", and the types of
// github.com/openai/openai-go; the servers' own documentation where a comment
// names one.
package openai

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// provider is the name of this API in Extra, Think and Unknown.
const provider = "openai"

// wants notes the output that a format asks for; {} is any JSON.
func (f formatJSON) wants(p *utp.Params) {
	switch {
	case f.Type == "json_schema" && f.Schema != nil && len(f.Schema.Schema) > 0:
		p.Schema, p.SchemaName, p.SchemaAbout, p.SchemaHeld = f.Schema.Schema, f.Schema.Name, f.Schema.Description, f.Schema.Strict
	case f.Type == "json_object", f.Type == "json_schema":
		p.Schema = json.RawMessage("{}")
	}
}

// known reports a format of which the model has a place for all.
func (f formatJSON) known() bool {
	return len(f.Rest) == 0 && (f.Schema == nil || len(f.Schema.Rest) == 0)
}

func origin(field string) json.RawMessage {
	return codec.PackExtra(provider, codec.Marked(nil, shape.Field{Name: asField, Value: shape.Quote(field).Raw}))
}

// origins are the Extras of reasoning that came in one of the fields. It goes
// back in the same field, beside calls only; DeepSeek insists on it, servers that
// never sent the field may refuse it.
var origins = map[string]json.RawMessage{
	"reasoning_content": origin("reasoning_content"), "reasoning": origin("reasoning"), "thinking": origin("thinking"), "content": origin("content"),
	"tool_plan": origin("tool_plan"),
}

// Names in the Extra of this provider that are none of the API.
const (
	asRole  = "role"    // of a message: the role that its client gave it
	asField = "field"   // of reasoning: the field that it came in
	refusal = "refusal" // of a text: it is one
	asFile  = "file"    // of a file: its client sent it as one
	legacy  = "functions"
	options = "choices" // of a reply's end: what its choice alone says
)

func (u *usageJSON) usage() utp.Usage {
	var in promptHow
	var out completionHow
	if u.PromptHow != nil {
		in = *u.PromptHow
	}
	if u.CompletionHow != nil {
		out = *u.CompletionHow
	}
	return codec.OpenAIUsage(u.Prompt, max(u.CacheHit, in.Cached), in.Written, u.Completion, out.Reasoning)
}

// reasoned lists the reasoning of a message: what details seal, and between that
// the words which are in none of it, as plain has them. Details without a seal go
// back to their server with the next request.
func reasoned(plain utp.Think, details []shape.Value) (thinks []utp.Think, others []shape.Value) {
	words, all := plain.Text, true
	add := func(text string) {
		if plain.Text = text; text != "" {
			thinks = append(thinks, plain)
		}
	}
	for _, v := range details {
		t, ok := unsealed(v)
		if !ok {
			others = append(others, v)
			continue
		}
		before, after, found := strings.Cut(words, t.Text)
		if all = all && found; found && t.Text != "" {
			add(before)
			words = after
		}
		thinks = append(thinks, t)
	}
	if all {
		add(words)
	}
	return thinks, others
}

// unsealed is reasoning that this package sealed.
func unsealed(v shape.Value) (utp.Think, bool) {
	d, err := ofDetail.Read(v)
	if err != nil {
		return utp.Think{}, false
	}
	t, ok := codec.Unseal(d.Signature)
	t.Text = d.Text
	return t, ok
}

// carry is, in a call's extra_content, its Extra: what other providers want back
// with the call. Clients that send extra_content back, as Google asks them to,
// bring it. What Gemini wants stands where Google has it: some clients know no more.
const carry = "utp"

// callExtra reads the Extra of a call from what stands beside it.
func callExtra(rest shape.Fields) json.RawMessage {
	content, _ := shape.Members(shape.Value{Raw: rest.Get("extra_content")})
	out, _ := shape.Members(shape.Value{Raw: content.Get(carry)})
	out = codec.WithThoughtSignature(out, content)
	if out == nil {
		return codec.PackExtra(provider, rest)
	}
	rest = rest.Without("extra_content")
	if content = content.Without(carry); content != nil {
		field := shape.Field{Name: "extra_content", Value: content.Raw()}
		if codec.Only(shape.Value{Raw: field.Value}, "google") && codec.Only(shape.Value{Raw: content.Get("google")}, "thought_signature") {
			rest = codec.Marked(rest, field)
		} else {
			rest = append(rest, field)
		}
	}
	if rest != nil {
		out = append(out, shape.Field{Name: provider, Value: rest.Raw()})
	}
	return out.Raw()
}
