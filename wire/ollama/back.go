package ollama

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Back calls an Ollama server.
type Back struct {
	Model *Details // what the server says of the model; nil: not known
}

var _ wire.Back = Back{}

const path = "/api/chat"

// writing is a request on its way out.
type writing struct {
	codec.Outgoing
	back    Back
	in      *utp.Request
	names   *codec.Names
	own     shape.Fields // of the request's Extra
	out     requestJSON
	written []messageJSON
	rests   []shape.Fields // of the messages
}

// Open writes the request.
func (b Back) Open(r *utp.Request) (*wire.Exchange, error) {
	names, err := codec.NewNames(r.Tools, 0)
	if err != nil {
		return nil, err
	}
	w := &writing{back: b, in: r, names: names, Outgoing: codec.Outgoing{Provider: provider}}
	w.out = requestJSON{Model: r.Model, Stream: &r.Stream, Messages: []shape.Value{}}
	w.own = w.Own("", r.Extra)
	w.messages()
	w.tools()
	w.params()
	w.put()
	rest := w.own.Without("think", "options", "format", generate)
	one := r.Choice.Parallel != nil && !*r.Choice.Parallel
	return &wire.Exchange{
		Path: path, Header: map[string]string{"Content-Type": "application/json"},
		Body: ofRequest.Write(w.out, rest), Losses: w.Losses, Framing: wire.NDJSON, Answer: codec.Answer(answer{names, r.Model, one}.reader),
	}, nil
}

// tools writes the tools that the choice leaves. Ollama has no tool_choice:
// what must be called is asked for in words.
func (w *writing) tools() {
	c := w.Choose(w.in)
	if c.Mode == utp.ChoiceNone {
		if len(w.in.Tools) > 0 {
			w.Lose("tools", "dropped", "no call is wanted")
			w.Lose("choice.mode", "said by sending no tools", "Ollama has no tool_choice")
		}
		return
	}
	left := false
	for i, t := range w.in.Tools {
		if codec.Offers(c, t.Name) {
			w.tool(codec.At("tools", i), t)
		} else {
			left = true
		}
	}
	switch {
	case len(w.out.Tools) == 0:
	case c.Mode == utp.ChoiceNamed:
		w.ask("Answer with a call of the tool " + c.Name + ".")
	case c.Mode == utp.ChoiceRequired:
		w.ask("Answer with a call of one of the tools.")
	}
	if left && c.Mode == utp.ChoiceNamed {
		w.Lose("tools", "only the one to be called sent", "Ollama has no tool_choice")
	}
	if len(c.Allowed) > 0 {
		w.Lose("choice.allowed", "sent only these tools", "Ollama has no tool_choice")
	}
	if c.Parallel != nil && !*c.Parallel {
		w.Lose("choice.parallel", "not sent", "Ollama has no such setting; a second call is refused where one was asked for")
	}
}

func (w *writing) tool(path string, t utp.Tool) {
	if t.Strict != nil && *t.Strict {
		w.Lose(path+".strict", "dropped", "Ollama does not constrain arguments")
	}
	t.Strict = nil
	if t.Kind == utp.FunctionTool && len(t.Schema) > 0 {
		t.Schema, _, _ = dialect.Inlined.Convert(t.Schema, path+".parameters", w.Lose)
	}
	if v, ok := w.Function(path, t, w.names); ok {
		w.out.Tools = append(w.out.Tools, v)
	}
}

// ask adds to the system message in front: templates refuse one elsewhere.
func (w *writing) ask(text string) {
	if ms := w.written; len(ms) > 0 && ms[0].Role == string(utp.RoleSystem) {
		ms[0].Content += "\n\n" + text
	} else {
		w.written = append([]messageJSON{{Role: string(utp.RoleSystem), Content: text}}, ms...)
		w.rests = append([]shape.Fields{nil}, w.rests...)
	}
	w.Lose("choice.mode", "asked for in the system message", "Ollama has no tool_choice")
}

// put writes the messages.
func (w *writing) put() {
	for i, m := range w.written {
		w.out.Messages = append(w.out.Messages, shape.Value{Raw: ofMessage.Write(m, w.rests[i])})
	}
}

// levels are the words that "think" takes of a model that has levels, which are
// those of the family gpt-oss. Of others it takes true, if they think at all, and
// of every one false.
// Source: Ollama 0.17.4, api/types.go, ThinkValue, and server/routes.go, ChatHandler.
var levels = []string{"low", "medium", "high"}

func (w *writing) params() {
	p := w.in.Params
	options := optionsJSON{NumCtx: p.Context, NumPredict: p.MaxTokens, Temperature: p.Temperature, TopP: p.TopP, TopK: p.TopK, Seed: p.Seed,
		Presence: p.Presence, Frequency: p.Frequency}
	if len(p.Stop) > 0 {
		options.Stop = shape.JSON(p.Stop, nil)
	}
	more, _ := shape.Members(shape.Value{Raw: w.own.Get("options")})
	if p.MaxTokens != nil {
		more = more.Without("num_predict") // none, as the client said
	}
	if body := ofOptions.Write(options, more); len(body) > len("{}") {
		w.out.Options.Raw = body
	}
	w.think(p.Effort)
	w.Nameless(p)
	w.Refuse("Ollama has no such field", codec.Param{Name: "user", Given: p.User != ""})
	switch format := (shape.Value{Raw: w.own.Get("format")}); {
	case string(schemaOf(format)) == string(p.Schema):
		w.out.Format = format
	case string(p.Schema) == "{}":
		w.out.Format = shape.JSON("json", nil)
	default:
		w.out.Format.Raw = p.Schema
	}
}

// think writes the effort as far as the model takes it: as a client of this API
// said it while it means the same, else the nearest.
func (w *writing) think(effort string) {
	said := shape.Value{Raw: w.own.Get("think")}
	thinks, leveled := w.back.thinking(w.in.Model)
	switch {
	case effort == "":
	case effort == "none":
		w.out.Think.Raw = json.RawMessage("false")
	case !thinks:
		w.Lose("params.effort", "dropped", "the model does not think")
	case effortOf(said) == effort && (leveled || said.Kind() == 't'):
		w.out.Think = said
	case leveled:
		word := wire.NearestEffort(effort, levels)
		if w.out.Think = shape.Quote(word); word != effort {
			w.Lose("params.effort", "sent as "+word, "the model takes no other")
		}
	default:
		w.out.Think.Raw = json.RawMessage("true")
		if effort != effortOf(w.out.Think) {
			w.Lose("params.effort", "sent as true", "the model thinks or does not, and has no levels")
		}
	}
}

// thinking is what "think" may be for a model: nothing but false, true too, or a
// level. Of a model that the server says nothing of the name must do.
func (b Back) thinking(model string) (thinks, leveled bool) {
	if b.Model == nil {
		return true, strings.Contains(strings.ToLower(model), "gpt-oss")
	}
	return b.Model.Think == nil || *b.Model.Think, b.Model.Levels
}

func (w *writing) messages() {
	ordered := history.Files(history.Order(w.in.Messages, nil, w.Lose), refuses, w.Lose)
	for _, m := range history.LiftBlobs(ordered, w.Lose) {
		w.message(m)
	}
}

func (w *writing) add(m messageJSON, rest shape.Fields) {
	w.written, w.rests = append(w.written, m), append(w.rests, rest)
}

func (w *writing) message(m history.Sent) {
	own := w.Own(m.Path, m.Extra)
	if m.Role == utp.RoleTool {
		for i, r := range m.Results() {
			w.PlainResult(codec.Places(m.At[i], len(r.Parts)), r)
			w.add(messageJSON{Role: "tool", Content: history.ResultText(r), ToolName: r.Name, ToolCallID: r.CallID}, append(w.Own(m.At[i], r.Extra), own...))
		}
		return
	}
	out := messageJSON{Role: string(m.Role), Content: m.Text()}
	for i, p := range m.Parts {
		w.part(m.At[i], p, &out)
	}
	w.add(out, own)
}

func (w *writing) part(path string, p utp.Part, out *messageJSON) {
	switch p := p.(type) {
	case utp.Text:
		w.Own(path, p.Extra)
	case utp.Call:
		out.ToolCalls = append(out.ToolCalls, w.call(path, p, len(out.ToolCalls)))
	case utp.Think:
		if p.Provider != "" && p.Provider != provider {
			w.Lose(path, "dropped", "it is the reasoning of another provider")
			return
		}
		out.Thinking += p.Text
	case utp.Blob:
		if why := refuses(p); why != "" {
			w.Lose(path, "dropped", why)
			return
		}
		if w.Own(path, p.Extra); p.Name != "" {
			w.Lose(path+".name", "dropped", "an image has none")
		}
		w.Unlooked(path, p)
		out.Images = append(out.Images, image(p))
	default:
		w.Lose(path, "dropped", "this part has no place in such a message")
	}
}

// refuses says why a file cannot be sent, or "".
func refuses(b utp.Blob) string {
	if len(b.Data) == 0 || !strings.HasPrefix(b.MIME, "image/") {
		return "only images with their data can be sent"
	}
	return ""
}

func (w *writing) call(path string, c utp.Call, index int) shape.Value {
	j := callJSON{ID: c.ID, Function: functionJSON{index, c.Name, shape.Value{Raw: w.Arguments(path+".arguments", c)}}}
	return shape.Value{Raw: ofCall.Write(j, w.Own(path, c.Extra))}
}
