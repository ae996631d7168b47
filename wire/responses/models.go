package responses

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1/models"

// Models reads the answer of ModelsPath. It does not say what a model can do.
func Models(body []byte) ([]wire.Model, error) {
	var j struct {
		Data shape.Lax[[]shape.Lax[modelJSON]] `json:"data"`
	}
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("responses: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Data.Is))
	for _, entry := range j.Data.Is {
		if m := entry.Is; m.ID != "" {
			models = append(models, wire.Model{ID: string(m.ID), Owner: string(m.Owner), Created: int64(m.Created), Chat: true})
		}
	}
	return models, nil
}

type modelJSON struct {
	ID      shape.Loose    `json:"id"`
	Created shape.LooseInt `json:"created"`
	Owner   shape.Loose    `json:"owned_by"`
}
