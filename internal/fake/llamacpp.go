package fake

import (
	"fmt"
	"net/http"
)

// llama-server b11434: it plays one model, whatever name it is asked for.

func (s *Server) llamacppRefuses(in *chatRequest) *refusal {
	internal := func(message string) *refusal {
		return &refusal{status: http.StatusInternalServerError, message: message}
	}
	switch {
	case in.fields["messages"] == nil:
		return bad("'messages' is required")
	case len(in.Tools) > 0 && !in.model.tools:
		return internal("tools param requires --jinja flag")
	case in.images() && !in.model.vision:
		return internal("image input is not supported - hint: if this is unexpected, you may need to provide the mmproj")
	case in.tokens > in.model.context:
		return &refusal{status: http.StatusBadRequest, kind: "exceed_context_size_error", tokens: in.tokens, window: in.model.context,
			message: fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", in.tokens, in.model.context)}
	}
	return nil
}

// hangUp closes the connection behind a stream, of which its head says nothing.
func hangUp(w http.ResponseWriter) {
	conn, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // it is no connection
	}
	_, _ = rest.WriteString("0\r\n\r\n") // the end of chunks
	_ = rest.Flush()
	_ = conn.Close()
}

// perConnection is how many requests a connection is good for.
const perConnection = 100

// parting says that the connection ends with an error.
type parting struct{ http.ResponseWriter }

func (p parting) WriteHeader(status int) {
	if status >= 400 {
		p.Header().Set("Connection", "close")
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p parting) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// part has the connection end as llama-server's do: with an error, and with the
// last request that it is good for.
func (s *Server) part(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[r.RemoteAddr]++; s.asked[r.RemoteAddr]%perConnection == 0 {
		w.Header().Set("Connection", "close")
	}
	return parting{w}
}

type propsJSON struct {
	Settings struct {
		NCtx int `json:"n_ctx"`
	} `json:"default_generation_settings"`
	Slots      int    `json:"total_slots"`
	Alias      string `json:"model_alias"`
	Path       string `json:"model_path"`
	Build      string `json:"build_info"`
	Template   string `json:"chat_template"`
	Modalities struct {
		Vision bool `json:"vision"`
		Audio  bool `json:"audio"`
	} `json:"modalities"`
	Caps struct {
		Tools     bool `json:"supports_tools"`
		ToolCalls bool `json:"supports_tool_calls"`
		Parallel  bool `json:"supports_parallel_tool_calls"`
		System    bool `json:"supports_system_role"`
	} `json:"chat_template_caps"`
}

func (s *Server) props() any {
	m := s.list()[0]
	p := propsJSON{Slots: 4, Alias: m.name, Path: "/models/" + m.name + ".gguf", Build: s.script.Version, Template: "{{ messages }}"}
	p.Settings.NCtx, p.Modalities.Vision = m.context, m.vision
	p.Caps.Tools, p.Caps.ToolCalls, p.Caps.Parallel, p.Caps.System = m.tools, m.tools, m.tools, true
	return p
}

// llamacppModels is its /v1/models: OpenAI's list, and one like Ollama's.
type llamacppModels struct {
	Models []tagJSON       `json:"models"`
	Object string          `json:"object"`
	Data   []llamacppModel `json:"data"`
}

type llamacppModel struct {
	ID      string       `json:"id"`
	Aliases []string     `json:"aliases"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Owner   string       `json:"owned_by"`
	Meta    llamacppMeta `json:"meta"`
}

type llamacppMeta struct {
	NVocab    int   `json:"n_vocab"`
	NCtx      int   `json:"n_ctx"`
	NCtxTrain int   `json:"n_ctx_train"`
	NParams   int64 `json:"n_params"`
	Size      int64 `json:"size"`
}

func (s *Server) llamacppModels() any {
	m := s.list()[0]
	return llamacppModels{
		Models: []tagJSON{{Name: m.name, Model: m.name, Details: detailsJSON{Format: "gguf", Families: []string{""}}, Capabilities: []string{"completion"}}},
		Object: "list",
		Data: []llamacppModel{{ID: m.name, Aliases: []string{m.name}, Object: "model", Created: createdUnix, Owner: "llamacpp",
			Meta: llamacppMeta{NVocab: 32000, NCtx: m.context, NCtxTrain: m.context, NParams: modelParams, Size: modelSize}}},
	}
}

// llamacppTimings stand in its last frame and in whole replies.
type llamacppTimings struct {
	PromptN      int     `json:"prompt_n"`
	PromptMS     float64 `json:"prompt_ms"`
	PredictedN   int     `json:"predicted_n"`
	PredictedMS  float64 `json:"predicted_ms"`
	PredictedPer float64 `json:"predicted_per_second"`
}

func (p *player) timings() *llamacppTimings {
	if p.voice != llamacppVoice {
		return nil
	}
	n := p.turn.usage
	return &llamacppTimings{PromptN: n.prompt - n.cached, PromptMS: 5, PredictedN: n.completion, PredictedMS: float64(n.completion), PredictedPer: 1000}
}
