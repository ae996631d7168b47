package anthropic

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

const (
	path      = "/v1/messages"
	countPath = "/v1/messages/count_tokens"
	version   = "2023-06-01"
)

// Back calls a server.
type Back struct{}

var _ wire.Back = Back{}

// maxName and maxID are the longest legal tool names and ids.
// Source: API reference, "Define tools": ^[a-zA-Z0-9_-]{1,64}$.
const (
	maxName = 64
	maxID   = 64
	maxUser = 256
)

// writing is a request on its way out.
type writing struct {
	in     *utp.Request
	own    shape.Fields // of the request's Extra
	names  *codec.Names
	traits traits
	out    requestJSON
	betas  string
	think  bool     // thinking is on
	asks   []string // to be said in the system prompt
	codec.Outgoing
}

// Open writes the request.
func (b Back) Open(r *utp.Request) (*wire.Exchange, error) {
	w, err := b.write(r)
	if err != nil {
		return nil, err
	}
	return w.exchange(path, answer{names: w.names, model: r.Model}.reader), nil
}

// Count writes the question how many tokens the request has; ReadCount reads
// the answer.
func (b Back) Count(r *utp.Request) (*wire.Exchange, error) {
	w, err := b.write(r)
	if err != nil {
		return nil, err
	}
	o := &w.out
	o.MaxTokens, o.Stream, o.Stop, o.Temperature, o.TopP, o.TopK, o.Metadata = nil, false, nil, nil, nil, nil, shape.Value{}
	return w.exchange(countPath, nil), nil
}

// ReadCount reads the answer to Count, in tokens.
func ReadCount(body []byte) (int, error) { return codec.ReadCount(provider, body, "input_tokens") }

func (w *writing) exchange(path string, a codec.Answer) *wire.Exchange {
	x := w.Exchange(path, readRequest.Copy(&w.out, w.out.Rest), a)
	x.Header["anthropic-version"] = version
	if w.betas != "" {
		x.Header[betas] = w.betas
	}
	return x
}

func (Back) write(r *utp.Request) (*writing, error) {
	names, err := codec.NewNames(r.Tools, maxName)
	if err != nil {
		return nil, err
	}
	w := &writing{in: r, names: names, traits: traitsOf(r.Model), Outgoing: codec.Outgoing{Provider: provider}}
	w.out = requestJSON{Model: r.Model, Stream: r.Stream}
	w.extra()
	w.params()
	w.tools()
	w.messages()
	return w, nil
}

// extra takes over what an Anthropic client said that the model has no place for.
func (w *writing) extra() {
	w.own = w.Own("", w.in.Extra)
	w.betas = w.own.Text(betas)
	w.out.Rest = w.own.Without(betas, "thinking", "output_config", "metadata")
}

func (w *writing) params() {
	p, o := w.in.Params, &w.out
	o.MaxTokens, o.Temperature, o.TopP, o.TopK = p.MaxTokens, p.Temperature, p.TopP, p.TopK
	if o.MaxTokens == nil {
		o.MaxTokens = &w.traits.maxTokens
	}
	w.stops()
	w.metadata()
	w.thinking()
	w.sampling()
	w.Nameless(p)
	w.Refuse("Anthropic has no such setting", codec.Param{Name: "seed", Given: p.Seed != nil}, codec.Param{Name: "context", Given: p.Context != nil},
		codec.Param{Name: "presence_penalty", Given: p.Presence != nil}, codec.Param{Name: "frequency_penalty", Given: p.Frequency != nil})
}

// stops leaves out sequences of white space, which the API refuses.
func (w *writing) stops() {
	for i, s := range w.in.Params.Stop {
		if strings.TrimSpace(s) == "" {
			w.Lose(fmt.Sprintf("params.stop[%d]", i), "dropped", "a stop sequence must not be white space")
			continue
		}
		w.out.Stop = append(w.out.Stop, s)
	}
}

func (w *writing) metadata() {
	user := w.in.Params.User
	said := shape.Value{Raw: w.own.Get("metadata")}
	if m, err := readMetadata.Read(said); err == nil && m.UserID == user {
		w.out.Metadata = said
	} else if user != "" {
		w.out.Metadata = shape.JSON(metadataJSON{UserID: w.User(user, maxUser)}, nil)
	}
}

// thinking writes thinking and output_config: as the client wrote them while
// they mean the same, else from the effort and the schema.
func (w *writing) thinking() {
	p := w.in.Params
	thinking, output := shape.Value{Raw: w.own.Get("thinking")}, shape.Value{Raw: w.own.Get("output_config")}
	if effort, schema := said(thinking, output); effort == p.Effort && bytes.Equal(schema, p.Schema) {
		t, err := readThinking.Read(thinking)
		w.out.Thinking, w.out.OutputConfig = thinking, output
		if w.think = err == nil && t.Type != "disabled"; t.Type == "enabled" && w.bare() {
			w.think, w.out.Thinking = false, shape.Value{}
		}
		return
	}
	var out outputJSON
	switch {
	case p.Effort == "" || p.Effort == "none":
	case !w.traits.thinks:
		w.Lose("params.effort", "dropped", "the model does not think")
	case w.traits.adaptive:
		w.think, w.out.Thinking = true, shape.JSON(thinkingJSON{Type: "adaptive"}, nil)
		if out.Effort = p.Effort; p.Effort == "minimal" {
			out.Effort = "low"
			w.Lose("params.effort", "sent as low", "Anthropic knows no less")
		}
	case !w.bare():
		w.budget(p.Effort)
	}
	switch {
	case len(p.Schema) == 0:
	case string(p.Schema) == "{}":
		w.asks = append(w.asks, "Answer with one JSON object and nothing else.")
		w.Lose("params.schema", "asked for in the system prompt", "Anthropic holds an answer to JSON only by a schema")
	default:
		out.Format = &formatJSON{"json_schema", p.Schema}
	}
	if out.Effort != "" || out.Format != nil {
		w.out.OutputConfig = shape.JSON(out, nil)
	}
}

// bare reports calls under way that were made without thinking, or with some that
// cannot be sent back: the API refuses to think on then.
func (w *writing) bare() bool {
	is := history.Bare(w.in.Messages, w.drop)
	if is {
		w.Lose("params.effort", "dropped", "the last calls were made without thinking that can be sent back")
	}
	return is
}

const minBudget = 1024

// budget turns on thinking with a number of tokens, which must leave some of the
// output for the answer.
func (w *writing) budget(effort string) {
	tokens, ok := wire.Budget(effort)
	room := *w.out.MaxTokens * 3 / 4
	switch {
	case !ok:
		w.Lose("params.effort", "dropped", "no budget is known for "+effort)
		return
	case room < minBudget:
		w.Lose("params.effort", "dropped", fmt.Sprintf("thinking needs %d tokens, and max_tokens leaves too few", minBudget))
		return
	case tokens > room:
		tokens = room
		w.Lose("params.effort", fmt.Sprintf("a budget of %d tokens", tokens), "it must be less than max_tokens")
	}
	w.think, w.out.Thinking = true, shape.JSON(thinkingJSON{Type: "enabled", Budget: tokens}, nil)
}

// sampling leaves out what the model or its thinking refuses.
func (w *writing) sampling() {
	o := &w.out
	if o.Temperature != nil && *o.Temperature > 1 {
		one := 1.0
		o.Temperature = &one
		w.Lose("params.temperature", "1 sent", "Anthropic's ends at 1")
	}
	none, why := !w.traits.sampling, "the model refuses it"
	if !none && w.think {
		why = "the API refuses it with thinking"
	}
	if o.Temperature != nil && (none || w.think && *o.Temperature != 1) {
		o.Temperature = nil
		w.Lose("params.temperature", "dropped", why)
	}
	switch {
	case o.TopP == nil:
	case none, w.think && *o.TopP < 0.95:
		o.TopP = nil
		w.Lose("params.top_p", "dropped", why)
	case o.Temperature != nil && w.traits.either:
		o.TopP = nil
		w.Lose("params.top_p", "dropped", "the model takes it or a temperature, not both")
	}
	if o.TopK != nil && (none || w.think) {
		o.TopK = nil
		w.Lose("params.top_k", "dropped", why)
	}
}

// tools writes the tools and the choice. There is no list of allowed tools: the
// others are left out.
func (w *writing) tools() {
	c := w.Choose(w.in)
	if c.Mode != utp.ChoiceNamed && len(c.Allowed) > 0 {
		w.Lose("choice.allowed", "sent only these tools", "Anthropic has no list of allowed tools")
	}
	for i, t := range w.in.Tools {
		if c.Mode == utp.ChoiceNamed || codec.Offers(c, t.Name) {
			w.tool(codec.At("tools", i), t)
		}
	}
	if len(w.out.Tools) > 0 {
		w.choice(c)
	}
}

func (w *writing) tool(path string, t utp.Tool) {
	rest, _ := codec.UnpackExtra(t.Extra, provider)
	switch {
	case t.Kind == utp.HostedTool && len(rest) > 0:
		w.out.Tools = append(w.out.Tools, shape.Value{Raw: rest.Raw()})
		return
	case t.Kind != utp.FunctionTool && t.Kind != utp.CustomTool:
		w.Leave(path, t)
		return
	}
	rest = w.Own(path, t.Extra)
	out := toolJSON{Name: w.names.Out(t.Name), Description: t.Description, Strict: t.Strict}
	if t.Kind == utp.CustomTool {
		out.Description, out.Schema = codec.CustomFunction(t)
		w.Lose(path, "sent as a function with one text", "free text tools are not known here")
		w.Explained(path + ".format")
	} else {
		out.Schema, _, _ = dialect.RootObject.Convert(t.Schema, path+".parameters", w.Lose)
		if t.Strict != nil && *t.Strict && !dialect.Closed(out.Schema) {
			out.Strict = nil
			w.Lose(path+".strict", "dropped", "it wants additionalProperties false on every object")
		}
	}
	if out.Name != t.Name {
		w.Lose(path+".name", "sent as "+out.Name, "only letters, digits, _ and - are allowed, 64 at most")
	}
	w.out.Tools = append(w.out.Tools, shape.JSON(out, rest))
}

// choice writes tool_choice; auto is the API's default.
func (w *writing) choice(c utp.Choice) {
	var out choiceJSON
	switch c.Mode {
	case utp.ChoiceNone:
		out.Type = "none"
	case utp.ChoiceNamed:
		out.Type, out.Name = "tool", w.names.Out(c.Name)
	case utp.ChoiceRequired:
		out.Type = "any"
	default:
		out.Type = "auto"
	}
	if w.think && (c.Mode == utp.ChoiceNamed || c.Mode == utp.ChoiceRequired) {
		ask := "Answer with a call of one of the tools."
		if c.Mode == utp.ChoiceNamed {
			ask = "Answer with a call of the tool " + out.Name + "."
		}
		w.asks = append(w.asks, ask)
		w.Lose("choice.mode", "asked for in the system prompt", "the API refuses to force a call while the model thinks")
		out = choiceJSON{Type: "auto"}
	}
	if c.Parallel != nil && out.Type != "none" {
		one := !*c.Parallel
		out.One = &one
	}
	if out.Type != "auto" || out.One != nil && *out.One {
		w.out.ToolChoice = shape.JSON(out, nil)
	}
}
