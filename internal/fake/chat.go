package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds a request's body.
const maxBody = 64 << 20

// chat plays the next turn for a request, or refuses it as the real server does.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	v := s.voice(r.URL.Path)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		(&refusal{status: http.StatusBadRequest, message: err.Error()}).write(w, v)
		return
	}
	in, no := readChat(v, body)
	if no == nil {
		no = s.refuses(v, in)
	}
	if no != nil {
		s.note(r.URL.Path, body, no.message)
		no.write(w, v)
		return
	}
	if v == ollamaVoice || v == ollamaV1Voice {
		reason := s.keep(r, in)
		if in.empty() {
			s.note(r.URL.Path, body, reason)
			writeJSON(w, http.StatusOK, in.loadReply(r.URL.Path, reason))
			return
		}
	}
	t, number, failed := s.turn(r.URL.Path, v, body, in)
	if failed != "" {
		(&refusal{status: http.StatusBadRequest, message: "the mock script says: " + failed}).write(w, v)
		return
	}
	(&player{script: s.script, turn: t.drawn(number), voice: v, path: r.URL.Path, in: in, w: w, number: number}).play()
}

// note records a request that plays no turn.
func (s *Server) note(path string, body []byte, note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(Request{Path: path, Body: compact(body), Note: note})
}

// turn takes the next turn, checks the request against it, and records both.
func (s *Server) turn(path string, v voice, body []byte, in *chatRequest) (t *turn, number int, failed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := Request{Path: path, Body: compact(body)}
	for i, t := range s.script.anytime {
		if s.script.check(t, v, body, in) == "" {
			rec.Turn = len(s.script.turns) + i + 1
			s.record(rec)
			return t, len(s.requests), ""
		}
	}
	if s.next < len(s.script.turns) {
		t = s.script.turns[s.next]
		rec.Turn = s.next + 1
		if !t.repeat {
			s.next++
		}
		rec.Failed = s.script.check(t, v, body, in)
	} else {
		rec.Failed = fmt.Sprintf("%s: a request came after the last of %d turns", s.script.name, len(s.script.turns))
	}
	s.record(rec)
	return t, len(s.requests), rec.Failed
}

// compact makes one line of a body.
func compact(body []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, body) == nil {
		return b.Bytes()
	}
	text, err := json.Marshal(string(body))
	if err != nil {
		return nil
	}
	return text
}

// chatRequest is what a script can ask about, and what a server looks at before
// it takes a request, in both APIs.
type chatRequest struct {
	Model    string          `json:"model"`
	Stream   *bool           `json:"stream"`
	Messages []message       `json:"messages"`
	Prompt   json.RawMessage `json:"prompt"` // of /api/generate
	Tools    []offeredTool   `json:"tools"`

	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Think    json.RawMessage            `json:"think"`
	Effort   string                     `json:"reasoning_effort"`
	Options  map[string]json.RawMessage `json:"options"`
	Format   json.RawMessage            `json:"format"`
	Truncate *bool                      `json:"truncate"`
	Keep     json.RawMessage            `json:"keep_alive"`

	fields map[string]json.RawMessage
	model  model // what the server has under that name
	tokens int   // of messages and tools
	window int   // what the model is loaded with, in Ollama
}

type offeredTool struct {
	Function offeredName `json:"function"`
}

type offeredName struct {
	Name string `json:"name"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// readChat reads a request, or says why it cannot.
func readChat(v voice, body []byte) (*chatRequest, *refusal) {
	if len(body) == 0 && v == ollamaVoice {
		return nil, &refusal{status: http.StatusBadRequest, message: "missing request body"}
	}
	in := new(chatRequest)
	if err := json.Unmarshal(body, in); err != nil {
		return nil, &refusal{status: http.StatusBadRequest, message: err.Error()}
	}
	if err := json.Unmarshal(body, &in.fields); err != nil {
		return nil, &refusal{status: http.StatusBadRequest, message: err.Error()}
	}
	return in, nil
}

// empty reports whether a request to Ollama has nothing to answer.
func (in *chatRequest) empty() bool {
	return len(in.Messages) == 0 && (len(in.Prompt) == 0 || string(in.Prompt) == `""`)
}

// streams reports whether a stream is asked for: Ollama streams by default.
func (in *chatRequest) streams(v voice) bool {
	if in.Stream == nil {
		return v == ollamaVoice
	}
	return *in.Stream
}

func (in *chatRequest) tools() (names []string) {
	for _, t := range in.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

// images reports whether a message has one.
func (in *chatRequest) images() bool {
	for _, m := range in.Messages {
		var parts []struct{ Type string }
		if json.Unmarshal(m.Content, &parts) != nil {
			continue
		}
		for _, p := range parts {
			if p.Type == "image_url" {
				return true
			}
		}
	}
	return false
}

// count guesses the tokens of a prompt by the bytes of its strings.
func (s *Script) count(in *chatRequest) int {
	n := 0
	for _, field := range []string{"messages", "tools", "prompt"} {
		n += len(stringsIn(in.fields[field]))
	}
	return (n + s.token - 1) / s.token
}

// check gives the first line of the turn that the request breaks.
func (s *Script) check(t *turn, v voice, body []byte, in *chatRequest) string {
	texts := stringsIn(body)
	for _, w := range t.wants {
		if wrong := w.broken(v, in, texts); wrong != "" {
			return fmt.Sprintf("%s:%d: %s: %s", s.name, w.line, w.text, wrong)
		}
	}
	return ""
}

// stringsIn joins the strings of a JSON document, keys aside.
func stringsIn(body []byte) string {
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(body))
	for {
		t, err := dec.Token()
		if err != nil {
			return b.String()
		}
		if s, ok := t.(string); ok {
			b.WriteString(s + "\n")
		}
	}
}
