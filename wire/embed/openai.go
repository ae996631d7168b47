package embed

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

type openaiRequest struct {
	Model      string         `json:"model"`
	Input      shape.Value    `json:"input"`
	Encoding   string         `json:"encoding_format,omitempty"`
	Dimensions shape.LooseInt `json:"dimensions,omitempty"`
	User       shape.Value    `json:"user,omitempty"`
}

var ofOpenAI = shape.Of[openaiRequest]()

func readOpenAI(v shape.Value) (*Request, *shape.Error) {
	j, bad := ofOpenAI.Read(v)
	if bad != nil {
		return nil, bad
	}
	r := &Request{Model: j.Model, Dimensions: int(j.Dimensions), own: given(named{"user", j.User})}
	switch j.Encoding {
	case "", "float":
	case "base64":
		r.form = openaiBase64
	default:
		return nil, wants("encoding_format", "float or base64")
	}
	elements, bad := list(j.Input)
	if bad != nil {
		return nil, bad
	}
	for i, e := range elements {
		if k := e.Kind(); k == '[' || k >= '0' && k <= '9' {
			bad = wants("", "text: the server behind takes no tokens")
		}
		var text string
		if bad == nil {
			text, bad = e.Text()
		}
		if bad != nil {
			return nil, shape.Inside(bad, "input", i)
		}
		r.Inputs = append(r.Inputs, text)
	}
	return r, nil
}

func openaiReply(body []byte) (out Reply, err error) {
	var j struct {
		Data []struct {
			Index     shape.LooseInt  `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Usage shape.Lax[struct {
			Prompt shape.LooseInt `json:"prompt_tokens"`
		}] `json:"usage"`
	}
	if err := json.Unmarshal(body, &j); err != nil {
		return out, err
	}
	out.Vectors, out.Tokens = make([][]float32, len(j.Data)), int(j.Usage.Is.Prompt)
	ordered := inOrder(len(j.Data), func(i int) int { return int(j.Data[i].Index) })
	for i, d := range j.Data {
		at := i
		if ordered {
			at = int(d.Index)
		}
		if out.Vectors[at], err = floats(d.Embedding); err != nil {
			return out, err
		}
	}
	return out, nil
}

// inOrder reports whether the indexes of a list are those of its places. Servers
// that number nothing write 0 everywhere.
func inOrder(n int, index func(i int) int) bool {
	seen := make([]bool, n)
	for i := range n {
		at := index(i)
		if at < 0 || at >= n || seen[at] {
			return false
		}
		seen[at] = true
	}
	return true
}

// floats reads a vector: a list of numbers, or base64 of them as 4 bytes each.
func floats(raw json.RawMessage) (out []float32, err error) {
	if len(raw) == 0 || raw[0] != '"' {
		return out, json.Unmarshal(raw, &out)
	}
	var b []byte
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, err
	}
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("a vector of %d bytes", len(b))
	}
	for ; len(b) > 0; b = b[4:] {
		f := math.Float32frombits(binary.LittleEndian.Uint32(b))
		if f != f || math.IsInf(float64(f), 0) {
			return nil, fmt.Errorf("a vector with %v in it", f)
		}
		out = append(out, f)
	}
	return out, nil
}

// numbers writes a vector.
func numbers(b []byte, v []float32) []byte {
	b = append(b, '[')
	for i, f := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(f), 'g', -1, 32)
	}
	return append(b, ']')
}

func packed(b []byte, v []float32) []byte {
	raw := make([]byte, 0, 4*len(v))
	for _, f := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
	}
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, raw)
	return append(b, '"')
}

func (r *Request) openai(reply Reply) []byte {
	b := []byte(`{"object":"list","data":[`)
	for i, v := range reply.Vectors {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"object":"embedding","index":%d,"embedding":`, i)
		if r.form == openaiBase64 {
			b = packed(b, v)
		} else {
			b = numbers(b, v)
		}
		b = append(b, '}')
	}
	b = append(append(b, `],"model":`...), shape.Quote(r.Model).Raw...)
	return fmt.Appendf(b, `,"usage":{"prompt_tokens":%d,"total_tokens":%[1]d}}`, reply.Tokens)
}
