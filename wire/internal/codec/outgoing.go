package codec

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Outgoing is what the writers of requests have in common.
type Outgoing struct {
	Provider string
	Kin      string // the provider that has some fields of requests alike; "": none has
	Losses   []wire.Loss

	functions []byte // written, one after another
}

// At is the path of an element: "tools[2]".
func At(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// Lose reports a loss.
func (o *Outgoing) Lose(path, what, why string) {
	o.Losses = append(o.Losses, wire.Loss{Path: path, What: what, Why: why})
}

// Leave reports a tool that only its own provider runs.
func (o *Outgoing) Leave(path string, t utp.Tool) {
	o.Lose(path, "dropped", "a "+string(t.Kind)+" tool of another provider cannot be offered here")
}

// Exchange is the request as it goes out: a body of JSON, and server-sent events
// where a stream is asked for.
func (o *Outgoing) Exchange(path string, body []byte, a Answer) *wire.Exchange {
	header := map[string]string{"Content-Type": "application/json"}
	return &wire.Exchange{Path: path, Header: header, Body: body, Losses: o.Losses, Framing: wire.SSE, Answer: a}
}

// Own is the provider's own fields of an Extra. Each of those of others is a loss,
// but for those of a request that the provider's kin has alike.
func (o *Outgoing) Own(path string, extra json.RawMessage) shape.Fields {
	own, foreign := UnpackExtra(extra, o.Provider)
	if foreign {
		own = append(own, o.foreign(path, extra)...)
	}
	return own
}

// alike are fields of requests that OpenAI's two APIs have in common.
var alike = []string{"metadata", "service_tier", "prompt_cache_key", "prompt_cache_retention"}

// elsewhere lists, for fields of requests that more than one API has, those that do.
// A model has no place for them: none passes them on in the words of another.
var elsewhere = map[string][]string{
	"metadata": {"openai", "responses", "anthropic"}, "service_tier": {"openai", "responses", "anthropic", "gemini"},
	"prompt_cache_key": {"openai", "responses"}, "prompt_cache_retention": {"openai", "responses"}, "safety_identifier": {"openai", "responses"},
	"store": {"openai", "responses"}, "verbosity": {"openai", "responses"}, "web_search_options": {"openai", "responses", "anthropic", "gemini"},
	"logprobs": {"openai", "responses", "gemini", "ollama"}, "top_logprobs": {"openai", "responses", "gemini", "ollama"},
	"modalities": {"openai", "gemini"}, "audio": {"openai", "gemini"}, "cached_content": {"gemini", "anthropic"},
	"options": {"ollama", "openai", "gemini"}, "include": {"responses", "openai"}, "top_k": {"openai", "anthropic", "gemini", "ollama"},
}

// whose says why a field of another provider is not sent.
func (o *Outgoing) whose(field, provider string) string {
	if slices.Contains(elsewhere[field], o.Provider) {
		return "it is not passed on from " + provider + " to " + o.Provider
	}
	return "only " + provider + " has it"
}

// foreign reports what an Extra holds of other providers, and gives what of it the
// provider has alike. An empty path is the request's.
func (o *Outgoing) foreign(path string, extra json.RawMessage) (shared shape.Fields) {
	request := path == ""
	if path != "" {
		path += "."
	}
	all, err := shape.Members(shape.Value{Raw: extra})
	if err != nil {
		o.Lose(path+"extra", "dropped", "it is not one of this library's")
	}
	for _, p := range all {
		if p.Name == o.Provider {
			continue
		}
		fields, err := shape.Members(shape.Value{Raw: p.Value})
		if err != nil {
			fields = shape.Fields{{Name: "extra"}}
		}
		for _, f := range fields.Without(asSaid, mark) {
			switch {
			case string(f.Value) == "null":
			case request && p.Name == o.Kin && slices.Contains(alike, f.Name):
				shared = append(shared, f)
			case request:
				o.Lose(path+f.Name, "dropped", o.whose(f.Name, p.Name))
			default:
				o.Lose(path+f.Name, "dropped", "only "+p.Name+" has it")
			}
		}
		forms, _ := shape.Members(shape.Value{Raw: fields.Get(asSaid)})
		for _, f := range forms {
			o.Lose(path+f.Name, "said in part", "only "+p.Name+" has all of it")
		}
	}
	return shared
}

// Refuse reports the parameters of a request that the API has no place for.
func (o *Outgoing) Refuse(why string, params ...Param) {
	for _, p := range params {
		if p.Given {
			o.Lose("params."+p.Name, "dropped", why)
		}
	}
}

// Param is a parameter of utp.Params and whether the request has it.
type Param struct {
	Name  string
	Given bool
}

// Arguments is a call's arguments. Any that are no object are mended if they are
// broken JSON of one, and a loss.
func (o *Outgoing) Arguments(path string, c utp.Call) json.RawMessage {
	args, ok := CallObject(c)
	if ok {
		return args
	}
	if mended, why := mended(cmp.Or(c.RawArgs, string(c.Args))); mended != nil {
		o.Lose(path, "mended", why)
		return mended
	}
	o.Lose(path, "sent as _raw", "the arguments are no JSON object")
	return args
}

// Places are the paths of n parts of what stands at a path.
func Places(path string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = At(path+".parts", i)
	}
	return out
}

// Sendable is the parts that why has nothing against, and where they stood. The
// others are lost.
func (o *Outgoing) Sendable(at []string, parts []utp.Part, why func(utp.Part) string) (left []utp.Part, places []string) {
	for i, p := range parts {
		if words := why(p); words != "" {
			o.Lose(at[i], "dropped", words)
			continue
		}
		left, places = append(left, p), append(places, at[i])
	}
	return left, places
}

// PlainResult reports what a result holds beside its words, for an API that has no
// place for more.
func (o *Outgoing) PlainResult(at []string, r utp.Result) {
	for i, p := range r.Parts {
		if t, ok := p.(utp.Text); ok {
			o.Own(at[i], t.Extra)
			continue
		}
		o.Lose(at[i], "dropped", "results are texts here")
	}
}

// Unsaid reports a part of a reply that no client of the API can be told.
func (o *Outgoing) Unsaid(path string, p utp.Part) {
	why := "an answer cannot hold it here"
	if u, ok := p.(utp.Unknown); ok {
		why = "only " + u.Provider + " understands it"
	}
	o.Lose(path, "dropped", why)
}

// Unlooked reports how closely an image was to be looked at, for an API that
// cannot be told.
func (o *Outgoing) Unlooked(path string, b utp.Blob) {
	if b.Detail != "" && b.Detail != "auto" {
		o.Lose(path+".detail", "dropped", "an image has none here")
	}
}

// Content writes one plain text as a text, all else as a list of what part writes.
func (o *Outgoing) Content(at []string, parts []utp.Part, part func(path string, p utp.Part) shape.Value) shape.Value {
	if t, ok := parts[0].(utp.Text); ok && len(parts) == 1 {
		if own, _ := UnpackExtra(t.Extra, o.Provider); len(own) == 0 {
			o.Own(at[0], t.Extra)
			return shape.Quote(t.Text)
		}
	}
	out := make([]shape.Value, len(parts))
	for i, p := range parts {
		out[i] = part(at[i], p)
	}
	return shape.List(out)
}
