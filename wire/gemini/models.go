package gemini

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1beta/models"

// Models reads the answer of ModelsPath.
func Models(body []byte) ([]wire.Model, error) {
	var j modelsJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("gemini: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Models))
	for _, m := range j.Models {
		models = append(models, wire.Model{ID: bare(m.Name), Context: int(m.Window), Think: m.Thinks, Owner: "google",
			Chat: slices.Contains(m.Methods, generate)})
	}
	return models, nil
}
