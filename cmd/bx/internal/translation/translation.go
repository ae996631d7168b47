// Package translation rewrites the JSON of one provider's API as another's.
package translation

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// API is a provider's API in both directions.
type API struct {
	Name    string
	back    wire.Back
	front   wire.Front
	framing wire.Framing // of its streams
}

// apis are the APIs by name. The last two are servers of the one above them
// which take fields that others do not.
var apis = []API{
	{"anthropic", anthropic.Back{}, anthropic.Front{}, wire.SSE},
	{"gemini", gemini.Back{}, gemini.Front{}, wire.SSE},
	{"ollama", ollama.Back{}, ollama.Front{}, wire.NDJSON},
	{"responses", responses.Back{}, responses.Front{}, wire.SSE},
	{"openai", openai.Back{}, openai.Front{}, wire.SSE},
	{"api.openai.com", openai.Back{Server: openai.OpenAI}, openai.Front{}, wire.SSE},
	{"api.mistral.ai", openai.Back{Server: openai.Mistral}, openai.Front{}, wire.SSE},
}

// Names lists the names of the APIs.
func Names() (names []string) {
	for _, a := range apis {
		names = append(names, a.Name)
	}
	return names
}

// Named is the API with a name.
func Named(name string) (a API, ok bool) {
	i := slices.IndexFunc(apis, func(a API) bool { return a.Name == name })
	if i < 0 {
		return a, false
	}
	return apis[i], true
}

// Loss is a part of a text that the other API cannot be told.
type Loss = wire.Loss

// Translation is one text on its way from one API to another.
type Translation struct {
	From, To API
	Model    string // in place of the one that the text names

	Out    []byte            // the result, also of a stream that broke
	Path   string            // where a request would be sent
	Header map[string]string // and with what
	Losses []Loss            // what the other API cannot say
	Err    error             // why there is no good result
}

// Request reads a client's request and writes it for the other API. Gemini
// has the model in its path: Model names it.
func (t *Translation) Request(text []byte) {
	h := wire.HTTPRequest{Method: "POST", Body: text}
	if t.From.Name == "gemini" {
		h.Path = "/v1beta/models/" + t.Model + ":generateContent"
	}
	r, losses, err := t.From.front.Read(h)
	if err != nil {
		t.Err = err
		return
	}
	if t.Model != "" {
		r.Model = t.Model
	}
	x, err := t.To.back.Open(r)
	if err != nil {
		t.Err = err
		return
	}
	t.Path, t.Header, t.Losses = x.Path, x.Header, append(losses, x.Losses...)
	t.Out = indented(x.Body)
}

// counted is a request whose client wants the counts of tokens in a stream.
func (t *Translation) counted() *utp.Request {
	return &utp.Request{Model: t.Model, Stream: true, Extra: json.RawMessage(`{"openai":{"stream_options":{"include_usage":true}}}`)}
}

// replyID is the id of a streamed reply, whose own comes too late to be its first word.
const replyID = "utp_1"

// Response reads a whole reply and writes it for the other API.
func (t *Translation) Response(text []byte) {
	x, err := t.From.back.Open(t.counted())
	if err != nil {
		t.Err = err
		return
	}
	reply, err := x.Read(text, nil)
	if err != nil {
		t.Err = err
		return
	}
	if reply.ID == "" {
		reply.ID = replyID
	}
	out, losses, err := t.To.front.Whole(t.counted(), reply, wire.Stamp{})
	if err != nil {
		t.Err = err
		return
	}
	t.Out, t.Losses = indented(out), losses
}

// Stream reads a streamed reply. One that breaks ends in the other API's error.
func (t *Translation) Stream(text []byte) {
	x, err := t.From.back.Open(t.counted())
	if err != nil {
		t.Err = err
		return
	}
	evs, err := streamed(x, text)
	w := t.To.front.Writer(t.counted(), wire.Stamp{ID: replyID, Model: modelOf(evs)})
	for _, e := range evs {
		t.frames(w.Write(e))
	}
	t.frames(w.Close(err))
	if t.Err = err; err == nil {
		_, t.Losses, t.Err = t.To.front.Whole(t.counted(), utp.Collect(evs), wire.Stamp{})
	}
}

func (t *Translation) frames(frames []wire.Frame) {
	for _, f := range frames {
		t.Out = t.To.framing.Append(t.Out, f)
	}
}

// streamed is the events of a stream, and why it is broken.
func streamed(x *wire.Exchange, text []byte) (evs []utp.Event, err error) {
	decoder, reader := x.Framing.Decoder(), x.Reader(nil)
	frames, err := decoder.Feed(text)
	last, end := decoder.Close()
	if err == nil {
		err = end
	}
	for _, f := range append(frames, last...) {
		evs = append(evs, reader.Feed(f)...)
	}
	evs = append(evs, reader.Close()...)
	if err == nil {
		err = reader.Err()
	}
	return evs, err
}

func modelOf(evs []utp.Event) string {
	if last := evs[len(evs)-1]; last.End != nil {
		return last.End.Model
	}
	return ""
}

func indented(body []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return body
	}
	b.WriteByte('\n')
	return b.Bytes()
}
