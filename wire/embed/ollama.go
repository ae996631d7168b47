package embed

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

type ollamaRequest struct {
	Model      string         `json:"model"`
	Input      shape.Value    `json:"input,omitempty"`
	Prompt     shape.Value    `json:"prompt,omitempty"` // of the older API
	Dimensions shape.LooseInt `json:"dimensions,omitempty"`
	Truncate   shape.Value    `json:"truncate,omitempty"`
	KeepAlive  shape.Value    `json:"keep_alive,omitempty"`
	Options    shape.Value    `json:"options,omitempty"`
}

var ofOllama = shape.Of[ollamaRequest]()

func readOllama(path string, v shape.Value) (*Request, *shape.Error) {
	j, bad := ofOllama.Read(v)
	if bad != nil {
		return nil, bad
	}
	r := &Request{Model: j.Model, Dimensions: int(j.Dimensions), form: ollamaMany,
		own: given(named{"truncate", j.Truncate}, named{"keep_alive", j.KeepAlive}, named{"options", j.Options})}
	if strings.HasSuffix(path, "/embeddings") {
		r.form = ollamaOne
		if j.Prompt.IsZero() {
			return r, wants("prompt", "a text")
		}
		text, bad := j.Prompt.Text()
		r.Inputs = []string{text}
		return r, shape.Inside(bad, "prompt", -1)
	}
	if j.Input.IsZero() {
		return r, nil
	}
	elements, bad := list(j.Input)
	if bad != nil {
		return nil, bad
	}
	for i, e := range elements {
		text, bad := e.Text()
		if bad != nil {
			return nil, shape.Inside(bad, "input", i)
		}
		r.Inputs = append(r.Inputs, text)
	}
	return r, nil
}

func ollamaReply(body []byte) (out Reply, err error) {
	var j struct {
		Embeddings [][]float32    `json:"embeddings"`
		Prompt     shape.LooseInt `json:"prompt_eval_count"`
	}
	err = json.Unmarshal(body, &j)
	return Reply{Vectors: j.Embeddings, Tokens: int(j.Prompt)}, err
}

func (r *Request) ollama(reply Reply) []byte {
	if r.form == ollamaOne {
		return append(numbers([]byte(`{"embedding":`), reply.Vectors[0]), '}')
	}
	b := append([]byte(`{"model":`), shape.Quote(r.Model).Raw...)
	b = append(b, `,"embeddings":[`...)
	for i, v := range reply.Vectors {
		if i > 0 {
			b = append(b, ',')
		}
		b = numbers(b, v)
	}
	return fmt.Appendf(b, `],"total_duration":0,"load_duration":0,"prompt_eval_count":%d}`, reply.Tokens)
}
