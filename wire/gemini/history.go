package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// unsigned stands for the signature of a call that Gemini did not make.
// Source: Google, "Thought signatures", FAQ.
const unsigned = "skip_thought_signature_validator"

func (w *writing) messages() {
	ordered := history.Files(history.Order(w.in.Messages, nil, w.Lose), unsendable, w.Lose)
	if !leveled.MatchString(w.in.Model) {
		ordered = history.LiftBlobs(ordered, w.Lose) // a response with files is new in Gemini 3
	}
	for _, m := range ordered {
		w.Own(m.Path, m.Extra)
	}
	system, turns := history.Alternation{Drop: w.drop}.Turns(ordered, w.Lose)
	w.system(system)
	w.out.Contents = []shape.Value{}
	for _, m := range turns {
		role := "user"
		if m.Role == utp.RoleAssistant {
			role = "model"
		}
		out := contentJSON{Role: role, Parts: w.parts(m)}
		own, _ := codec.UnpackExtra(m.Extra, provider)
		w.out.Contents = append(w.out.Contents, shape.JSON(out, own))
	}
	w.names.Strays(w.Lose)
}

func (w *writing) system(system []history.Sent) {
	var out contentJSON
	for _, m := range system {
		out.Parts = append(out.Parts, w.parts(m)...)
	}
	if len(out.Parts) > 0 {
		w.out.System = shape.JSON(out, nil)
	}
}

// drop says why a part cannot be sent.
func (w *writing) drop(m utp.Message, p utp.Part) string {
	switch p := p.(type) {
	case utp.Think:
		switch {
		case p.Provider != provider:
			return "it is another provider's reasoning"
		case p.Model != "" && bare(p.Model) != bare(w.in.Model):
			return "it is another model's reasoning"
		}
	case utp.Unknown:
		if p.Provider != provider {
			return "only its own provider understands it"
		}
	case utp.Blob:
		return unsendable(p)
	}
	return ""
}

func unsendable(b utp.Blob) string {
	kind, _, _ := strings.Cut(b.MIME, "/")
	switch {
	case len(b.Data) == 0 && b.URL == "":
		return "it is empty"
	case b.URL != "", b.MIME == "application/pdf", slices.Contains([]string{"image", "audio", "video", "text"}, kind):
		return ""
	}
	return "Gemini does not take " + b.MIME
}

func (w *writing) parts(m history.Sent) (out []shape.Value) {
	first := m.Role == utp.RoleAssistant && leveled.MatchString(w.in.Model)
	if m.Role == utp.RoleAssistant {
		m = m.Joined()
	}
	for i, p := range m.Parts {
		v := w.part(m.At[i], p, &first)
		out = append(out, v)
	}
	return out
}

// part writes a part. bare is that the turn's first call is still to come, which
// must not be without a signature.
func (w *writing) part(path string, p utp.Part, bare *bool) shape.Value {
	switch p := p.(type) {
	case utp.Text:
		own := w.Own(path, p.Extra)
		return shape.JSON(partJSON{Text: &p.Text, Signature: own.Text(signature)}, own.Without(signature))
	case utp.Think:
		return shape.JSON(partJSON{Text: &p.Text, Thought: true, Signature: p.Signature}, w.Own(path, p.Extra))
	case utp.Call:
		own := w.Own(path, p.Extra)
		j := partJSON{Call: w.call(path, p), Signature: own.Text(signature)}
		if j.Signature == "" && *bare {
			j.Signature = unsigned
		}
		*bare = false
		return nested(j, own.Without(signature))
	case utp.Result:
		return nested(partJSON{Response: w.response(path, p)}, w.Own(path, p.Extra))
	case utp.Blob:
		w.Unlooked(path, p)
		return shape.JSON(file(p), w.Own(path, p.Extra))
	case utp.Unknown:
		return shape.Value{Raw: p.Raw}
	}
	return shape.JSON(partJSON{}, nil)
}

func (w *writing) id(id string) string {
	if w.Vertex {
		return ""
	}
	return id
}

func (w *writing) call(path string, c utp.Call) *callJSON {
	return &callJSON{ID: w.id(c.ID), Name: w.names.OutLed(c.Name), Args: w.Arguments(path+".arguments", c)}
}

// The keys of a response that is no object of its own.
type (
	resultOf struct {
		Result string `json:"result"`
	}
	errorOf struct {
		Error string `json:"error"`
	}
)

// response writes a result. A text that is a JSON object is the response itself.
func (w *writing) response(path string, r utp.Result) *responseJSON {
	out := &responseJSON{ID: w.id(r.CallID), Name: w.names.OutLed(r.Name)}
	text, failed := r.Text(), r.Status == utp.StatusFailed || r.Status == utp.StatusDenied
	fields, err := shape.Members(shape.Value{Raw: []byte(text)})
	switch {
	case failed && (err != nil || fields.Get("error") == nil):
		out.Response = shape.JSON(errorOf{text}, nil).Raw
	case err == nil && strings.TrimSpace(text) != "":
		out.Response = json.RawMessage(text)
	default:
		out.Response = shape.JSON(resultOf{text}, nil).Raw
	}
	for i, p := range r.Parts {
		at := codec.At(path+".parts", i)
		switch p := p.(type) {
		case utp.Text:
		case utp.Blob:
			if why := unsendable(p); why != "" {
				w.Lose(at, "dropped", why)
				continue
			}
			out.Parts = append(out.Parts, shape.JSON(file(p), nil))
		default:
			w.Lose(at, "dropped", "a response cannot hold it")
		}
	}
	return out
}
