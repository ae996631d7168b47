package responses

import (
	"cmp"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

func (w *writing) messages() {
	front := true
	ordered := history.Order(w.in.Messages, codec.ShortIDs(maxID), w.Lose)
	for i, m := range ordered {
		own := w.Own(m.Path, m.Extra)
		front = front && m.Role == utp.RoleSystem
		switch {
		case front && len(own) == 0:
			w.out.Instructions = strings.TrimPrefix(w.out.Instructions+"\n\n"+m.Text(), "\n\n")
			left, places := w.Sendable(m.At, m.Parts, notText)
			for k, p := range left {
				w.Own(places[k], p.(utp.Text).Extra)
			}
		case m.Role == utp.RoleAssistant:
			if i > 0 && ordered[i-1].Role == utp.RoleAssistant {
				w.Lose(m.Path, "merged with the message before", "the items of a turn are not told apart")
			}
			w.assistant(m)
		case m.Role == utp.RoleTool:
			for k, r := range m.Results() {
				w.result(m.At[k], r)
			}
		default:
			w.said(m, own)
		}
	}
	w.names.Strays(w.Lose)
	w.out.Input = shape.List(w.items)
}

func notText(p utp.Part) string {
	if _, ok := p.(utp.Text); !ok {
		return "instructions are a text"
	}
	return ""
}

func (w *writing) add(v any, rest shape.Fields) { w.items = append(w.items, shape.JSON(v, rest)) }

// said writes a message of the user or the system.
func (w *writing) said(m history.Sent, own shape.Fields) {
	var parts []utp.Part
	var at []string
	left, places := w.Sendable(m.At, m.Parts, unsendable)
	for i, p := range left {
		if u, ok := p.(utp.Unknown); ok && !isInput(u) {
			w.items = append(w.items, shape.Value{Raw: u.Raw})
			continue
		}
		parts, at = append(parts, p), append(at, places[i])
	}
	if len(parts) == 0 {
		if len(m.Parts) == 0 && m.Role == utp.RoleUser {
			w.Lose(m.Path, "dropped", "it says nothing")
		}
		return
	}
	role := cmp.Or(own.Text(asRole), string(m.Role))
	w.add(messageItem{Type: "message", Role: role, Content: w.Content(at, parts, w.part)}, own.Without(asRole))
}

// isInput reports a part of a message, not an item of its own.
func isInput(u utp.Unknown) bool {
	kind, _ := shape.Value{Raw: u.Raw}.TextAt("type")
	return strings.HasPrefix(kind, "input_")
}

func unsendable(p utp.Part) string {
	switch p := p.(type) {
	case utp.Text:
		return ""
	case utp.Blob:
		if len(p.Data) > 0 || p.URL != "" {
			return ""
		}
		return "it is empty"
	case utp.Unknown:
		if p.Provider == provider {
			return ""
		}
		return "only " + p.Provider + " understands it"
	}
	return "this part has no place in such a message"
}

// part writes a part of a message or a result.
func (w *writing) part(path string, p utp.Part) shape.Value {
	switch p := p.(type) {
	case utp.Text:
		return shape.JSON(textPart{Type: "input_text", Text: p.Text}, w.Own(path, p.Extra))
	case utp.Blob:
		j := file(p)
		if p.Name != "" && j.FileName == "" {
			w.Lose(path+".name", "dropped", "an image has none")
		}
		return shape.JSON(j, w.Own(path, p.Extra))
	case utp.Unknown:
		return shape.Value{Raw: p.Raw}
	}
	return shape.Value{}
}

// file is an input_image or an input_file.
func file(b utp.Blob) contentPart {
	url := codec.FileURL(b)
	switch {
	case strings.HasPrefix(b.MIME, "image/"), b.MIME == "" && b.URL != "":
		return contentPart{Type: "input_image", ImageURL: url, Detail: b.Detail}
	case b.URL != "":
		return contentPart{Type: "input_file", FileURL: url, FileName: b.Name}
	}
	return contentPart{Type: "input_file", FileData: url, FileName: cmp.Or(b.Name, "file")} // the API wants one beside data
}

// assistant writes each part as an item of its own, texts of one item together.
func (w *writing) assistant(m history.Sent) {
	items, losses := len(w.items), len(w.Losses)
	for i := 0; i < len(m.Parts); i++ {
		at := m.At[i]
		switch p := m.Parts[i].(type) {
		case utp.Text:
			w.answer(at, p)
		case utp.Think:
			w.thought(at, p)
		case utp.Call:
			w.call(at, p)
		case utp.Unknown:
			if p.Provider == provider {
				w.items = append(w.items, shape.Value{Raw: p.Raw})
				continue
			}
			w.Lose(at, "dropped", "only "+p.Provider+" understands it")
		default:
			w.Lose(at, "dropped", "an assistant's message cannot hold it")
		}
	}
	if len(w.items) == items && len(w.Losses) == losses {
		w.Lose(m.Path, "dropped", "it says nothing")
	}
}

// answer writes a text of the assistant. Of its Extra, what belongs to the
// message stands there, what belongs to the text in its part.
func (w *writing) answer(path string, t utp.Text) {
	own := w.Own(path, t.Extra)
	if t.Text == "" && len(own) == 0 {
		return
	}
	part := textPart{Type: "output_text", Text: t.Text}
	item := messageItem{Type: "message", Role: "assistant", ID: own.Text("id"), Status: own.Text("status")}
	if refused := own.Get("refusal"); refused != nil {
		item.Content = shape.JSON([]contentPart{{Type: "refusal", Refusal: t.Text}}, nil)
	} else {
		item.Content = shape.List([]shape.Value{shape.JSON(part, own.Without("id", "status", "phase", "refusal"))})
	}
	w.add(item, shape.Fields(nil).With("phase", shape.Value{Raw: own.Get("phase")}))
}

func (w *writing) thought(path string, t utp.Think) {
	own, _ := codec.UnpackExtra(t.Extra, provider)
	open := own.Get(inContent) != nil
	switch {
	case t.Provider != provider || t.Signature == "" && !open:
		w.Lose(path, "dropped", "it is reasoning that this API did not encrypt")
		return
	case t.Model != "" && codec.Family(t.Model) != codec.Family(w.in.Model):
		w.Lose(path, "dropped", "it is another model's reasoning")
		return
	}
	item := reasoningItem{ID: t.ItemID, Type: "reasoning", Summary: []summaryPart{}, Encrypted: t.Signature}
	switch {
	case t.Text == "":
	case open:
		item.Content = []summaryPart{{"reasoning_text", t.Text}}
	default:
		item.Summary = []summaryPart{{"summary_text", t.Text}}
	}
	w.add(item, own.Without(inContent))
}

func (w *writing) call(path string, c utp.Call) {
	own := w.Own(path, c.Extra)
	item := callItem{Type: "function_call", ID: own.Text("id"), Status: own.Text("status"), CallID: c.ID, Name: w.names.Out(c.Name)}
	if m, inside := w.members[c.Name]; inside {
		item.Namespace, item.Name = m.namespace, m.name
	}
	if c.Kind == utp.CustomCall {
		item.Type, item.Input = "custom_tool_call", &c.RawArgs
		w.custom[c.ID] = true
	} else {
		s := string(w.Arguments(path+".arguments", c))
		item.Arguments = &s
	}
	w.add(item, own.Without("id", "status", "namespace"))
}

// result writes an output: one plain text as a text, all else as parts. There is
// no mark for a failure but words.
func (w *writing) result(path string, r utp.Result) {
	item := outputItem{Type: "function_call_output", CallID: r.CallID}
	if w.custom[r.CallID] {
		item.Type = "custom_tool_call_output"
	}
	parts, at := w.Sendable(codec.Places(path, len(r.Parts)), r.Parts, unsendable)
	r.Parts = parts
	parts, at = history.Marked(r, at)
	item.Output = w.Content(at, parts, w.part)
	w.add(item, w.Own(path, r.Extra))
}
