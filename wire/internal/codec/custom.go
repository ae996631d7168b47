package codec

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/lenient"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// customFormat is the "format" that OpenAI's custom tools have in their Extra.
type customFormat struct {
	Syntax     shape.Loose `json:"syntax"`
	Definition shape.Loose `json:"definition"`
}

// CustomFunction offers a tool with free text input as a function of one text:
// its description, with the grammar of the input, and its schema.
func CustomFunction(t utp.Tool) (description string, schema json.RawMessage) {
	extra, err := shape.Members(shape.Value{Raw: t.Extra})
	if err != nil {
		return t.Description, textInput
	}
	for _, provider := range extra {
		var f customFormat
		fields, err := shape.Members(shape.Value{Raw: provider.Value})
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
	b, err := shape.Marshal(customInput{&input})
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

// Object is a call's arguments for a provider's history: a JSON object, always.
// What cannot be read is sent as {"_raw": "…"}, never as {}; ok is false then.
func Object(args json.RawMessage, raw string) (object json.RawMessage, ok bool) {
	if shape.IsObject(args) {
		return args, true
	}
	if len(args) > 0 && raw == "" {
		raw = string(args)
	}
	switch {
	case strings.TrimSpace(raw) == "" || strings.TrimSpace(raw) == "null":
		return json.RawMessage("{}"), true
	case shape.IsObject([]byte(raw)):
		return json.RawMessage(raw), true
	}
	b, err := shape.Marshal(rawArguments{raw})
	if err != nil {
		return json.RawMessage("{}"), false
	}
	return b, false
}

type rawArguments struct {
	Raw string `json:"_raw"`
}

// mended is the object that broken JSON was to be, and what was wrong with it;
// nil where that is not certain.
func mended(text string) (object json.RawMessage, why string) {
	out, n, fixes, err := lenient.Repair(text, lenient.Options{})
	if err != nil || len(fixes) == 0 || strings.TrimSpace(text[n:]) != "" || !shape.IsObject(out) {
		return nil, ""
	}
	return out, fixes[0].Why
}
