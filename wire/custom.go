package wire

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// customFormat is the "format" that OpenAI's custom tools have in their Extra.
type customFormat struct {
	Syntax     Loose `json:"syntax"`
	Definition Loose `json:"definition"`
}

// CustomFunction offers a tool with free text input as a function of one text:
// its description, with the grammar of the input, and its schema.
func CustomFunction(t utp.Tool) (description string, schema json.RawMessage) {
	extra, err := Members(Value{Raw: t.Extra})
	if err != nil {
		return t.Description, textInput
	}
	for _, provider := range extra {
		var f customFormat
		fields, err := Members(Value{Raw: provider.Value})
		if err != nil || json.Unmarshal(fields.Get("format"), &f) != nil || f.Definition == "" {
			continue
		}
		grammar := "The input must follow this " + string(f.Syntax) + " grammar:\n" + string(f.Definition)
		return strings.TrimSpace(t.Description + "\n\n" + grammar), textInput
	}
	return t.Description, textInput
}

// CustomArgs is the arguments of such a function.
func CustomArgs(input string) json.RawMessage {
	b, err := Marshal(customInput{&input})
	if err != nil {
		return json.RawMessage(`{"input":""}`)
	}
	return b
}

// CustomInput is the text in such arguments; ok is false where there is none.
func CustomInput(c utp.Call) (input string, ok bool) {
	if c.Kind == utp.CustomCall {
		return c.RawArgs, true
	}
	var in customInput
	if json.Unmarshal(c.Args, &in) != nil || in.Input == nil {
		return "", false
	}
	return *in.Input, true
}

// CallObject is a call's arguments for a provider's history, as Object gives
// them; those of a custom call are CustomArgs.
func CallObject(c utp.Call) (args json.RawMessage, ok bool) {
	if c.Kind == utp.CustomCall {
		return CustomArgs(c.RawArgs), true
	}
	return Object(c.Args, c.RawArgs)
}

// Unmark reads what ResultText wrote for providers without a field for failures:
// the text, and whether the call failed.
func Unmark(text string) (plain string, failed bool) {
	plain, failed = strings.CutPrefix(text, errorMark)
	return plain, failed || isErrorObject(text)
}
