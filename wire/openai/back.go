package openai

import (
	"cmp"
	"strconv"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
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

// maxName and maxID are the longest tool names and ids.
// Source: OpenAI API reference, function.name; refusals of longer ids.
const (
	maxName = 64
	maxID   = 40
)

// writing is a request on its way out.
type writing struct {
	answer
	codec.Outgoing
	back Back
	in   *utp.Request
	own  shape.Fields // of the request's Extra
	out  requestJSON
}

// Open writes the request.
func (b Back) Open(r *utp.Request) (*wire.Exchange, error) {
	names, err := codec.NewNames(r.Tools, maxName)
	if err != nil {
		return nil, err
	}
	w := &writing{back: b, in: r, Outgoing: codec.Outgoing{Provider: provider}}
	if b.Server == OpenAI {
		w.Kin = "responses"
	}
	w.answer = answer{names: names, model: r.Model, back: map[string]*dialect.Coercion{}}
	w.out = requestJSON{Model: r.Model, Stream: r.Stream}
	w.messages()
	w.tools()
	w.own = w.Own("", r.Extra)
	w.params()
	rest := w.own.Without("stream_options", "response_format", "reasoning", "user", legacy)
	if same := rest.Text("safety_identifier"); same != "" && same == r.Params.User {
		rest = rest.Set("safety_identifier", shape.Quote(w.out.User).Raw)
	}
	return w.Exchange(path, ofRequest.Copy(&w.out, rest), w.answer.reader), nil
}

func (w *writing) tools() {
	c := w.Choose(w.in)
	every := w.back.Server == OpenAI || c.Mode == utp.ChoiceNamed
	if !every && len(c.Allowed) > 0 {
		w.Lose("choice.allowed", "sent only these tools", "only OpenAI takes a list of allowed tools")
	}
	w.Room(w.in.Tools)
	w.out.Tools = make([]shape.Value, 0, len(w.in.Tools))
	for i, t := range w.in.Tools {
		if every || codec.Offers(c, t.Name) {
			w.tool(codec.At("tools", i), t)
		}
	}
	if len(w.out.Tools) > 0 {
		w.out.Parallel = c.Parallel
		w.choice(c)
	}
}

// tool writes a tool. OpenAI itself takes custom tools, and of schemas only its
// own dialect.
func (w *writing) tool(path string, t utp.Tool) {
	if w.back.Server == OpenAI {
		switch t.Kind {
		case utp.CustomTool:
			w.custom(path, t)
			return
		case utp.FunctionTool:
			w.answer.back[t.Name] = w.Schema(path, &t)
		}
	}
	if v, ok := w.Function(path, t, w.names); ok {
		w.out.Tools = append(w.out.Tools, v)
	}
}

func (w *writing) custom(path string, t utp.Tool) {
	j := customJSON{Name: w.names.Out(t.Name), Description: t.Description, Format: shape.Value{Raw: nested(w.Own(path, t.Extra).Get("format"))}}
	w.out.Tools = append(w.out.Tools, shape.JSON(toolJSON{"custom", j}, nil))
}

// choice writes tool_choice; auto is the server's default.
func (w *writing) choice(c utp.Choice) {
	mode := "auto"
	if c.Mode == utp.ChoiceRequired {
		mode = "required"
	}
	switch {
	case c.Mode == utp.ChoiceNamed:
		w.out.ToolChoice = w.named(c.Name)
	case c.Mode == utp.ChoiceNone:
		w.out.ToolChoice = shape.Quote("none")
	case len(c.Allowed) > 0 && w.back.Server == OpenAI:
		list := &allowedJSON{Mode: mode}
		for _, name := range c.Allowed {
			list.Tools = append(list.Tools, w.named(name))
		}
		w.out.ToolChoice = shape.JSON(choiceJSON{Type: "allowed_tools", Allowed: list}, nil)
	case mode == "required":
		w.out.ToolChoice = shape.Quote(mode)
	}
}

func (w *writing) named(name string) shape.Value {
	j := &namedJSON{w.names.Out(name)}
	if w.names.Custom(name) && w.back.Server == OpenAI {
		return shape.JSON(choiceJSON{Type: "custom", Custom: j}, nil)
	}
	return shape.JSON(choiceJSON{Type: "function", Function: j}, nil)
}

// maxStops is what OpenAI takes.
const maxStops = 4

func (w *writing) params() {
	p, o := w.in.Params, &w.out
	o.Temperature, o.TopP, o.TopK, o.Seed = p.Temperature, p.TopP, p.TopK, p.Seed
	o.Effort, o.User, o.MaxTokens = p.Effort, w.User(p.User, codec.MaxUser), p.MaxTokens
	o.Presence, o.Frequency = p.Presence, p.Frequency
	if o.Stream {
		said, _ := ofOptions.Read(shape.Value{Raw: w.own.Get("stream_options")})
		o.StreamOptions = shape.Value{Raw: ofOptions.Write(streamOptions{IncludeUsage: true}, said.Rest)}
	}
	stop := p.Stop
	switch w.back.Server {
	case OpenAI:
		o.MaxTokens, o.MaxCompletion, o.TopK = nil, p.MaxTokens, nil
		o.Temperature, o.TopP = w.Sampling(w.in)
		w.Refuse("OpenAI has no such setting", codec.Param{Name: "top_k", Given: p.TopK != nil})
		if len(stop) > maxStops {
			stop = stop[:maxStops]
			w.Lose("params.stop", "the first "+strconv.Itoa(maxStops)+" sent", "OpenAI takes no more")
		}
	case Mistral:
		o.Seed, o.RandomSeed, o.StreamOptions, o.TopK, o.User = nil, p.Seed, shape.Value{}, nil, ""
		w.Refuse("Mistral has no such setting", codec.Param{Name: "top_k", Given: p.TopK != nil}, codec.Param{Name: "user", Given: p.User != ""})
	}
	if len(stop) > 0 {
		o.Stop = shape.JSON(stop, nil)
	}
	w.Refuse("the server decides the window", codec.Param{Name: "context", Given: p.Context != nil})
	w.said(p)
}

// said writes what a client of this API said in a form of its own, while it means
// the same.
func (w *writing) said(p utp.Params) {
	o := &w.out
	reasoning := shape.Value{Raw: w.own.Get("reasoning")}
	if r, err := ofReasoning.Read(reasoning); err == nil && (r.Effort == "" || r.Effort == p.Effort) {
		if o.Reasoning = reasoning; r.Effort != "" {
			o.Effort = ""
		}
	}
	o.ResponseFormat = w.format(p)
}

// format is as the client wrote it while it means the same.
func (w *writing) format(p utp.Params) shape.Value {
	said := shape.Value{Raw: w.own.Get("response_format")}
	var same utp.Params
	f, err := ofFormat.Read(said)
	f.wants(&same)
	switch {
	case err == nil && codec.SameOutput(same, p):
		return said
	case len(p.Schema) == 0:
		return shape.Value{}
	case string(p.Schema) == "{}":
		return shape.JSON(formatJSON{Type: "json_object"}, nil)
	}
	schema := &schemaJSON{Name: cmp.Or(p.SchemaName, codec.OutputName), Description: p.SchemaAbout, Schema: p.Schema}
	if held := w.Held(p); held != nil && *held {
		schema.Strict = held // false is the default
	}
	return shape.JSON(formatJSON{Type: "json_schema", Schema: schema}, nil)
}

func nested(format []byte) []byte {
	j, err := ofGrammar.Read(shape.Value{Raw: format})
	if err != nil || j.Rest.Get("definition") == nil {
		return format
	}
	return shape.JSON(grammarJSON{Type: j.Type, Grammar: shape.Value{Raw: j.Rest.Raw()}}, nil).Raw
}
