package gemini

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1beta/models"

// Models reads the answer of ModelsPath.
func Models(body []byte) ([]wire.Model, error) {
	var j struct {
		Models shape.Lax[[]shape.Lax[entryJSON]] `json:"models"`
	}
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("gemini: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Models.Is))
	for _, entry := range j.Models.Is {
		if m := entry.Is; m.Name != "" {
			models = append(models, wire.Model{ID: bare(string(m.Name)), Context: int(m.Window), Think: m.Thinks.Is, Owner: "google",
				Chat: slices.Contains(m.Methods.Is, generate)})
		}
	}
	return models, nil
}

type entryJSON struct {
	Name    shape.Loose              `json:"name"` // "models/gemini-2.5-flash"
	Window  shape.LooseInt           `json:"inputTokenLimit"`
	Methods shape.Lax[[]shape.Loose] `json:"supportedGenerationMethods"`
	Thinks  shape.Lax[*bool]         `json:"thinking"`
}
