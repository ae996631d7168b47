// Package openai speaks OpenAI's chat completions, /v1/chat/completions, with
// OpenAI and with the many servers that copy it.
//
// Source: OpenAI API reference, "Chat"; the servers' own documentation where a
// comment names one.
package openai

import (
	"encoding/json"
	"strconv"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Server is who answers: it decides which fields may be sent.
type Server int

const (
	Any     Server = iota // llama.cpp, vLLM, LM Studio, OpenRouter, …
	OpenAI                // api.openai.com
	Mistral               // api.mistral.ai
)

// Back calls a server.
type Back struct{ Server Server }

var _ wire.Back = Back{}

const path = "/v1/chat/completions"

// maxName is the longest tool name. Source: OpenAI API reference, function.name.
const maxName = 64

type requestJSON struct {
	Model          string              `json:"model"`
	Messages       []any               `json:"messages"`
	Tools          []wire.FunctionTool `json:"tools,omitempty"`
	ToolChoice     any                 `json:"tool_choice,omitempty"`
	Parallel       *bool               `json:"parallel_tool_calls,omitempty"`
	Stream         bool                `json:"stream,omitempty"`
	StreamOptions  *streamOptions      `json:"stream_options,omitempty"`
	MaxTokens      *int                `json:"max_tokens,omitempty"`
	MaxCompletion  *int                `json:"max_completion_tokens,omitempty"`
	Temperature    *float64            `json:"temperature,omitempty"`
	TopP           *float64            `json:"top_p,omitempty"`
	TopK           *int                `json:"top_k,omitempty"`
	Seed           *int64              `json:"seed,omitempty"`
	RandomSeed     *int64              `json:"random_seed,omitempty"` // Mistral's name for it
	Stop           []string            `json:"stop,omitempty"`
	Effort         string              `json:"reasoning_effort,omitempty"`
	ResponseFormat *responseFormat     `json:"response_format,omitempty"`
	User           string              `json:"user,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type   string      `json:"type"`
	Schema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

type namedChoice struct {
	Type     string     `json:"type"`
	Function choiceName `json:"function"`
}

type choiceName struct {
	Name string `json:"name"`
}

type allowedChoice struct {
	Type    string       `json:"type"`
	Allowed allowedTools `json:"allowed_tools"`
}

type allowedTools struct {
	Mode  string        `json:"mode"`
	Tools []namedChoice `json:"tools"`
}

// writing is a request on its way out.
type writing struct {
	back   Back
	in     *utp.Request
	names  *wire.Names
	out    requestJSON
	losses []wire.Loss
}

func (w *writing) lose(path, what, why string) {
	w.losses = append(w.losses, wire.Loss{Path: path, What: what, Why: why})
}

// Open writes the request.
func (b Back) Open(r *utp.Request) (*wire.Exchange, error) {
	names, err := wire.NewNames(r.Tools, maxName)
	if err != nil {
		return nil, err
	}
	w := &writing{back: b, in: r, names: names}
	w.out = requestJSON{Model: r.Model, Stream: r.Stream}
	w.messages()
	w.tools()
	w.params()
	if len(r.Extra) > 0 {
		w.lose("extra", "dropped", "it belongs to another provider")
	}
	body, err := wire.Marshal(w.out)
	if err != nil {
		return nil, err
	}
	return &wire.Exchange{
		Path: path, Header: map[string]string{"Content-Type": "application/json"},
		Body: body, Losses: w.losses, Framing: wire.SSE, Answer: answer{names: names},
	}, nil
}

func (w *writing) tools() {
	c := w.in.Choice
	offered := w.in.Tools
	if w.back.Server != OpenAI && c.Mode != utp.Named {
		var filtered bool
		if offered, filtered = wire.Offered(offered, c); filtered {
			w.lose("choice.allowed", "sent only these tools", "only OpenAI takes a list of allowed tools")
		}
	}
	tools, losses := wire.Functions(offered, w.names)
	w.losses = append(w.losses, losses...)
	if w.out.Tools = tools; len(tools) == 0 {
		return
	}
	w.out.Parallel = c.Parallel
	w.out.ToolChoice = w.choice(c)
}

// choice is tool_choice; nil leaves the server's default, which is auto.
func (w *writing) choice(c utp.Choice) any {
	switch c.Mode {
	case utp.Named:
		return namedChoice{"function", choiceName{w.names.Out(c.Name)}}
	case utp.None:
		return "none"
	}
	mode := "auto"
	if c.Mode == utp.Required {
		mode = "required"
	}
	if len(c.Allowed) > 0 && w.back.Server == OpenAI {
		list := allowedTools{Mode: mode}
		for _, name := range c.Allowed {
			list.Tools = append(list.Tools, namedChoice{"function", choiceName{w.names.Out(name)}})
		}
		return allowedChoice{"allowed_tools", list}
	}
	if mode == "auto" {
		return nil
	}
	return mode
}

// maxStops is what OpenAI takes.
const maxStops = 4

func (w *writing) params() {
	p, o := w.in.Params, &w.out
	o.Temperature, o.TopP, o.TopK, o.Seed = p.Temperature, p.TopP, p.TopK, p.Seed
	o.Stop, o.Effort, o.User = p.Stop, p.Effort, p.User
	o.MaxTokens = p.MaxTokens
	if o.Stream {
		o.StreamOptions = &streamOptions{true}
	}
	switch w.back.Server {
	case OpenAI:
		o.MaxTokens, o.MaxCompletion = nil, p.MaxTokens
		if o.TopK != nil {
			o.TopK = nil
			w.lose("params.top_k", "dropped", "OpenAI has no such setting")
		}
		if len(o.Stop) > maxStops {
			o.Stop = o.Stop[:maxStops]
			w.lose("params.stop", "the first "+strconv.Itoa(maxStops)+" sent", "OpenAI takes no more")
		}
	case Mistral:
		o.Seed, o.RandomSeed, o.StreamOptions, o.TopK, o.User = nil, p.Seed, nil, nil, ""
	}
	if p.Context != nil {
		w.lose("params.context", "dropped", "the server decides the window")
	}
	o.ResponseFormat = format(p.Schema)
}

func format(schema json.RawMessage) *responseFormat {
	switch {
	case len(schema) == 0:
		return nil
	case string(schema) == "{}":
		return &responseFormat{Type: "json_object"}
	}
	return &responseFormat{Type: "json_schema", Schema: &jsonSchema{"reply", schema}}
}
