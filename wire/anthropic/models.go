package anthropic

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1/models"

// Models reads the answer of ModelsPath.
func Models(body []byte) ([]wire.Model, error) {
	var j struct {
		Data shape.Lax[[]shape.Lax[entryJSON]] `json:"data"`
	}
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("anthropic: list of models: %w", err)
	}
	yes := true
	models := make([]wire.Model, 0, len(j.Data.Is))
	for _, entry := range j.Data.Is {
		m := entry.Is
		if m.ID == "" {
			continue
		}
		out := wire.Model{ID: string(m.ID), Context: int(m.Window), Tools: &yes, Chat: true, Owner: provider}
		if t, err := time.Parse(time.RFC3339, string(m.Created)); err == nil {
			out.Created = t.Unix()
		}
		models = append(models, out)
	}
	return models, nil
}

type entryJSON struct {
	ID      shape.Loose    `json:"id"`
	Created shape.Loose    `json:"created_at"`
	Window  shape.LooseInt `json:"max_input_tokens"`
}
