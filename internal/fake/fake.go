// Package fake is a model server that plays a script over real HTTP: Ollama's
// API and OpenAI's chat completions, whole and streamed, in pieces of any size,
// and OpenAI's Responses, Anthropic's and Gemini's API. It tests agents without
// a model, in this module and as "bx mock".
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
// One chat request plays one turn. A request that the real server would refuse
// is refused in its words and plays none: see the files ollama.go, openai.go and
// llamacpp.go, which were checked against Ollama v0.17.4 and llama-server b11434.
// Lines of the server section (all optional):
//
//	kind: ollama | openai | vllm | llamacpp | lmstudio | anthropic | gemini   whose questions are answered; default: Ollama's at /api, OpenAI's at /v1
//	model: NAME [WORD …], …   other models are not found; default: any name will do. The words tools, no-tools,
//	                     thinking, no-thinking, vision, context=N and family=NAME set one model apart
//	tools: yes | no      whether the models take native tools; default yes
//	thinking: yes | no   whether they reason; default no
//	vision: yes | no     whether they take images; default no
//	embeddings: yes | no whether llama-server makes embeddings; default no
//	family: NAME         of the models; gptoss takes a think in words; default mock
//	context: N           the window that they were made for, in tokens; default 32768
//	num_ctx: N           the window that Ollama loads unless it is told; default 4096
//	token: N             bytes of a token, to count a prompt; default 4
//	loaded: NAME [N]     is in Ollama's memory at the start, with a window of N
//	load: DURATION       what loading takes in Ollama, such as 300ms
//	loading: N           llama-server answers N requests with 503 first
//	delay: [PATH] DURATION   every answer, or those at PATH, come after this time
//	refuse: FIELD [TEXT] requests with this field get 400, in OpenAI's words or as TEXT says; a.b is a field in a field
//	version: TEXT        of the server
//	chunk: N             bytes of text in a frame; 0 is all at once; default 0
//	write: N             bytes in a write to the connection; 0 is a frame; default 0
//	key: TEXT            requests without this key get 401
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
//	any                  the turn answers every request that all its lines fit, in no order; need not be played
//	breaks N% [seed=N]   so many of its replies are broken, drawn by the seed and the request's number: a text ends
//	                     in its middle, a native call has a name that no tool has
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
//	cut [after=N]        the connection breaks, here or after N bytes of the body; "cut clean" ends it politely too early
//	empty                nothing is said
//	raw [STATUS] [TYPE]  the body, word for word, in place of all of the above
package fake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is a chat request that was received.
type Request struct {
	Turn   int             `json:"turn"` // the turn that it played, from 1; 0: none
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"request"`
	Failed string          `json:"failed,omitempty"` // which line of the turn did not hold
	Note   string          `json:"note,omitempty"`   // what happened in place of a turn: "load", "unload", or the words of a refusal
}

// Server plays one script. It is safe for concurrent use.
type Server struct {
	Log io.Writer // gets each Request as a line of JSON; nil: nowhere

	script *Script
	mux    *http.ServeMux

	mu       sync.Mutex
	next     int // index of the turn to play
	requests []Request
	models   []model
	memory   map[string]*held // by full name, with the digest behind it where that is an old one
	loads    []Loaded
	asked    map[string]int // requests of each connection, of llama-server
	loading  int            // 503s that llama-server still answers with
}

var _ http.Handler = (*Server)(nil)

// New makes a server for a script.
func New(s *Script) *Server {
	srv := &Server{script: s, mux: http.NewServeMux(), memory: map[string]*held{}, asked: map[string]int{}, loading: s.loading}
	for _, m := range s.listed() {
		srv.models = append(srv.models, s.model(m))
	}
	if m, ok := srv.find(s.loaded.Model); ok {
		srv.memory[m.name] = &held{ctx: min(cmp.Or(s.loaded.NumCtx, s.numCtx), m.context), used: time.Now(), until: time.Now().Add(keepAlive)}
	}
	srv.routes()
	return srv
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !wait(r, s.script.delay(r.URL.Path)) {
		return
	}
	v := s.voice(r.URL.Path)
	if v == llamacppVoice {
		w = s.part(w, r)
	}
	if key := s.script.Key; key != "" && cmp.Or(r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) != key {
		(&refusal{status: http.StatusUnauthorized, code: "invalid_api_key", message: "Incorrect API key provided"}).write(w, v)
		return
	}
	if s.isLoading() {
		(&refusal{status: http.StatusServiceUnavailable, kind: "unavailable_error", message: "Loading model"}).write(w, v)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// wait reports whether the client is still there after d.
func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

func (s *Server) isLoading() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loading--
	return s.loading >= 0
}

// Requests lists the chat requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
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

// record keeps a request. The caller holds the lock.
func (s *Server) record(r Request) {
	s.requests = append(s.requests, r)
	if s.Log == nil {
		return
	}
	if line, err := json.Marshal(r); err == nil {
		_, _ = s.Log.Write(append(line, '\n'))
	}
}
