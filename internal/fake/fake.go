// Package fake is a model server that plays a script over real HTTP: Ollama's
// API and OpenAI's chat completions, whole and streamed, in pieces of any size.
// It tests agents without a model, in this module and as "bx mock".
//
// A script is a text file of sections. What stands above the first one is a
// comment. The first section may describe the server; then come turns, each
// with what the request must look like and what is answered:
//
//	A search, then an answer. Shape: Ollama docs/api.md, "Chat request (streaming)".
//	-- server --
//	kind: ollama
//	model: qwen3:8b
//	-- turn --
//	contains Where are tool calls parsed?
//	tools search_code
//	-- text --
//	I'll look.
//	-- call search_code --
//	{"query": "parse tool call"}
//	-- turn --
//	last tool
//	-- text --
//	In parse/parse.go.
//
// One chat request plays one turn. Lines of the server section (all optional):
//
//	kind: ollama | openai | vllm | llamacpp | lmstudio   whose questions are answered; default: Ollama's and OpenAI's
//	model: NAME, NAME    other models are not found; default: any name will do
//	tools: yes | no      whether the model takes native tools; default yes
//	thinking: yes | no   whether it reasons; default no
//	context: N           its window in tokens; default 32768
//	version: TEXT        of the server
//	chunk: N             bytes of text in a frame; 0 is all at once; default 0
//	write: N             bytes in a write to the connection; 0 is a frame; default 0
//	key: TEXT            requests without this bearer token get 401
//
// Lines of a turn section, all about the request; one that does not hold is
// answered with HTTP 400 and kept for Err:
//
//	contains TEXT        a string of the request contains TEXT
//	lacks TEXT           none does
//	tools [NAME …]       tools are offered, these among them
//	no tools             none are
//	last ROLE            the role of the last message
//	stream | no stream   whether a stream is asked for
//	repeat               the turn also answers every further request
//
// Sections of an answer, in the order of the reply:
//
//	text                 text, less its final newline
//	think                reasoning
//	call NAME [id=ID]    a native call; the section holds its arguments as sent; id=none sends no id
//	stop REASON          the stop reason in place of the usual one
//	usage prompt=N completion=N cached=N reasoning=N
//	error STATUS [retry-after=N]   an HTTP error; the section is its message, or its body if that is JSON
//	stream-error         an error inside the stream, and its end
//	cut                  the connection breaks; "cut clean" ends it politely too early
//	empty                nothing is said
//	raw                  the frames, word for word, in place of all of the above
package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Request is a chat request that was received.
type Request struct {
	Turn   int             `json:"turn"` // the turn that it played, from 1; 0: none was left
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"request"`
	Failed string          `json:"failed,omitempty"` // which line of the turn did not hold
}

// Server plays one script. It is safe for concurrent use.
type Server struct {
	Log io.Writer // gets each Request as a line of JSON; nil: nowhere

	script *Script
	mux    *http.ServeMux

	mu       sync.Mutex
	next     int // index of the turn to play
	requests []Request
}

var _ http.Handler = (*Server)(nil)

// New makes a server for a script.
func New(s *Script) *Server {
	srv := &Server{script: s, mux: http.NewServeMux()}
	srv.routes()
	return srv
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if key := s.script.Key; key != "" && r.Header.Get("Authorization") != "Bearer "+key {
		writeError(w, apiOf(r.URL.Path), http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Requests lists the chat requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Err is what went wrong so far: requests that did not look as the script
// wants, or came after its end, and turns that were not played.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.requests {
		if r.Failed != "" {
			errs = append(errs, errors.New(r.Failed))
		}
	}
	for i := s.next; i < len(s.script.turns); i++ {
		if !s.played(i) {
			errs = append(errs, fmt.Errorf("%s:%d: the turn was not played", s.script.name, s.script.turns[i].line))
		}
	}
	return errors.Join(errs...)
}

// played reports whether a request played the turn of this index.
func (s *Server) played(turn int) bool {
	return slices.ContainsFunc(s.requests, func(r Request) bool { return r.Turn == turn+1 })
}

// maxBody bounds a request's body.
const maxBody = 64 << 20

// chat plays the next turn for a request.
func (s *Server) chat(api api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			writeError(w, api, http.StatusBadRequest, "", err.Error())
			return
		}
		var in chatRequest
		if err := json.Unmarshal(body, &in); err != nil {
			writeError(w, api, http.StatusBadRequest, "", "the request is not JSON: "+err.Error())
			return
		}
		if !s.script.has(in.Model) {
			s.noModel(w, api, in.Model)
			return
		}
		t, number, failed := s.turn(r.URL.Path, body, &in)
		if failed != "" {
			writeError(w, api, http.StatusBadRequest, "", "the mock script says: "+failed)
			return
		}
		(&player{script: s.script, turn: t, api: api, in: &in, w: w, number: number}).play()
	}
}

// turn takes the next turn, checks the request against it, and records both.
func (s *Server) turn(path string, body []byte, in *chatRequest) (t *turn, number int, failed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := Request{Path: path, Body: compact(body)}
	if s.next < len(s.script.turns) {
		t = s.script.turns[s.next]
		rec.Turn = s.next + 1
		if !t.repeat {
			s.next++
		}
		rec.Failed = s.script.check(t, apiOf(path), body, in)
	} else {
		rec.Failed = fmt.Sprintf("%s: a request came after the last of %d turns", s.script.name, len(s.script.turns))
	}
	s.requests = append(s.requests, rec)
	if s.Log != nil {
		if line, err := json.Marshal(rec); err == nil {
			_, _ = s.Log.Write(append(line, '\n'))
		}
	}
	return t, len(s.requests), rec.Failed
}

func compact(body []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, body) != nil {
		return body
	}
	return b.Bytes()
}

// chatRequest is what a script can ask about, in both APIs.
type chatRequest struct {
	Model    string `json:"model"`
	Stream   *bool  `json:"stream"`
	Messages []struct {
		Role string `json:"role"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// streams reports whether a stream is asked for: Ollama streams by default.
func (in *chatRequest) streams(a api) bool {
	if in.Stream == nil {
		return a == ollamaAPI
	}
	return *in.Stream
}

func (in *chatRequest) tools() (names []string) {
	for _, t := range in.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

// check gives the first line of the turn that the request breaks.
func (s *Script) check(t *turn, a api, body []byte, in *chatRequest) string {
	texts := stringsIn(body)
	for _, w := range t.wants {
		if wrong := w.broken(a, in, texts); wrong != "" {
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
