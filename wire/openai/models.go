package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Paths of the servers' own questions, all GETs.
const (
	ModelsPath   = "/v1/models"
	LMStudioPath = "/api/v0/models" // LM Studio only
	PropsPath    = "/props"         // llama.cpp only
)

type listJSON struct {
	Data shape.Lax[[]shape.Lax[entryJSON]] `json:"data"`
}

type entryJSON struct {
	ID      shape.Loose           `json:"id"`
	Owner   shape.Loose           `json:"owned_by"`
	Created shape.LooseInt        `json:"created"`
	MaxLen  shape.LooseInt        `json:"max_model_len"`  // vLLM, SGLang
	Length  shape.LooseInt        `json:"context_length"` // OpenRouter
	Window  shape.LooseInt        `json:"context_window"` // Groq
	Meta    shape.Lax[metaJSON]   `json:"meta"`
	Status  shape.Lax[statusJSON] `json:"status"`
	// LM Studio
	Type         shape.Loose              `json:"type"`
	State        shape.Loose              `json:"state"`
	LoadedLength shape.LooseInt           `json:"loaded_context_length"`
	MaxLength    shape.LooseInt           `json:"max_context_length"`
	Capabilities shape.Lax[[]shape.Loose] `json:"capabilities"`
}

// metaJSON and statusJSON are llama.cpp's. A model that is not in memory has no
// window, and with its router a status.
type (
	metaJSON struct {
		Window shape.LooseInt `json:"n_ctx"`
	}
	statusJSON struct {
		Value shape.Loose `json:"value"`
	}
)

// Models reads the answer of ModelsPath or LMStudioPath. LM Studio alone says
// which models take tools.
func Models(body []byte) ([]wire.Model, error) {
	var j listJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("openai: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Data.Is))
	for _, entry := range j.Data.Is {
		m := entry.Is
		if m.ID == "" {
			continue
		}
		out := wire.Model{ID: string(m.ID), Owner: string(m.Owner), Created: int64(m.Created)}
		out.Context = int(cmp.Or(m.LoadedLength, m.MaxLen, m.Length, m.Window, m.Meta.Is.Window, m.MaxLength))
		out.Loaded = m.State == "loaded" || m.Status.Is.Value == "loaded" || m.MaxLen > 0 || m.Meta.Is.Window > 0
		out.Chat = m.Type != "embeddings" && !strings.Contains(strings.ToLower(out.ID), "embed")
		if m.Type != "" {
			tools := slices.Contains(m.Capabilities.Is, "tool_use")
			out.Tools = &tools
		}
		models = append(models, out)
	}
	return models, nil
}

// Props is what llama.cpp knows of the model that it runs.
type Props struct {
	Context int    // window of a request, in tokens
	Tools   *bool  // the chat template takes tools; nil: not said
	Build   string // of the server
}

type propsJSON struct {
	Settings *struct {
		NCtx shape.LooseInt `json:"n_ctx"`
	} `json:"default_generation_settings"`
	Caps shape.Lax[struct {
		Tools shape.Lax[*bool] `json:"supports_tools"`
	}] `json:"chat_template_caps"`
	Build shape.Loose `json:"build_info"`
}

// ReadProps reads the answer of PropsPath.
func ReadProps(body []byte) (Props, error) {
	var j propsJSON
	if err := json.Unmarshal(body, &j); err != nil || j.Settings == nil {
		return Props{}, fmt.Errorf("openai: the answer of %s is not one of llama.cpp: %.60q", PropsPath, body)
	}
	return Props{Context: int(j.Settings.NCtx), Tools: j.Caps.Is.Tools.Is, Build: string(j.Build)}, nil
}
