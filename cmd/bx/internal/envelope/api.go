package envelope

import (
	"bytes"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// api is a provider's API: its codec, and what its replies look like.
type api struct {
	name   string
	back   wire.Back
	whole  func(fields) bool // a reply
	chunk  func(fields) bool // an event of a stream
	item   func(fields) bool // a call, or a block of a reply that may be one
	around string            // a reply, around a list of items
	framed bool              // the codec's Reader takes a whole reply as one frame, which keeps broken calls in their places
}

// apis are asked in this order. Ollama's replies would fit OpenAI's bare choice
// but for "done"; its items are read by OpenAI's codec.
var apis = [...]api{
	{"ollama", ollama.Back{}, ollamaWhole, ollamaChunk, never, "", true},
	{"openai", openai.Back{}, openaiWhole, openaiChunk, openaiItem, `{"choices":[{"message":{"tool_calls":%s},"finish_reason":"tool_calls"}]}`, true},
}

// fields are the members of a JSON object.
type fields map[string]json.RawMessage

func whole(a *api) func(fields) bool { return a.whole }
func chunk(a *api) func(fields) bool { return a.chunk }
func item(a *api) func(fields) bool  { return a.item }

// match finds the API that o is of, or -1.
func match(o fields, what func(*api) func(fields) bool) int {
	for i := range apis {
		if what(&apis[i])(o) {
			return i
		}
	}
	return -1
}

func never(fields) bool { return false }

func ollamaWhole(o fields) bool { return o.is("done", "true") && o.object("message") != nil }
func ollamaChunk(o fields) bool { return o.is("done", "false") && o.object("message") != nil }

// openaiWhole takes a reply, one of its choices, or the message of one.
func openaiWhole(o fields) bool {
	if first := o.first("choices"); first != nil {
		return first.object("message") != nil
	}
	if m := o.object("message"); m != nil && o["choices"] == nil {
		o = m
	}
	return o.is("role", `"assistant"`) && (o["content"] != nil && !o.list("content") || o["tool_calls"] != nil) && o["type"] == nil
}

func openaiChunk(o fields) bool {
	if first := o.first("choices"); first != nil {
		return first.object("delta") != nil
	}
	return o["choices"] != nil && o.is("object", `"chat.completion.chunk"`)
}

// openaiItem takes an entry of tool_calls, of Ollama too.
func openaiItem(o fields) bool {
	f := o.object("function")
	return f != nil && f["name"] != nil
}

// is reports whether a member is exactly this JSON.
func (o fields) is(key, value string) bool { return string(bytes.TrimSpace(o[key])) == value }

func (o fields) list(key string) bool { return bytes.HasPrefix(o[key], []byte("[")) }

// object is the member as an object, or nil.
func (o fields) object(key string) fields {
	var in fields
	if o[key] == nil || json.Unmarshal(o[key], &in) != nil {
		return nil
	}
	return in
}

// first is the first element of a list of objects, or nil.
func (o fields) first(key string) fields {
	var list []fields
	if o[key] == nil || json.Unmarshal(o[key], &list) != nil || len(list) == 0 {
		return nil
	}
	return list[0]
}
