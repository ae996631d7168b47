package anthropic

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1/models"

// Models reads the answer of ModelsPath.
func Models(body []byte) ([]wire.Model, error) {
	var j modelsJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("anthropic: list of models: %w", err)
	}
	yes := true
	models := make([]wire.Model, 0, len(j.Data))
	for _, m := range j.Data {
		out := wire.Model{ID: m.ID, Context: int(m.Window), Tools: &yes, Chat: true, Owner: provider}
		if t, err := time.Parse(time.RFC3339, m.Created); err == nil {
			out.Created = t.Unix()
		}
		models = append(models, out)
	}
	return models, nil
}
