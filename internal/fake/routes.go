package fake

import (
	"fmt"
	"net/http"
	"slices"
)

// routes are the questions that the script's kind of server answers.
func (s *Server) routes() {
	kind := s.script.Kind
	s.cloudRoutes()
	if kind == "anthropic" || kind == "gemini" {
		s.mux.HandleFunc("/", s.unknownPath)
		return
	}
	if s.script.ollama() {
		s.ollamaRoutes()
	}
	s.mux.HandleFunc("POST /v1/chat/completions", s.chat)
	s.mux.HandleFunc("POST /v1/embeddings", s.embed)
	switch kind {
	case "vllm":
		s.get("/version", s.version)
	case "llamacpp":
		s.get("/props", s.props)
		s.get("/health", func() any { return map[string]string{"status": "ok"} })
		s.get("/models", s.llamacppModels)
	case "lmstudio":
		s.get("/api/v0/models", s.lmStudio)
	}
	s.get("/v1/models", s.modelList)
	s.mux.HandleFunc("/", s.unknownPath)
}

func (s *Server) ollamaRoutes() {
	s.mux.HandleFunc("POST /api/chat", s.chat)
	s.mux.HandleFunc("POST /api/generate", s.chat)
	s.mux.HandleFunc("POST /api/show", s.show)
	s.mux.HandleFunc("POST /api/copy", s.copyModel)
	s.mux.HandleFunc("DELETE /api/delete", s.deleteModel)
	s.mux.HandleFunc("POST /api/embed", s.embed)
	s.mux.HandleFunc("POST /api/embeddings", s.embed)
	s.get("/api/tags", s.tags)
	s.get("/api/ps", s.ps)
	s.get("/api/version", s.version)
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "Ollama is running") })
}

func (s *Server) get(path string, answer func() any) {
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, answer()) })
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// ollamaPaths are those that Ollama answers by one method alone.
var ollamaPaths = []string{"/api/chat", "/api/generate", "/api/show", "/api/tags", "/api/ps", "/api/version", "/api/embed", "/v1/chat/completions", "/v1/models", "/v1/embeddings"}

// unknownPath answers as the server of the kind does; OpenAI's text is of
// platform.openai.com, vLLM's of FastAPI.
func (s *Server) unknownPath(w http.ResponseWriter, r *http.Request) {
	v := s.voice(r.URL.Path)
	switch {
	case s.script.ollama() && slices.Contains(ollamaPaths, r.URL.Path):
		plain(w, http.StatusMethodNotAllowed, "405 method not allowed")
	case s.script.ollama():
		plain(w, http.StatusNotFound, "404 page not found")
	case v == llamacppVoice:
		(&refusal{status: http.StatusNotFound, kind: "not_found_error", message: "File Not Found"}).write(w, v)
	case v == vllmVoice:
		writeJSON(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
	default:
		(&refusal{status: http.StatusNotFound, code: "unknown_url",
			message: fmt.Sprintf("Unknown request URL: %s %s. Please check the URL for typos.", r.Method, r.URL.Path)}).write(w, v)
	}
}

func (s *Server) version() any { return map[string]string{"version": s.script.Version} }

type modelsJSON struct {
	Object string      `json:"object"`
	Data   []modelJSON `json:"data"`
}

type modelJSON struct {
	ID           string   `json:"id"`
	Object       string   `json:"object"`
	Created      int64    `json:"created,omitempty"`
	Owner        string   `json:"owned_by,omitempty"`
	MaxLen       int      `json:"max_model_len,omitempty"` // vLLM
	Type         string   `json:"type,omitempty"`          // LM Studio, from here on
	State        string   `json:"state,omitempty"`
	Max          int      `json:"max_context_length,omitempty"`
	Loaded       int      `json:"loaded_context_length,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
}

func (s *Server) modelList() any {
	if s.script.Kind == "llamacpp" {
		return s.llamacppModels()
	}
	list := modelsJSON{Object: "list", Data: []modelJSON{}}
	for _, m := range s.list() {
		entry := modelJSON{ID: m.name, Object: "model", Created: createdUnix, Owner: "library"}
		if s.script.Kind == "vllm" {
			entry.MaxLen, entry.Owner = m.context, "vllm"
		}
		list.Data = append(list.Data, entry)
	}
	return list
}

// lmStudio lists the models; the first one is loaded.
func (s *Server) lmStudio() any {
	list := modelsJSON{Object: "list", Data: []modelJSON{}}
	for i, m := range s.list() {
		entry := modelJSON{ID: m.name, Object: "model", Type: "llm", State: "not-loaded", Max: m.context}
		if m.tools {
			entry.Capabilities = []string{"tool_use"}
		}
		if i == 0 {
			entry.State, entry.Loaded = "loaded", m.context
		}
		list.Data = append(list.Data, entry)
	}
	return list
}
