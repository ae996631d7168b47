// Package translate rewrites the JSON of one provider's API as another's: a client's
// request and the answer to it, whole or streamed.
//
//	x, err := translate.Pair{From: translate.Anthropic, To: translate.OpenAI}.Request(body)
//
// Send x.Body to x.Path of the other API. Its answer goes back to the client through
// x.Reply, or piece by piece through x.Stream.
package translate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// API names a provider's API.
type API string

// The APIs. The last two are servers of OpenAI's chat completions that accept fields
// that others do not.
const (
	Anthropic API = "anthropic"      // /v1/messages
	Gemini    API = "gemini"         // generateContent
	Ollama    API = "ollama"         // /api/chat
	Responses API = "responses"      // OpenAI's /v1/responses
	OpenAI    API = "openai"         // /v1/chat/completions of any server
	OpenAICom API = "api.openai.com" // of OpenAI itself
	MistralAI API = "api.mistral.ai" // of Mistral
)

// Loss is a part of a request or an answer that the other API cannot express.
type Loss = wire.Loss

// codec reads and writes an API.
type codec struct {
	api     API
	back    wire.Back
	front   wire.Front
	framing wire.Framing // of its streams
}

var codecs = []codec{
	{Anthropic, anthropic.Back{}, anthropic.Front{}, wire.SSE},
	{Gemini, gemini.Back{}, gemini.Front{}, wire.SSE},
	{Ollama, ollama.Back{}, ollama.Front{}, wire.NDJSON},
	{Responses, responses.Back{}, responses.Front{}, wire.SSE},
	{OpenAI, openai.Back{}, openai.Front{}, wire.SSE},
	{OpenAICom, openai.Back{Server: openai.OpenAI}, openai.Front{}, wire.SSE},
	{MistralAI, openai.Back{Server: openai.Mistral}, openai.Front{}, wire.SSE},
}

// APIs lists the APIs.
func APIs() (list []API) {
	for _, c := range codecs {
		list = append(list, c.api)
	}
	return list
}

// codec returns the codec of the API. Its error lists the known APIs.
func (a API) codec() (codec, error) {
	if i := slices.IndexFunc(codecs, func(c codec) bool { return c.api == a }); i >= 0 {
		return codecs[i], nil
	}
	var names []string
	for _, known := range APIs() {
		names = append(names, string(known))
	}
	return codec{}, fmt.Errorf("translate: API %q: want one of %s", a, strings.Join(names, ", "))
}

// Pair names the two APIs of a translation. For Request, From is the client's and To the
// server's. For Answer, From is the API that the answer is in, and To the reader's.
type Pair struct {
	From, To API
	Model    string // replaces the model in the request; Gemini's requests name none
	ID       string // of an answer that begins without one; "" is "utp_1"
}

func (p Pair) codecs() (from, to codec, err error) {
	if from, err = p.From.codec(); err == nil {
		to, err = p.To.codec()
	}
	return from, to, err
}

// Exchange is a request in the server's API, to be sent by POST, and the Answer that
// translates the server's reply for the client.
type Exchange struct {
	Path   string            // where the request goes: "/v1/chat/completions"
	Header map[string]string // the headers to send, besides the key
	Body   []byte
	Losses []Loss // what the server's API cannot express
	Answer
}

// Request translates a client's request for the server. What the server's API cannot
// express is in Losses; an error means that the request cannot be sent at all.
func (p Pair) Request(body []byte) (*Exchange, error) {
	from, to, err := p.codecs()
	if err != nil {
		return nil, err
	}
	h := wire.HTTPRequest{Method: "POST", Body: body}
	if from.api == Gemini {
		h.Path = "/v1beta/models/" + p.Model + ":generateContent"
	}
	r, losses, err := from.front.Read(h)
	if err != nil {
		return nil, err
	}
	if len(r.Messages) == 0 {
		return nil, fmt.Errorf("the request has no messages: is it one for the API %s?", p.From)
	}
	if p.Model != "" {
		r.Model = p.Model
	}
	x, err := to.back.Open(r)
	if err != nil {
		return nil, err
	}
	return &Exchange{Path: x.Path, Header: x.Header, Body: x.Body, Losses: append(losses, x.Losses...),
		Answer: Answer{request: r, exchange: x, front: from.front, framing: from.framing, id: p.ID}}, nil
}

// Answer returns an Answer for replies whose request is not known.
func (p Pair) Answer() (*Answer, error) {
	from, to, err := p.codecs()
	if err != nil {
		return nil, err
	}
	r := &utp.Request{Model: p.Model, Stream: true, Extra: withUsage}
	x, err := from.back.Open(r)
	if err != nil {
		return nil, err
	}
	return &Answer{request: r, exchange: x, front: to.front, framing: to.framing, id: p.ID}, nil
}

// withUsage asks for the token counts in a stream of OpenAI's API.
var withUsage = json.RawMessage(`{"openai":{"stream_options":{"include_usage":true}}}`)

// Answer translates a server's answers for the client. Several goroutines may use it.
type Answer struct {
	request  *utp.Request
	exchange *wire.Exchange
	front    wire.Front
	framing  wire.Framing
	id       string
}

// defaultID is the id of an answer that begins without one.
const defaultID = "utp_1"

func (a *Answer) stamp() wire.Stamp {
	if a.id == "" {
		return wire.Stamp{ID: defaultID}
	}
	return wire.Stamp{ID: a.id}
}

// Reply translates a whole answer and returns what the client's API cannot express. An
// error from the server, or a body that holds no reply, is a *wire.Error; Error
// translates it for the client.
func (a *Answer) Reply(body []byte) ([]byte, []Loss, error) {
	reply, err := a.exchange.Read(body, nil)
	if err != nil {
		return nil, nil, err
	}
	if reply.ID == "" {
		reply.ID = a.stamp().ID
	}
	return a.front.Whole(a.request, reply, wire.Stamp{})
}

// Error returns the HTTP status and the body for an error in the client's API.
func (a *Answer) Error(err error) (status int, body []byte) { return a.front.Error(err) }
