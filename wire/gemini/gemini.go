// Package gemini speaks Google's Gemini API, models/MODEL:generateContent and
// :streamGenerateContent: Back calls it, Front poses as it.
//
// Source: the types of google.golang.org/genai, and Google's reference, "Generate
// content", "Function calling" and "Thought signatures".
package gemini

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// provider is the name of this API in Extra, Think and Unknown.
const provider = "gemini"

// bare is a model's name without the collection that it is in.
func bare(model string) string {
	if i := strings.LastIndex(model, collection); i >= 0 {
		return model[i+len(collection):]
	}
	return model
}

const collection = "models/"

// chosen is what a client's functionCallingConfig means.
func chosen(c *callingJSON) utp.Choice {
	if c == nil {
		return utp.Choice{}
	}
	out := utp.Choice{Allowed: c.Allowed}
	switch c.Mode {
	case "ANY":
		out.Mode = utp.ChoiceRequired
		if len(c.Allowed) == 1 {
			return utp.Choice{Mode: utp.ChoiceNamed, Name: c.Allowed[0]}
		}
	case "NONE":
		return utp.Choice{Mode: utp.ChoiceNone}
	}
	return out
}

// effort is what a client's thinkingConfig means.
func effort(v shape.Value) string {
	t, err := readThinking.Read(v)
	switch {
	case err != nil:
	case t.Level != "":
		return strings.ToLower(t.Level)
	case t.Budget != nil && *t.Budget >= 0:
		return wire.Effort(*t.Budget)
	}
	return ""
}

// schemaOf is the schema that a client asked for; {} is any JSON.
func schemaOf(g generationJSON) json.RawMessage {
	switch {
	case len(g.JSONSchema) > 0:
		return g.JSONSchema
	case len(g.Schema) > 0:
		return dialect.FromOpenAPI(g.Schema)
	case g.MIME == "application/json":
		return json.RawMessage("{}")
	}
	return nil
}

// asJSONSchema marks, in a tool's Extra, that its client wrote JSON Schema.
const asJSONSchema = "parametersJsonSchema"

// array marks, in a request's Extra, a client that did not ask for server-sent
// events: its stream is one JSON array.
const array = "stream_as_array"

// signature is the field of an Extra that holds a part's thoughtSignature.
const signature = "thoughtSignature"

// Fields of an Extra with what only this API has inside a call or a response.
const (
	inCall     = "functionCall"
	inResponse = "functionResponse"
)

// nested writes a call or a response with what only this API has inside of it.
func nested(j partJSON, own shape.Fields) shape.Value {
	if f, _ := shape.Members(shape.Value{Raw: own.Get(inCall)}); f != nil && j.Call != nil {
		own, j.Call = own.Set(inCall, shape.JSON(*j.Call, f).Raw), nil
	}
	if f, _ := shape.Members(shape.Value{Raw: own.Get(inResponse)}); f != nil && j.Response != nil {
		own, j.Response = own.Set(inResponse, shape.JSON(*j.Response, f).Raw), nil
	}
	return shape.Value{Raw: readPart.Write(j, own)}
}

func file(b utp.Blob) partJSON {
	if b.URL != "" {
		return partJSON{File: &fileJSON{MIME: b.MIME, URI: b.URL, Name: b.Name}}
	}
	return partJSON{Inline: &blobJSON{MIME: b.MIME, Data: base64.StdEncoding.EncodeToString(b.Data), Name: b.Name}}
}

// stops maps finishReason; those that are not here are an ordinary end.
var stops = map[string]utp.Stop{
	"MAX_TOKENS": utp.StopLength,
	"SAFETY":     utp.StopFilter, "RECITATION": utp.StopFilter, "BLOCKLIST": utp.StopFilter, "PROHIBITED_CONTENT": utp.StopFilter,
	"SPII": utp.StopFilter, "LANGUAGE": utp.StopFilter, "IMAGE_SAFETY": utp.StopFilter, "IMAGE_PROHIBITED_CONTENT": utp.StopFilter,
	"IMAGE_RECITATION":        utp.StopFilter,
	"MALFORMED_FUNCTION_CALL": utp.StopBadCall, "UNEXPECTED_TOOL_CALL": utp.StopBadCall,
	"TOO_MANY_TOOL_CALLS": utp.StopBadCall, "MISSING_THOUGHT_SIGNATURE": utp.StopBadCall,
}

func (u *usageJSON) usage() utp.Usage {
	in := int(u.Prompt + u.ToolUse - u.Cached)
	return utp.Usage{Input: max(0, in), CacheRead: int(u.Cached), Output: int(u.Output), Reasoning: int(u.Thoughts)}
}
