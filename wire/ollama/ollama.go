// Package ollama speaks Ollama's own API, /api/chat.
//
// Source: Ollama docs/api.md and api/types.go.
package ollama

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Back calls an Ollama server.
type Back struct{}

var _ wire.Back = Back{}

const path = "/api/chat"

type requestJSON struct {
	Model    string               `json:"model"`
	Messages []messageJSON        `json:"messages"`
	Tools    []codec.FunctionTool `json:"tools,omitempty"`
	Stream   bool                 `json:"stream"` // true is the default: false must be said
	Think    any                  `json:"think,omitempty"`
	Format   json.RawMessage      `json:"format,omitempty"`
	Options  optionsJSON          `json:"options,omitzero"`
}

type optionsJSON struct {
	NumCtx      *int     `json:"num_ctx,omitempty"`
	NumPredict  *int     `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// messageJSON always has a content: the templates want a string.
type messageJSON struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     [][]byte   `json:"images,omitempty"` // base64
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id,omitempty"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object; a string is refused
}

type writing struct {
	in     *utp.Request
	names  *codec.Names
	out    requestJSON
	losses []wire.Loss
}

func (w *writing) lose(path, what, why string) {
	w.losses = append(w.losses, wire.Loss{Path: path, What: what, Why: why})
}

// Open writes the request.
func (Back) Open(r *utp.Request) (*wire.Exchange, error) {
	names, err := codec.NewNames(r.Tools, 0)
	if err != nil {
		return nil, err
	}
	w := &writing{in: r, names: names, out: requestJSON{Model: r.Model, Stream: r.Stream}}
	w.messages()
	w.tools()
	w.params()
	if len(r.Extra) > 0 {
		w.lose("extra", "dropped", "it belongs to another provider")
	}
	body, err := shape.Marshal(w.out)
	if err != nil {
		return nil, err
	}
	one := r.Choice.Parallel != nil && !*r.Choice.Parallel
	return &wire.Exchange{
		Path: path, Header: map[string]string{"Content-Type": "application/json"},
		Body: body, Losses: w.losses, Framing: wire.NDJSON, Answer: answer{names, one},
	}, nil
}

// tools writes the tools that the choice leaves. Ollama has no tool_choice:
// what must be called is asked for in words.
func (w *writing) tools() {
	c := w.in.Choice
	if c.Mode == utp.None {
		return
	}
	offered, _ := codec.Offered(w.in.Tools, c)
	tools, losses := codec.Functions(offered, w.names)
	w.losses = append(w.losses, losses...)
	for i := range tools {
		if tools[i].Function.Strict != nil {
			tools[i].Function.Strict = nil
			w.lose(fmt.Sprintf("tools[%d].strict", i), "dropped", "Ollama does not constrain arguments")
		}
	}
	if w.out.Tools = tools; len(tools) == 0 {
		return
	}
	switch c.Mode {
	case utp.Named:
		w.ask("Answer with a call of the tool " + c.Name + ".")
	case utp.Required:
		w.ask("Answer with a call of one of the tools.")
	}
}

// ask adds to the system message in front: templates refuse one elsewhere.
func (w *writing) ask(text string) {
	if ms := w.out.Messages; len(ms) > 0 && ms[0].Role == string(utp.System) {
		ms[0].Content += "\n\n" + text
	} else {
		w.out.Messages = append([]messageJSON{{Role: string(utp.System), Content: text}}, ms...)
	}
	w.lose("choice", "asked for in the system message", "Ollama has no tool_choice")
}

// efforts maps Params.Effort to "think".
var efforts = map[string]any{
	"none": false, "minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "max", "max": "max",
}

func (w *writing) params() {
	p := w.in.Params
	w.out.Options = optionsJSON{p.Context, p.MaxTokens, p.Temperature, p.TopP, p.TopK, p.Seed, p.Stop}
	w.out.Think = efforts[p.Effort]
	if p.Effort != "" && w.out.Think == nil {
		w.lose("params.effort", "dropped", "Ollama does not know "+p.Effort)
	}
	if p.User != "" {
		w.lose("params.user", "dropped", "Ollama has no such field")
	}
	if w.out.Format = p.Schema; string(p.Schema) == "{}" {
		w.out.Format = json.RawMessage(`"json"`)
	}
}

func (w *writing) messages() {
	messages, losses := history.Order(w.in.Messages, nil)
	w.losses = append(w.losses, losses...)
	w.out.Messages = []messageJSON{}
	for i, m := range history.LiftBlobs(messages) {
		path := fmt.Sprintf("messages[%d]", i)
		if m.Role != utp.ToolRole {
			w.out.Messages = append(w.out.Messages, w.message(path, m))
			continue
		}
		for _, r := range m.Results() {
			w.out.Messages = append(w.out.Messages, messageJSON{
				Role: "tool", Content: history.ResultText(r), ToolName: r.Name, ToolCallID: r.CallID})
		}
	}
}

func (w *writing) message(path string, m utp.Message) messageJSON {
	out := messageJSON{Role: string(m.Role), Content: m.Text()}
	for i, p := range m.Parts {
		at := fmt.Sprintf("%s.parts[%d]", path, i)
		switch p := p.(type) {
		case utp.Text:
		case utp.Call:
			out.ToolCalls = append(out.ToolCalls, w.call(at, p, len(out.ToolCalls)))
		case utp.Think:
			out.Thinking += w.think(at, p)
		case utp.Blob:
			if len(p.Data) == 0 || !strings.HasPrefix(p.MIME, "image/") {
				w.lose(at, "dropped", "only images with their data can be sent")
				continue
			}
			out.Images = append(out.Images, p.Data)
		default:
			w.lose(at, "dropped", "this part has no place in such a message")
		}
	}
	return out
}

type customInput struct {
	Input string `json:"input"`
}

func (w *writing) call(path string, c utp.Call, index int) toolCall {
	args, ok := codec.Object(c.Args, c.RawArgs)
	if c.Kind == utp.CustomCall {
		if b, err := shape.Marshal(customInput{c.RawArgs}); err == nil {
			args, ok = b, true
		}
	}
	if !ok {
		w.lose(path+".arguments", "sent as _raw", "they are no JSON object")
	}
	return toolCall{c.ID, functionCall{index, c.Name, args}}
}

// think is reasoning that may go back: unsigned and not another provider's.
func (w *writing) think(path string, t utp.Think) string {
	if t.Provider != "" {
		w.lose(path, "dropped", "it is the reasoning of another provider")
		return ""
	}
	return t.Text
}
