package ollama

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Paths of the server's own questions. Show is a POST of ShowRequest, the
// others are GETs.
const (
	TagsPath    = "/api/tags"
	RunningPath = "/api/ps"
	ShowPath    = "/api/show"
	VersionPath = "/api/version"
)

type listJSON struct {
	Models []modelJSON `json:"models"`
}

// modelJSON is a model in a list. Older servers say nothing of capabilities.
type modelJSON struct {
	Name         string         `json:"name"`
	Model        string         `json:"model"`
	Modified     string         `json:"modified_at,omitempty"`
	Size         int64          `json:"size"`
	Digest       string         `json:"digest"`
	Details      detailsJSON    `json:"details"`
	Context      shape.LooseInt `json:"context_length,omitempty"` // of /api/ps: as loaded
	Capabilities []string       `json:"capabilities,omitempty"`
	RemoteHost   string         `json:"remote_host,omitempty"` // of a model that runs in Ollama's cloud
}

type detailsJSON struct {
	Parent       string   `json:"parent_model"`
	Format       string   `json:"format"`
	Family       string   `json:"family"`
	Families     []string `json:"families"`
	Parameters   string   `json:"parameter_size"`
	Quantization string   `json:"quantization_level"`
}

// Tags reads the answer of TagsPath, or with running that of RunningPath: the
// models that are installed, or those in memory with the window they got.
func Tags(body []byte, running bool) ([]wire.Model, error) {
	var j listJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("ollama: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Models))
	for _, m := range j.Models {
		name := m.Name
		if name == "" {
			name = m.Model
		}
		out := wire.Model{ID: name, Loaded: running, Owner: m.Details.Family, Context: int(m.Context)}
		out.Remote = m.RemoteHost != "" || strings.HasSuffix(name, "-cloud") || strings.HasSuffix(name, ":cloud")
		out.Chat = !strings.Contains(m.Details.Family, "bert") && !strings.Contains(name, "embed")
		able(&out, m.Capabilities)
		models = append(models, out)
	}
	return models, nil
}

// able sets what capabilities say; older servers list none.
func able(m *wire.Model, capabilities []string) {
	if len(capabilities) == 0 {
		return
	}
	tools, think := slices.Contains(capabilities, "tools"), slices.Contains(capabilities, "thinking")
	m.Tools, m.Think, m.Chat = &tools, &think, slices.Contains(capabilities, "completion")
}

type showRequest struct {
	Model string `json:"model"`
	Name  string `json:"name,omitempty"` // the older field
}

// ShowRequest is the body of a ShowPath request.
func ShowRequest(model string) []byte {
	b, err := shape.Marshal(showRequest{Model: model})
	if err != nil {
		return []byte("{}")
	}
	return b
}

// Details is what the server knows of a model.
type Details struct {
	wire.Model            // Context is the longest window that the model was made for
	Capabilities []string // as the server lists them
	NumCtx       int      // the window set in the model file; 0: none
}

type showJSON struct {
	Capabilities []string                   `json:"capabilities"`
	Template     string                     `json:"template"`
	Parameters   string                     `json:"parameters"` // lines "num_ctx 8192"
	Details      detailsJSON                `json:"details"`
	Info         map[string]json.RawMessage `json:"model_info"` // "qwen3.context_length"
}

// Show reads the answer of ShowPath. Of a server that lists no capabilities the
// template tells whether the model takes tools.
func Show(model string, body []byte) (Details, error) {
	var j showJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return Details{}, fmt.Errorf("ollama: model %s: %w", model, err)
	}
	d := Details{Model: wire.Model{ID: model, Chat: true}, Capabilities: j.Capabilities}
	able(&d.Model, j.Capabilities)
	if d.Tools == nil && j.Template != "" {
		tools := strings.Contains(j.Template, ".Tools")
		d.Tools = &tools
	}
	for key, raw := range j.Info {
		if strings.HasSuffix(key, ".context_length") {
			var n shape.LooseInt
			_ = json.Unmarshal(raw, &n)
			d.Context = max(d.Context, int(n))
		}
	}
	for line := range strings.Lines(j.Parameters) {
		if _, err := fmt.Sscanf(line, "num_ctx %d", &d.NumCtx); err == nil {
			break
		}
	}
	return d, nil
}

type versionJSON struct {
	Version string `json:"version"`
}

// Version reads the answer of VersionPath.
func Version(body []byte) (string, error) {
	var j versionJSON
	if err := json.Unmarshal(body, &j); err != nil || j.Version == "" {
		return "", fmt.Errorf("ollama: the answer of %s is not one of Ollama: %.60q", VersionPath, body)
	}
	return j.Version, nil
}
