package gemini

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Back calls a server.
type Back struct {
	Vertex     bool // Vertex AI: its paths, and no ids of calls
	JSONSchema bool // the model takes schemas as they are, in parametersJsonSchema
}

var _ wire.Back = Back{}

// maxName is the longest tool name on every one of Google's surfaces.
const maxName = 63

// writing is a request on its way out.
type writing struct {
	Back
	in    *utp.Request
	own   shape.Fields // of the request's Extra
	names *codec.Names
	back  map[string]*dialect.Coercion // by the tools' own names
	out   requestJSON
	codec.Outgoing
}

// Open writes the request. The path has a query if a stream is asked for.
func (b Back) Open(r *utp.Request) (*wire.Exchange, error) {
	w, err := b.write(r)
	if err != nil {
		return nil, err
	}
	method := "generateContent"
	if r.Stream {
		method = "streamGenerateContent?alt=sse"
	}
	one := r.Choice.Parallel != nil && !*r.Choice.Parallel
	return w.exchange(method, shape.JSON(w.out, w.out.Rest), answer{names: w.names, back: w.back, model: r.Model, one: one}.reader)
}

// Count writes the question how many tokens the request has; ReadCount reads
// the answer.
func (b Back) Count(r *utp.Request) (*wire.Exchange, error) {
	w, err := b.write(r)
	if err != nil {
		return nil, err
	}
	if b.Vertex {
		w.out.ToolConfig = shape.Value{}
		return w.exchange("countTokens", shape.JSON(w.out, w.out.Rest), nil)
	}
	w.out.Model = "models/" + bare(r.Model)
	return w.exchange("countTokens", shape.JSON(countRequest{shape.JSON(w.out, w.out.Rest)}, nil), nil)
}

// ReadCount reads the answer to Count, in tokens.
func ReadCount(body []byte) (int, error) { return codec.ReadCount(provider, body, "totalTokens") }

// segment is a name as one segment of a path: it leads to no other.
func segment(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~:@", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (w *writing) exchange(method string, body shape.Value, a codec.Answer) (*wire.Exchange, error) {
	path := "/v1beta/models/"
	if w.Vertex {
		path = "/publishers/google/models/"
	}
	return w.Exchange(path+segment(bare(w.in.Model))+":"+method, body.Raw, a), nil
}

func (b Back) write(r *utp.Request) (*writing, error) {
	names, err := codec.NewNames(r.Tools, maxName)
	if err != nil {
		return nil, err
	}
	names.Lead()
	w := &writing{Back: b, in: r, names: names, back: map[string]*dialect.Coercion{}, Outgoing: codec.Outgoing{Provider: provider}}
	w.own = w.Own("", r.Extra)
	w.out.Rest = w.own.Without("generationConfig", "toolConfig", array)
	w.messages()
	w.tools()
	w.generation()
	return w, nil
}

const maxStops = 5

// generation writes generationConfig: the fields that the model knows, and of
// the others what a Gemini client said.
func (w *writing) generation() {
	p := w.in.Params
	said, _ := readGeneration.Read(shape.Value{Raw: w.own.Get("generationConfig")})
	out := generationJSON{MaxTokens: p.MaxTokens, Temperature: p.Temperature, TopP: p.TopP, TopK: p.TopK, Seed: p.Seed, Stop: p.Stop,
		Presence: p.Presence, Frequency: p.Frequency}
	if len(out.Stop) > maxStops {
		out.Stop = out.Stop[:maxStops]
		w.Lose("params.stop", fmt.Sprintf("the first %d sent", maxStops), "Gemini takes no more")
	}
	if out.Seed != nil && (*out.Seed > math.MaxInt32 || *out.Seed < math.MinInt32) {
		out.Seed = nil
		w.Lose("params.seed", "dropped", "Gemini's has 32 bits")
	}
	w.Refuse("Gemini has no such setting", codec.Param{Name: "context", Given: p.Context != nil}, codec.Param{Name: "user", Given: p.User != ""})
	w.Nameless(p)
	w.thinking(&out, said.Thinking)
	w.format(&out, said)
	if n := said.Candidates; n != nil && *n == 1 {
		out.Candidates = n
	}
	if v := shape.JSON(out, said.Rest); string(v.Raw) != "{}" {
		w.out.Generation = v
	}
}

var (
	leveled  = regexp.MustCompile(`gemini-([3-9]|\d\d)`) // thinking has levels, and signatures are wanted back
	budgeted = regexp.MustCompile(`gemini-2\.5`)
)

// thinking is as the client wrote it while it means the same.
func (w *writing) thinking(out *generationJSON, said shape.Value) {
	word := w.in.Params.Effort
	if effort(said) == word {
		out.Thinking = said
		return
	}
	tokens, known := wire.Budget(word)
	show := word != "none"
	j := thinkingJSON{Include: &show}
	switch model := w.in.Model; {
	case !known:
		w.Lose("params.effort", "dropped", "Gemini does not know "+word)
		return
	case budgeted.MatchString(model):
		j.Budget = w.budget(tokens)
	case leveled.MatchString(model):
		j.Level = level(word, strings.Contains(model, "pro"))
		if now := strings.ToLower(j.Level); now != word {
			w.Lose("params.effort", "sent as "+now, "the model takes no other")
		}
	default:
		w.Lose("params.effort", "dropped", "the model does not think")
		return
	}
	out.Thinking = shape.JSON(j, nil)
}

// budget is within what the model takes. Source: "Gemini thinking", budgets.
func (w *writing) budget(tokens int) *int {
	low, high := 0, 24576
	if strings.Contains(w.in.Model, "pro") {
		low, high = 128, 32768
	}
	now := min(max(tokens, low), high)
	if now != tokens {
		w.Lose("params.effort", fmt.Sprintf("a budget of %d tokens", now), "the model takes no other")
	}
	return &now
}

func level(effort string, pro bool) string {
	switch {
	case effort == "xhigh", effort == "max":
		return "HIGH"
	case pro && effort == "medium":
		return "HIGH"
	case pro && (effort == "none" || effort == "minimal"):
		return "LOW"
	case effort == "none":
		return "MINIMAL"
	}
	return strings.ToUpper(effort)
}

// format is as the client wrote it while it means the same.
func (w *writing) format(out *generationJSON, said generationJSON) {
	schema := w.in.Params.Schema
	switch {
	case bytes.Equal(schemaOf(said), schema):
		out.MIME, out.Schema, out.JSONSchema = said.MIME, said.Schema, said.JSONSchema
		return
	case len(schema) == 0:
		return
	}
	out.MIME = "application/json"
	switch {
	case string(schema) == "{}":
	case w.JSONSchema:
		out.JSONSchema = schema
	default:
		out.Schema, _, _ = dialect.OpenAPI.Convert(schema, "params.schema", w.Lose)
	}
}

func (w *writing) tools() {
	var functions, others []shape.Value
	for i, t := range w.in.Tools {
		path := codec.At("tools", i)
		own, _ := codec.UnpackExtra(t.Extra, provider)
		switch {
		case t.Kind == utp.HostedTool && len(own) > 0:
			others = append(others, shape.Value{Raw: own.Raw()})
		case t.Kind != utp.FunctionTool && t.Kind != utp.CustomTool:
			w.Leave(path, t)
		default:
			functions = append(functions, w.function(path, t, w.Own(path, t.Extra)))
		}
	}
	if len(functions) > 0 {
		w.out.Tools = append(w.out.Tools, shape.JSON(toolJSON{Functions: functions}, nil))
	}
	w.out.Tools = append(w.out.Tools, others...)
	if len(w.out.Tools) > 0 {
		w.choice(w.Choose(w.in), len(functions) > 0)
	}
}

func (w *writing) function(path string, t utp.Tool, own shape.Fields) shape.Value {
	out := functionJSON{Name: w.names.OutLed(t.Name), Description: t.Description}
	schema := t.Schema
	if t.Kind == utp.CustomTool {
		out.Description, schema = codec.CustomFunction(t)
		w.Lose(path, "sent as a function with one text", "free text tools are not known here")
		w.Explained(path + ".format")
	}
	if out.Name != t.Name {
		w.Lose(path+".name", "sent as "+out.Name, "only letters, digits, _ and - are allowed, a letter or _ first, 63 at most")
	}
	if t.Strict != nil && *t.Strict {
		w.Lose(path+".strict", "dropped", "Gemini has no such setting")
	}
	said, lose := own.Get("parameters"), dialect.Lose(w.Lose)
	switch same := said != nil && bytes.Equal(dialect.FromOpenAPI(said), schema); {
	case same:
		lose = nil
	case w.JSONSchema || own.Get(asJSONSchema) != nil:
		out.JSONSchema = schema
		return shape.JSON(out, own.Without("parameters", asJSONSchema))
	default:
		said = nil
	}
	converted, back, _ := dialect.OpenAPI.Convert(schema, path+".parameters", lose)
	w.back[t.Name], out.Parameters = back, said
	if said == nil && string(converted) != `{"type":"OBJECT"}` { // an object without properties is refused
		out.Parameters = converted
	}
	return shape.JSON(out, own.Without("parameters", asJSONSchema))
}

// choice is as the client wrote it while it means the same.
func (w *writing) choice(c utp.Choice, functions bool) {
	said, _ := readConfig.Read(shape.Value{Raw: w.own.Get("toolConfig")})
	if c.Parallel != nil && !*c.Parallel && c.Mode != utp.ChoiceNone {
		w.Lose("choice.parallel", "later calls of a reply are dropped", "Gemini has no such setting")
	}
	s := chosen(said.Calling)
	if s.Mode == c.Mode && s.Name == c.Name && slices.Equal(s.Allowed, c.Allowed) {
		if raw := w.own.Get("toolConfig"); raw != nil {
			w.out.ToolConfig = shape.Value{Raw: raw}
		}
		return
	}
	var j callingJSON
	for _, name := range c.Allowed {
		j.Allowed = append(j.Allowed, w.names.OutLed(name))
	}
	switch c.Mode {
	case utp.ChoiceNone:
		j = callingJSON{Mode: "NONE"}
	case utp.ChoiceNamed:
		j = callingJSON{Mode: "ANY", Allowed: []string{w.names.OutLed(c.Name)}}
	case utp.ChoiceRequired:
		j.Mode = "ANY"
	default:
		j.Mode = "VALIDATED" // AUTO takes no list
	}
	if functions && (c.Mode != utp.ChoiceAuto || len(j.Allowed) > 0) {
		w.out.ToolConfig = shape.JSON(configJSON{Calling: &j}, said.Rest)
	}
}
