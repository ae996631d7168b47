package embed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

type geminiBatch struct {
	Requests []shape.Value `json:"requests"`
}

type geminiRequest struct {
	Model      string         `json:"model,omitempty"`
	Content    geminiContent  `json:"content"`
	Dimensions shape.LooseInt `json:"outputDimensionality,omitempty"`
	Task       shape.Value    `json:"taskType,omitempty"`
	Title      shape.Value    `json:"title,omitempty"`
}

type geminiContent struct {
	Parts []shape.Value `json:"parts"`
}

var (
	ofBatch  = shape.ProtoOf[geminiBatch]()
	ofGemini = shape.ProtoOf[geminiRequest]()
)

// readGemini takes the model's name from the path, where the method stands behind it.
func readGemini(path string, v shape.Value) (*Request, *shape.Error) {
	_, rest, _ := strings.Cut(path, "/models/")
	at := max(strings.LastIndex(rest, ":"), 0) // Ollama's names have one, too
	r := &Request{Model: rest[:at], form: geminiOne}
	if !strings.HasSuffix(rest, ":batchEmbedContents") {
		return r, r.geminiInput(v)
	}
	r.form = geminiMany
	batch, bad := ofBatch.Read(v)
	if bad != nil {
		return nil, bad
	}
	for i, one := range batch.Requests {
		if bad := r.geminiInput(one); bad != nil {
			return nil, shape.Inside(bad, "requests", i)
		}
	}
	return r, nil
}

func (r *Request) geminiInput(v shape.Value) *shape.Error {
	j, bad := ofGemini.Read(v)
	if bad != nil {
		return bad
	}
	var texts []string
	for i, p := range j.Content.Parts {
		text, bad := p.TextAt("text")
		if bad != nil || text == "" && !strings.Contains(string(p.Raw), `"text"`) {
			return shape.Inside(wants("", "a part with text: the server behind embeds nothing else"), "content.parts", i)
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return wants("content.parts", "at least one text")
	}
	if len(r.Inputs) > 0 && int(j.Dimensions) != r.Dimensions {
		return wants("outputDimensionality", "the same number in all requests")
	}
	r.Dimensions = int(j.Dimensions)
	r.Inputs = append(r.Inputs, strings.Join(texts, "\n"))
	for _, s := range given(named{"taskType", j.Task}, named{"title", j.Title}) {
		if !slices.Contains(r.own, s) {
			r.own = append(r.own, s)
		}
	}
	return nil
}

func writeGemini(r *Request) []byte {
	var batch geminiBatch
	for _, text := range r.Inputs {
		one := geminiRequest{Model: "models/" + r.Model, Dimensions: shape.LooseInt(r.Dimensions)}
		one.Content.Parts = []shape.Value{shape.JSON(map[string]string{"text": text}, nil)}
		batch.Requests = append(batch.Requests, shape.Value{Raw: ofGemini.Write(one, nil)})
	}
	return ofBatch.Write(batch, nil)
}

func geminiReply(body []byte) (out Reply, err error) {
	type vector struct {
		Values []float32 `json:"values"`
	}
	var j struct {
		Embeddings []vector `json:"embeddings"`
		Usage      shape.Lax[struct {
			Prompt shape.LooseInt `json:"promptTokenCount"`
		}] `json:"usageMetadata"`
	}
	err = json.Unmarshal(body, &j)
	for _, e := range j.Embeddings {
		out.Vectors = append(out.Vectors, e.Values)
	}
	out.Tokens = int(j.Usage.Is.Prompt)
	return out, err
}

func (r *Request) gemini(reply Reply) []byte {
	var b []byte
	if r.form == geminiOne {
		b = append(numbers([]byte(`{"embedding":{"values":`), reply.Vectors[0]), '}')
	} else {
		b = []byte(`{"embeddings":[`)
		for i, v := range reply.Vectors {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(numbers(append(b, `{"values":`...), v), '}')
		}
		b = append(b, ']')
	}
	if reply.Tokens > 0 {
		b = fmt.Appendf(b, `,"usageMetadata":{"promptTokenCount":%d}`, reply.Tokens)
	}
	return append(b, '}')
}
