// Package embed speaks the embeddings of three APIs: OpenAI's /v1/embeddings,
// Ollama's /api/embed and the older /api/embeddings, and Gemini's embedContent and
// batchEmbedContents. A client's request of one is written as that of another, and
// the reply back.
//
// Source: OpenAI API reference, "Embeddings"; Ollama docs/api.md, "Generate
// Embeddings"; Gemini API reference, "Embeddings".
package embed

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// The APIs that have embeddings, by the names that backends have for theirs.
const (
	OpenAI = "openai"
	Ollama = "ollama"
	Gemini = "gemini"
)

// Speaks reports whether a server of an API embeds, and by which of the three.
// OpenAI's server of Responses has its embeddings beside them.
func Speaks(server string) (api string, ok bool) {
	switch server {
	case "responses":
		return OpenAI, true
	case OpenAI, Ollama, Gemini:
		return server, true
	}
	return "", false
}

// Request is a client's request.
type Request struct {
	Model      string
	Inputs     []string
	Dimensions int // of the vectors; 0: the model's own
	form       form
	own        []setting
}

// form is how the client wants its reply.
type form int

const (
	openaiFloats form = iota
	openaiBase64
	ollamaMany
	ollamaOne
	geminiMany
	geminiOne
)

// setting is a field that only its own API has.
type setting struct{ name string }

// Reply is what a server made of the inputs, in their order.
type Reply struct {
	Vectors [][]float32
	Tokens  int  // of the inputs
	Guessed bool // the server does not say how many they are
}

// Read reads a client's request for a server of another API; one of the same API
// can have it as it is. What is wrong with it, or has a form in the client's API
// alone, is a *wire.InputError.
func Read(api, path string, body []byte) (r *Request, err error) {
	v, bad := shape.Body(body)
	if bad == nil {
		switch api {
		case OpenAI:
			r, bad = readOpenAI(v)
		case Ollama:
			r, bad = readOllama(path, v)
		case Gemini:
			r, bad = readGemini(path, v)
		default:
			return nil, fmt.Errorf("embed: %s has no embeddings", api)
		}
	}
	switch {
	case bad != nil:
	case r.Model == "":
		bad = wants("model", "the name of a model")
	case len(r.Inputs) == 0:
		bad = wants(inputs[api], "at least one text")
	}
	if bad != nil {
		return nil, (*wire.InputError)(bad)
	}
	return r, nil
}

// inputs are the fields of the texts.
var inputs = map[string]string{OpenAI: "input", Ollama: "input", Gemini: "content"}

func wants(path, what string) *shape.Error { return &shape.Error{Path: path, Offset: -1, Want: what} }

// Open writes the request for a server of an API, with what it cannot be told.
func (r *Request) Open(api string) (path string, body []byte, losses []wire.Loss) {
	for _, s := range r.own {
		losses = append(losses, wire.Loss{Path: s.name, What: "dropped", Why: "the server's API has no place for it"})
	}
	switch api {
	case OpenAI:
		return "/v1/embeddings", ofOpenAI.Write(openaiRequest{Model: r.Model, Dimensions: shape.LooseInt(r.Dimensions), Input: r.texts()}, nil), losses
	case Ollama:
		return "/api/embed", ofOllama.Write(ollamaRequest{Model: r.Model, Dimensions: shape.LooseInt(r.Dimensions), Input: r.texts()}, nil), losses
	}
	return "/v1beta/models/" + r.Model + ":batchEmbedContents", writeGemini(r), losses
}

// texts are the inputs as JSON.
func (r *Request) texts() shape.Value {
	all := make([]shape.Value, len(r.Inputs))
	for i, text := range r.Inputs {
		all[i] = shape.Quote(text)
	}
	return shape.List(all)
}

// ReadReply reads the reply of a server to what Open wrote for its API. Without as
// many vectors as inputs it is none.
func (r *Request) ReadReply(api string, body []byte) (out Reply, err error) {
	switch api {
	case OpenAI:
		out, err = openaiReply(body)
	case Ollama:
		out, err = ollamaReply(body)
	default:
		out, err = geminiReply(body)
	}
	if err != nil {
		return out, fmt.Errorf("the reply cannot be read as embeddings: %w", err)
	}
	if len(out.Vectors) != len(r.Inputs) {
		return out, fmt.Errorf("the reply has %d embeddings for %d inputs", len(out.Vectors), len(r.Inputs))
	}
	for i, v := range out.Vectors {
		if len(v) == 0 {
			return out, fmt.Errorf("the reply has no embedding of input %d", i+1)
		}
	}
	if out.Guessed = out.Tokens == 0; out.Guessed {
		for _, text := range r.Inputs {
			out.Tokens += utp.Tokens(text)
		}
	}
	return out, nil
}

// WriteReply writes a reply as the client wants it, with what of the request was
// not heeded.
func (r *Request) WriteReply(reply Reply) (body []byte, losses []wire.Loss) {
	for _, v := range reply.Vectors {
		if r.Dimensions > 0 && len(v) != r.Dimensions {
			losses = append(losses, wire.Loss{Path: "dimensions", What: fmt.Sprintf("%d in place of %d", len(v), r.Dimensions), Why: "the server did not heed it"})
			break
		}
	}
	switch r.form {
	case openaiFloats, openaiBase64:
		return r.openai(reply), losses
	case ollamaMany, ollamaOne:
		return r.ollama(reply), losses
	}
	return r.gemini(reply), losses
}

// list is JSON of one thing or of a list of them.
func list(v shape.Value) ([]shape.Value, *shape.Error) {
	if v.Kind() == '[' {
		return v.Elements()
	}
	return []shape.Value{v}, nil
}

// given names the fields of a request that only its own API has.
func given(fields ...named) (out []setting) {
	for _, f := range fields {
		if !f.IsZero() && string(f.Raw) != "null" {
			out = append(out, setting{f.name})
		}
	}
	return out
}

type named struct {
	name string
	shape.Value
}
