package envelope

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// api is a provider's API: its codec, and what its replies look like. The
// codec's Reader takes a whole reply as a stream of one frame.
type api struct {
	name   string
	back   wire.Back
	whole  shape  // a reply
	chunk  shape  // an event of a stream
	item   shape  // a call, or a block of a reply that may be one
	around string // a reply, around a list of items
}

// apis are asked in this order: an API whose shapes are those of another with
// something more stands first. Ollama's items are read by OpenAI's codec.
var apis = [...]api{
	{"ollama", ollama.Back{},
		shape{"done=true message.role", "done=true message.content"},
		shape{"done=false message.role", "done=false message.content"}, nil, ""},
	{"anthropic", anthropic.Back{},
		shape{"type=message role=assistant content"},
		shape{"type=message_start"},
		shape{"type=tool_use input", "type=text text", "type=thinking thinking", "type=redacted_thinking data"},
		`{"type":"message","role":"assistant","content":%s,"stop_reason":"tool_use"}`},
	{"responses", responses.Back{},
		shape{"object=response output"},
		shape{"type=response.*"},
		shape{"type=function_call arguments", "type=custom_tool_call input", "type=message role=assistant content", "type=reasoning"},
		`{"object":"response","status":"completed","output":%s}`},
	{"gemini", gemini.Back{},
		shape{"candidates.0.content", "candidates.0.finishReason"},
		shape{"candidates.0.content", "candidates.0.finishReason"},
		shape{"functionCall.name", "text !type"},
		`{"candidates":[{"content":{"role":"model","parts":%s},"finishReason":"STOP"}]}`},
	{"openai", openai.Back{},
		shape{"choices.0.message", "message.role=assistant !choices !done", "role=assistant content !content.0 !type", "role=assistant tool_calls !type",
			"message.tool_calls.0 !choices !done", "text tool_calls !type", "type=ai tool_calls", "type=ai content"},
		shape{"choices.0.delta", "object=chat.completion.chunk choices"},
		shape{"function.name function.arguments", "function.name function.parameters !function.description", "name arguments !type", "name parameters !type !description",
			"name args", "name input !type", "name params !type !description", "function_name", "tool_name"},
		`{"choices":[{"message":{"tool_calls":%s},"finish_reason":"tool_calls"}]}`},
}

// shape is what a JSON object looks like: it has one of these forms. A form is
// conditions with blanks between, which all hold:
//
//	path        there is such a value, and it is not null
//	!path       there is none
//	path=word   it is this text, number or word; "word*" begins so
//
// A path is keys, and places in lists, with dots between.
type shape []string

// fits reports whether o has one of the forms.
func (s shape) fits(o fields) bool {
	for _, form := range s {
		if all(strings.Fields(form), o.holds) {
			return true
		}
	}
	return false
}

// fields are the members of a JSON object.
type fields map[string]json.RawMessage

func (o fields) holds(condition string) bool {
	path, word, valued := strings.Cut(condition, "=")
	path, no := strings.CutPrefix(path, "!")
	value := o.at(path)
	there := value != nil && string(value) != "null"
	if !valued {
		return there != no
	}
	text := strings.Trim(string(value), `"`)
	start, open := strings.CutSuffix(word, "*")
	return there && (text == word || open && strings.HasPrefix(text, start))
}

// at is the value at a path, or nil.
func (o fields) at(path string) json.RawMessage {
	key, rest, more := strings.Cut(path, ".")
	value := bytes.TrimSpace(o[key])
	for more && len(value) > 0 {
		key, rest, more = strings.Cut(rest, ".")
		value = member(value, key)
	}
	return value
}

// member is the value of a key of an object, or at a place in a list.
func member(value json.RawMessage, key string) json.RawMessage {
	if place, err := strconv.Atoi(key); err == nil {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || place >= len(list) {
			return nil
		}
		return list[place]
	}
	var o fields
	_ = json.Unmarshal(value, &o) // no object has no members
	return bytes.TrimSpace(o[key])
}

// all reports whether every element passes.
func all[T any](list []T, ok func(T) bool) bool {
	for _, e := range list {
		if !ok(e) {
			return false
		}
	}
	return true
}

// match finds the API that one of whose shapes o has, or -1.
func match(o fields, of func(*api) shape) int {
	for i := range apis {
		if of(&apis[i]).fits(o) {
			return i
		}
	}
	return -1
}

func whole(a *api) shape { return a.whole }
func chunk(a *api) shape { return a.chunk }
func item(a *api) shape  { return a.item }
