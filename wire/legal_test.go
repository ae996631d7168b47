package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// legalAnthropic is the state machine of Anthropic's streams: message_start,
// blocks one after another with dense indexes and deltas of their own kind,
// message_delta, message_stop. Source: API reference, "Streaming".
func legalAnthropic(frames []wire.Frame) string {
	deltas := map[string]string{"text": "text_delta", "tool_use": "input_json_delta", "thinking": "thinking_delta signature_delta"}
	state, open, next, input := "begin", "", 0, ""
	for i, f := range frames {
		var e struct {
			Type  string
			Index int
			Block struct{ Type, ID, Name string } `json:"content_block"`
			Delta struct {
				Type string
				JSON string `json:"partial_json"`
			}
			Message struct{ ID, Type, Role, Model string }
		}
		if err := json.Unmarshal(f.Data, &e); err != nil {
			return err.Error()
		}
		bad := func(s string) string { return fmt.Sprintf("frame %d (%s): %s", i, e.Type, s) }
		switch {
		case f.Event != e.Type:
			return bad("the event is named " + f.Event)
		case state == "done":
			return bad("comes after the end")
		case (state == "begin") != (e.Type == "message_start"):
			return bad("message_start comes first and once")
		}
		switch e.Type {
		case "message_start":
			state = "message"
			if e.Message.Type != "message" || e.Message.Role != "assistant" || e.Message.ID == "" {
				return bad("a message without type, role or id")
			}
		case "content_block_start":
			if open != "" || e.Index != next || state != "message" {
				return bad(fmt.Sprintf("index %d while %q is open and %d is next", e.Index, open, next))
			}
			open, input = e.Block.Type, ""
			if open == "tool_use" && (e.Block.ID == "" || e.Block.Name == "") {
				return bad("a call without id or name")
			}
		case "content_block_delta":
			if open == "" || e.Index != next || !containsWord(deltas[open], e.Delta.Type) {
				return bad(e.Delta.Type + " in a block of type " + open)
			}
			input += e.Delta.JSON
		case "content_block_stop":
			if open == "" || e.Index != next {
				return bad("closes what is not open")
			}
			if open == "tool_use" && !shape.IsObject([]byte(input)) {
				return bad("arguments " + input)
			}
			open = ""
			next++
		case "message_delta":
			if open != "" || state != "message" {
				return bad("comes while a block is open")
			}
			state = "ending"
		case "message_stop":
			if state != "ending" {
				return bad("comes before message_delta")
			}
			state = "done"
		default:
			return bad("unknown")
		}
	}
	if state != "done" {
		return "no message_stop"
	}
	return ""
}

func containsWord(words, w string) bool {
	for _, x := range strings.Fields(words) {
		if x == w {
			return true
		}
	}
	return false
}

// legalResponses is the state machine of the Responses API's streams: numbered
// events, items with dense places that are added, written and done, the same
// items in the response that completes. Source: API reference, "Streaming events".
func legalResponses(frames []wire.Frame) string {
	type item struct{ ID, Type, Name, Arguments, Status string }
	var open *item
	var done []string
	var written string
	for i, f := range frames {
		var e struct {
			Type     string
			Number   int    `json:"sequence_number"`
			Index    int    `json:"output_index"`
			ItemID   string `json:"item_id"`
			Item     json.RawMessage
			Delta    string
			Text     string
			Args     string `json:"arguments"`
			Response struct {
				ID, Object, Status string
				Output             []json.RawMessage
			}
		}
		if err := json.Unmarshal(f.Data, &e); err != nil {
			return err.Error()
		}
		bad := func(s string) string { return fmt.Sprintf("frame %d (%s): %s", i, e.Type, s) }
		if f.Event != e.Type || e.Number != i {
			return bad(fmt.Sprintf("event %q, number %d", f.Event, e.Number))
		}
		want := map[int]string{0: "response.created", 1: "response.in_progress"}[i]
		if want != "" && e.Type != want {
			return bad("want " + want)
		}
		switch kind := strings.TrimPrefix(e.Type, "response."); {
		case want != "":
			if e.Response.ID == "" || e.Response.Object != "response" || e.Response.Status != "in_progress" {
				return bad("not a response that begins")
			}
		case kind == "output_item.added":
			if open != nil || e.Index != len(done) {
				return bad("out of place")
			}
			open, written = new(item), ""
			if err := json.Unmarshal(e.Item, open); err != nil || open.ID == "" || open.Arguments != "" {
				return bad("item " + string(e.Item))
			}
		case kind == "output_item.done":
			var it item
			if err := json.Unmarshal(e.Item, &it); err != nil || open == nil || it.ID != open.ID || it.Type != open.Type || e.Index != len(done) {
				return bad("done, but not the item that was added")
			}
			if it.Type == "function_call" && (it.Arguments != written || !shape.IsObject([]byte(written))) {
				return bad("arguments " + it.Arguments + ", written " + written)
			}
			if it.Type != "reasoning" && it.Status != "completed" && it.Status != "incomplete" {
				return bad("status " + it.Status)
			}
			open, done = nil, append(done, string(e.Item))
		case kind == "completed", kind == "incomplete":
			if open != nil || i != len(frames)-1 || e.Response.Status != kind || len(e.Response.Output) != len(done) {
				return bad("not a complete response")
			}
			for k, it := range e.Response.Output {
				if string(it) != done[k] {
					return bad("output " + string(it) + ", streamed " + done[k])
				}
			}
			return ""
		default:
			if open == nil || e.ItemID != open.ID || e.Index != len(done) {
				return bad("belongs to no open item")
			}
			if strings.HasSuffix(kind, ".delta") {
				written += e.Delta
			}
			if strings.HasSuffix(kind, "text.done") && e.Text != written || strings.HasSuffix(kind, "arguments.done") && e.Args != written {
				return bad("not what the deltas were: " + written)
			}
		}
	}
	return "no response.completed"
}

// legalGemini wants each frame to be a reply of one candidate with new parts of
// exactly one form, calls whole, and the end with its counts in the last.
// Source: Gemini API reference, "Generate content".
// illegalPart says what is wrong with a part of Gemini's: it has one form, a text,
// a call, or one that we do not know.
func illegalPart(raw json.RawMessage) string {
	var p struct {
		Text *string
		Call *struct {
			ID, Name string
			Args     json.RawMessage
		} `json:"functionCall"`
		Signature []byte `json:"thoughtSignature"`
	}
	fields := map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(raw, &p), json.Unmarshal(raw, &fields)); err != nil {
		return err.Error()
	}
	delete(fields, "thought")
	delete(fields, "thoughtSignature")
	switch {
	case len(fields) == 0 || p.Text != nil && p.Call != nil:
		return "a part of no or several forms"
	case p.Call != nil && (p.Call.Name == "" || !shape.IsObject(p.Call.Args)):
		return "a call without a name or arguments"
	}
	return ""
}

func legalGemini(frames []wire.Frame) string {
	for i, f := range frames {
		var e struct {
			Candidates []struct {
				Content struct {
					Role  string
					Parts []json.RawMessage
				}
				FinishReason string
			}
			Usage *struct{ TotalTokenCount int } `json:"usageMetadata"`
		}
		if err := json.Unmarshal(f.Data, &e); err != nil {
			return err.Error()
		}
		last := i == len(frames)-1
		if f.Event != "" || len(e.Candidates) != 1 || e.Candidates[0].Content.Role != "model" {
			return fmt.Sprintf("frame %d: %s", i, f.Data)
		}
		if c := e.Candidates[0]; (c.FinishReason != "") != last || (e.Usage != nil) != last {
			return fmt.Sprintf("frame %d: the end is not at the end", i)
		}
		for _, p := range e.Candidates[0].Content.Parts {
			if wrong := illegalPart(p); wrong != "" {
				return fmt.Sprintf("frame %d: %s: %s", i, wrong, f.Data)
			}
		}
	}
	if len(frames) == 0 {
		return "nothing"
	}
	return ""
}
