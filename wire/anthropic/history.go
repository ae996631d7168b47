package anthropic

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

func (w *writing) messages() {
	ordered := history.Files(history.Order(w.in.Messages, codec.ShortIDs(maxID), w.Lose), unsendable, w.Lose)
	for _, m := range ordered {
		w.Own(m.Path, m.Extra)
	}
	system, turns := history.Alternation{
		Drop:    w.drop,
		Keep:    isInline,
		Ends:    func(p utp.Part) bool { _, think := p.(utp.Think); return !think },
		Prefill: w.traits.prefill && !w.think,
	}.Turns(ordered, w.Lose)
	w.system(system)
	w.out.Messages = []shape.Value{}
	for _, m := range turns {
		own, _ := codec.UnpackExtra(m.Extra, provider)
		out := messageJSON{Role: string(m.Role), Content: w.Content(m.At, m.Parts, w.block)}
		w.out.Messages = append(w.out.Messages, shape.JSON(out, own.Without(inline)))
	}
	w.names.Strays(w.Lose)
}

func isInline(m utp.Message) bool {
	own, _ := codec.UnpackExtra(m.Extra, provider)
	return own.Get(inline) != nil
}

// drop says why a part cannot be sent.
func (w *writing) drop(m utp.Message, p utp.Part) string {
	switch p := p.(type) {
	case utp.Think:
		switch {
		case p.Provider != provider || p.Signature == "":
			return "it is reasoning that Anthropic did not sign"
		case p.Model != "" && codec.Family(p.Model) != codec.Family(w.in.Model):
			return "another model signed it"
		}
	case utp.Unknown:
		if p.Provider != provider {
			return "only its own provider understands it"
		}
	case utp.Blob:
		if m.Role != utp.RoleUser {
			return "a file must be in a message of the user"
		}
		return unsendable(p)
	}
	return ""
}

var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

func unsendable(b utp.Blob) string {
	switch {
	case len(b.Data) == 0 && b.URL == "":
		return "it is empty"
	case slices.Contains(imageTypes, b.MIME), b.MIME == "application/pdf", strings.HasPrefix(b.MIME, "text/") && len(b.Data) > 0:
		return ""
	case b.MIME == "" && b.URL != "":
		return ""
	}
	return "Anthropic does not take " + b.MIME
}

func (w *writing) system(system []history.Sent) {
	var parts []utp.Part
	var at []string
	for _, m := range system {
		parts, at = append(parts, m.Parts...), append(at, m.At...)
	}
	for _, ask := range w.asks {
		parts, at = append(parts, utp.Text{Text: ask}), append(at, "")
	}
	if len(parts) > 0 {
		w.out.System = w.Content(at, parts, w.block)
	}
}

func (w *writing) block(path string, p utp.Part) shape.Value {
	switch p := p.(type) {
	case utp.Text:
		return shape.JSON(textBlock{Type: "text", Text: p.Text}, w.Own(path, p.Extra))
	case utp.Think:
		if p.Redacted {
			return shape.JSON(redactedBlock{Type: "redacted_thinking", Data: p.Signature}, w.Own(path, p.Extra))
		}
		return shape.JSON(thinkingBlock{Type: "thinking", Thinking: p.Text, Signature: p.Signature}, w.Own(path, p.Extra))
	case utp.Call:
		args := w.Arguments(path+".arguments", p)
		return shape.JSON(toolUseBlock{Type: "tool_use", ID: p.ID, Name: w.names.Out(p.Name), Input: args}, w.Own(path, p.Extra))
	case utp.Result:
		return w.result(path, p)
	case utp.Blob:
		j := file(p)
		if p.Name != "" && j.Title == "" {
			w.Lose(path+".name", "dropped", "an image has none")
		}
		w.Unlooked(path, p)
		if j.Source.Type == "text" && p.MIME != plain {
			w.Lose(path+".mime", "sent as "+plain, "Anthropic knows no other texts")
		}
		return shape.JSON(j, w.Own(path, p.Extra))
	case utp.Unknown:
		return shape.Value{Raw: p.Raw}
	}
	return shape.Value{}
}

func (w *writing) result(path string, r utp.Result) shape.Value {
	out := resultBlock{Type: "tool_result", CallID: r.CallID, IsError: r.Status == utp.StatusFailed || r.Status == utp.StatusDenied}
	said := slices.DeleteFunc(slices.Clone(r.Parts), func(p utp.Part) bool {
		t, ok := p.(utp.Text)
		return ok && t.Text == "" && len(t.Extra) == 0
	})
	parts, at := w.Sendable(codec.Places(path, len(said)), said, func(p utp.Part) string {
		switch p.(type) {
		case utp.Text, utp.Blob, utp.Unknown:
			return w.drop(utp.Message{Role: utp.RoleUser}, p)
		}
		return "a result cannot hold it"
	})
	if len(parts) > 0 {
		out.Content = w.Content(at, parts, w.block)
	}
	return shape.JSON(out, w.Own(path, r.Extra))
}

const plain = "text/plain"

// file is an image, or for any other type a document.
func file(b utp.Blob) fileBlock {
	out := fileBlock{Type: "image"}
	switch {
	case b.URL != "":
		out.Source = sourceJSON{Type: "url", URL: b.URL}
	case strings.HasPrefix(b.MIME, "text/"):
		out.Source = sourceJSON{Type: "text", Media: plain, Data: string(b.Data)}
	default:
		out.Source = sourceJSON{Type: "base64", Media: b.MIME, Data: base64.StdEncoding.EncodeToString(b.Data)}
	}
	if b.MIME != "" && !strings.HasPrefix(b.MIME, "image/") {
		out.Type, out.Title = "document", b.Name
	}
	return out
}
