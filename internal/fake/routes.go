package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// routes are the questions that the script's kind of server answers.
func (s *Server) routes() {
	kind := s.script.Kind
	is := func(kinds ...string) bool { return slices.Contains(kinds, kind) }
	if is("", "ollama") {
		s.mux.HandleFunc("POST /api/chat", s.chat(ollamaAPI))
		s.mux.HandleFunc("POST /api/show", s.show)
		s.get("/api/tags", s.tags(false))
		s.get("/api/ps", s.tags(true))
		s.get("/api/version", s.version)
	}
	s.mux.HandleFunc("POST /v1/chat/completions", s.chat(openaiAPI))
	s.get("/v1/models", s.models)
	switch kind {
	case "vllm":
		s.get("/version", s.version)
	case "llamacpp":
		s.get("/props", s.props)
	case "lmstudio":
		s.get("/api/v0/models", s.lmStudio)
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, apiOf(r.URL.Path), http.StatusNotFound, "", fmt.Sprintf("%s %s: not found", r.Method, r.URL.Path))
	})
}

func (s *Server) get(path string, answer func() any) {
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, answer()) })
}

func (s *Server) version() any { return versionJSON{s.script.Version} }

// noModel answers for a model that is not there. Source: Ollama server/routes.go
// and vLLM's serving code.
func (s *Server) noModel(w http.ResponseWriter, a api, model string) {
	if a == ollamaAPI {
		writeError(w, a, http.StatusNotFound, "", fmt.Sprintf("model '%s' not found", model))
		return
	}
	writeError(w, a, http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist.", model))
}

func (s *Server) capabilities() []string {
	out := []string{"completion"}
	if s.script.Tools {
		out = append(out, "tools")
	}
	if s.script.Thinking {
		out = append(out, "thinking")
	}
	return out
}

type showJSON struct {
	Template     string      `json:"template"`
	Details      detailsJSON `json:"details"`
	Info         infoJSON    `json:"model_info"`
	Capabilities []string    `json:"capabilities"`
}

// infoJSON is of the family "mock", which names the second key.
type infoJSON struct {
	Architecture string `json:"general.architecture"`
	Context      int    `json:"mock.context_length"`
}

type versionJSON struct {
	Version string `json:"version"`
}

type detailsJSON struct {
	Family string `json:"family"`
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var in struct{ Model, Name string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		writeError(w, ollamaAPI, http.StatusBadRequest, "", err.Error())
		return
	}
	if in.Model == "" {
		in.Model = in.Name
	}
	if !s.script.has(in.Model) {
		s.noModel(w, ollamaAPI, in.Model)
		return
	}
	writeJSON(w, http.StatusOK, showJSON{
		Template: "{{ .Prompt }}", Details: detailsJSON{"mock"}, Capabilities: s.capabilities(),
		Info: infoJSON{"mock", s.script.Context},
	})
}

type tagsJSON struct {
	Models []tagJSON `json:"models"`
}

type tagJSON struct {
	Name    string      `json:"name"`
	Model   string      `json:"model"`
	Details detailsJSON `json:"details"`
	Context int         `json:"context_length,omitempty"` // of a running model
}

// tags lists the models; the first one runs.
func (s *Server) tags(running bool) func() any {
	return func() any {
		list := tagsJSON{Models: []tagJSON{}}
		for i, name := range s.script.names() {
			tag := tagJSON{Name: name, Model: name, Details: detailsJSON{"mock"}}
			if running {
				tag.Context = s.script.Context
			}
			if !running || i == 0 {
				list.Models = append(list.Models, tag)
			}
		}
		return list
	}
}

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

func (s *Server) models() any {
	list := modelsJSON{Object: "list"}
	for _, name := range s.script.names() {
		m := modelJSON{ID: name, Object: "model", Created: createdUnix, Owner: "mock"}
		if s.script.Kind == "vllm" {
			m.MaxLen = s.script.Context
		}
		list.Data = append(list.Data, m)
	}
	return list
}

// lmStudio lists the models; the first one is loaded.
func (s *Server) lmStudio() any {
	list := modelsJSON{Object: "list"}
	for i, name := range s.script.names() {
		m := modelJSON{ID: name, Object: "model", Type: "llm", State: "not-loaded", Max: s.script.Context}
		if s.script.Tools {
			m.Capabilities = []string{"tool_use"}
		}
		if i == 0 {
			m.State, m.Loaded = "loaded", s.script.Context
		}
		list.Data = append(list.Data, m)
	}
	return list
}

type propsJSON struct {
	Settings struct {
		NCtx int `json:"n_ctx"`
	} `json:"default_generation_settings"`
	Slots int    `json:"total_slots"`
	Alias string `json:"model_alias"`
	Build string `json:"build_info"`
	Caps  struct {
		Tools bool `json:"supports_tools"`
	} `json:"chat_template_caps"`
}

func (s *Server) props() any {
	p := propsJSON{Slots: 1, Alias: s.script.names()[0], Build: s.script.Version}
	p.Settings.NCtx, p.Caps.Tools = s.script.Context, s.script.Tools
	return p
}
