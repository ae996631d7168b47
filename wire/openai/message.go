package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

func (w *writing) messages() {
	ids := codec.ShortIDs(maxID)
	switch w.back.Server {
	case Any:
		ids = codec.OwnIDs(maxID)
	case Mistral:
		ids = codec.FixedIDs(9)
	}
	ordered := history.Files(history.Order(w.in.Messages, ids, w.Lose), w.refuses, w.Lose)
	if w.back.Server == Any && counts(w.in.Model) {
		ordered = history.Numbered(ordered, w.names.Counted)
	}
	ordered = history.LiftBlobs(ordered, w.Lose)
	w.out.Messages = make([]shape.Value, 0, len(ordered))
	for _, m := range ordered {
		w.message(m)
	}
	w.names.Strays(w.Lose)
}

// counts reports whether the model's dialect has ids that count its calls, as
// functions.{name}:{n}: it takes ids for what its template wrote.
func counts(model string) bool {
	return slices.ContainsFunc(grammar.All(), func(g *grammar.Grammar) bool {
		return strings.Contains(g.ID, "{n}") && grammar.Fits(g.Models, model)
	})
}

func (w *writing) add(m messageJSON, rest shape.Fields) {
	w.out.Messages = append(w.out.Messages, shape.Value{Raw: ofMessage.Write(m, rest)})
}

func (w *writing) message(m history.Sent) {
	own := w.Own(m.Path, m.Extra)
	switch m.Role {
	case utp.RoleTool:
		for i, r := range m.Results() {
			w.add(messageJSON{Role: "tool", CallID: r.CallID, Content: w.result(m.At[i], r)}, append(w.Own(m.At[i], r.Extra), own...))
		}
		return
	case utp.RoleAssistant:
		w.add(w.assistant(m), own)
		return
	}
	out := messageJSON{Role: string(m.Role), Content: w.content(m.At, m.Message)}
	switch role := own.Text(asRole); {
	case role == "":
	case w.back.Server == OpenAI:
		out.Role = role
	default:
		w.Lose(m.Path+".role", "sent as system", "only OpenAI knows a "+role)
	}
	w.add(out, own.Without(asRole))
}

// result writes a text, or texts if there is more to them.
func (w *writing) result(path string, r utp.Result) shape.Value {
	if codec.Plain(r.Parts) {
		return shape.Quote(history.ResultText(r))
	}
	at := codec.Places(path, len(r.Parts))
	for _, p := range r.Parts {
		t, _ := p.(utp.Text)
		if own, _ := codec.UnpackExtra(t.Extra, provider); len(own) > 0 {
			parts, at := history.Marked(r, at)
			return w.content(at, utp.Message{Parts: parts})
		}
	}
	w.PlainResult(at, r)
	return shape.Quote(history.ResultText(r))
}

// assistant has a null content beside calls when there is no text: servers'
// templates ask for the key.
func (w *writing) assistant(m history.Sent) messageJSON {
	out := messageJSON{Role: "assistant"}
	for i, p := range m.Parts {
		if c, ok := p.(utp.Call); ok {
			out.ToolCalls = append(out.ToolCalls, w.call(m.At[i], c))
		}
	}
	if out.Content = w.content(m.At, m.Message); len(out.ToolCalls) > 0 && m.Text() == "" {
		out.Content = shape.Value{}
	}
	w.reasoning(m, &out)
	return out
}

func (w *writing) call(path string, c utp.Call) shape.Value {
	own, _ := codec.UnpackExtra(c.Extra, provider)
	if own.Get("extra_content") != nil { // what Gemini wants is in it
		_, rest := codec.ThoughtSignature(c.Extra)
		c.Extra = rest.Raw()
	}
	w.Own(path, c.Extra)
	if c.Kind == utp.CustomCall && w.back.Server == OpenAI {
		return shape.Value{Raw: ofCall.Write(callJSON{ID: c.ID, Type: "custom", Custom: &customCall{w.names.Out(c.Name), c.RawArgs}}, own)}
	}
	f := &functionCall{w.names.Out(c.Name), shape.Quote(string(w.Arguments(path+".arguments", c)))}
	return shape.Value{Raw: ofCall.Write(callJSON{ID: c.ID, Type: "function", Function: f}, own)}
}

func (w *writing) reasoning(m history.Sent, out *messageJSON) {
	var words [2]string
	for i, p := range m.Parts {
		t, ok := p.(utp.Think)
		if !ok || t.Text == "" && t.Signature == "" {
			continue
		}
		own, _ := codec.UnpackExtra(t.Extra, provider)
		switch field := own.Text(asField); {
		case field == "reasoning_content" && len(out.ToolCalls) > 0:
			words[0] += t.Text
		case field == "reasoning" && len(out.ToolCalls) > 0:
			words[1] += t.Text
		default:
			w.Lose(m.At[i], "dropped", "reasoning goes back only where the server asks for it")
		}
	}
	for i, to := range []*shape.Value{&out.ReasoningContent, &out.Reasoning} {
		if words[i] != "" {
			*to = shape.Quote(words[i])
		}
	}
}

// content writes texts alone as one text, for servers whose templates want one,
// all else as parts.
func (w *writing) content(places []string, m utp.Message) shape.Value {
	if codec.Plain(m.Parts) && (w.back.Server != OpenAI || len(m.Parts) < 2) {
		return shape.Quote(m.Text())
	}
	parts := []shape.Value{}
	plain := true
	for i, p := range m.Parts {
		at := places[i]
		switch p := p.(type) {
		case utp.Text:
			own := w.Own(at, p.Extra)
			plain = plain && len(own) == 0
			parts = append(parts, text(p, own))
		case utp.Blob:
			if m.Role == utp.RoleAssistant {
				w.Lose(at, "dropped", "an assistant's message cannot hold it")
				continue
			}
			plain, parts = false, append(parts, w.blob(at, p))
		case utp.Unknown:
			if p.Provider != provider {
				w.Lose(at, "dropped", "only "+p.Provider+" understands it")
				continue
			}
			plain, parts = false, append(parts, shape.Value{Raw: p.Raw})
		}
	}
	if plain && (w.back.Server != OpenAI || len(parts) < 2) {
		return shape.Quote(m.Text())
	}
	return shape.List(parts)
}

func text(t utp.Text, own shape.Fields) shape.Value {
	p := partJSON{Type: "text", Text: t.Text}
	if own.Get(refusal) != nil {
		p = partJSON{Type: "refusal", Refusal: t.Text}
	}
	return shape.Value{Raw: ofPart.Write(p, own.Without(refusal))}
}

// sounds are the formats of input_audio. Source: OpenAI API reference.
var sounds = map[string]string{"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}

// refuses says why a file cannot be sent, or "".
func (w *writing) refuses(b utp.Blob) string {
	switch {
	case b.URL == "" && len(b.Data) == 0:
		return "it is empty"
	case w.isFile(b), isImage(b), sounds[b.MIME] != "" && b.URL == "":
		return ""
	}
	return "only images can be sent, not " + b.MIME
}

func isImage(b utp.Blob) bool {
	return strings.HasPrefix(b.MIME, "image/") || b.MIME == "" && b.URL != ""
}

// isFile reports what goes out as a file: where its client sent it so, and to
// OpenAI, which takes PDFs.
func (w *writing) isFile(b utp.Blob) bool {
	own, _ := codec.UnpackExtra(b.Extra, provider)
	return b.URL == "" && (own.Get(asFile) != nil || w.back.Server == OpenAI && b.MIME == "application/pdf")
}

// blob writes an image, a sound or a file.
func (w *writing) blob(path string, b utp.Blob) shape.Value {
	own, url := w.Own(path, b.Extra), codec.FileURL(b)
	p := partJSON{}
	switch {
	case w.isFile(b):
		p.Type, p.File = "file", &fileJSON{Name: cmp.Or(b.Name, "file"), Data: url} // the API wants a name
	case isImage(b):
		rest, _ := shape.Members(shape.Value{Raw: own.Get("image_url")})
		p.Type, p.Image = "image_url", shape.Value{Raw: ofImage.Write(imageJSON{URL: url, Detail: b.Detail}, rest)}
	default:
		p.Type, p.Audio = "input_audio", &audioJSON{url[strings.Index(url, ",")+1:], sounds[b.MIME]}
	}
	if b.Name != "" && p.File == nil {
		w.Lose(path+".name", "dropped", "only a file has one")
	}
	return shape.Value{Raw: ofPart.Write(p, own.Without("image_url", asFile))}
}
