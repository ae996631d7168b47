package ollama

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

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
	Models shape.Lax[[]json.RawMessage] `json:"models"`
}

// entryJSON is a model in a list. Older servers say nothing of capabilities.
// Servers that pose as Ollama write sizes as floats and dates as null: no field
// makes the others unreadable.
type entryJSON struct {
	Name         shape.Loose              `json:"name"`
	Model        shape.Loose              `json:"model"`
	Modified     shape.Loose              `json:"modified_at"`
	Digest       shape.Loose              `json:"digest"`
	Details      shape.Lax[familyJSON]    `json:"details"`
	Context      shape.LooseInt           `json:"context_length"` // of /api/ps: as loaded
	Capabilities shape.Lax[[]shape.Loose] `json:"capabilities"`
	RemoteHost   shape.Loose              `json:"remote_host"` // of a model that runs in Ollama's cloud
}

type familyJSON struct {
	Family shape.Loose `json:"family"`
}

// Tags reads the answer of TagsPath, or with running that of RunningPath: the
// models that are installed, or those in memory with the window they got.
func Tags(body []byte, running bool) ([]wire.Model, error) {
	var j listJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("ollama: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Models.Is))
	for _, raw := range j.Models.Is {
		var m entryJSON
		if err := json.Unmarshal(raw, &m); err != nil || m.Name == "" && m.Model == "" {
			continue
		}
		models = append(models, m.model(raw, running))
	}
	return models, nil
}

func (m *entryJSON) model(raw json.RawMessage, running bool) wire.Model {
	name, family := string(cmp.Or(m.Name, m.Model)), string(m.Details.Is.Family)
	out := wire.Model{ID: name, Loaded: running, Owner: family, Context: int(m.Context), Digest: string(m.Digest)}
	if out.Entry = raw; running {
		out.Entry, out.Running = nil, raw
	}
	if t, err := time.Parse(time.RFC3339, string(m.Modified)); err == nil {
		out.Created = t.Unix()
	}
	out.Remote = m.RemoteHost != "" || strings.HasSuffix(name, "-cloud") || strings.HasSuffix(name, ":cloud")
	out.Chat = !strings.Contains(family, "bert") && !strings.Contains(name, "embed")
	able(&out, m.Capabilities.Is)
	return out
}

// able sets what capabilities say; older servers list none.
func able(m *wire.Model, capabilities []shape.Loose) {
	if len(capabilities) == 0 {
		return
	}
	has := func(what shape.Loose) *bool {
		yes := slices.Contains(capabilities, what)
		return &yes
	}
	m.Tools, m.Think, m.Vision, m.Chat = has("tools"), has("thinking"), has("vision"), *has("completion")
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
	Levels       bool     // "think" may be a level, not only true and false
}

type knownJSON struct {
	Capabilities shape.Lax[[]shape.Loose]              `json:"capabilities"`
	Template     shape.Loose                           `json:"template"`
	Parser       shape.Loose                           `json:"parser"` // of the replies; "": by the template
	Details      shape.Lax[familyJSON]                 `json:"details"`
	Parameters   shape.Loose                           `json:"parameters"` // lines "num_ctx 8192"
	Info         shape.Lax[map[string]json.RawMessage] `json:"model_info"` // "qwen3.context_length"
}

// Show reads the answer of ShowPath. Of a server that lists no capabilities the
// template tells whether the model takes tools.
func Show(model string, body []byte) (Details, error) {
	var j knownJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return Details{}, fmt.Errorf("ollama: model %s: %w", model, err)
	}
	d := Details{Model: wire.Model{ID: model, Chat: true}}
	for _, c := range j.Capabilities.Is {
		d.Capabilities = append(d.Capabilities, string(c))
	}
	able(&d.Model, j.Capabilities.Is)
	if d.Tools == nil && j.Template != "" {
		tools := strings.Contains(string(j.Template), ".Tools")
		d.Tools = &tools
	}
	d.Levels = j.harmony()
	for key, raw := range j.Info.Is {
		if strings.HasSuffix(key, ".context_length") {
			var n shape.LooseInt
			_ = json.Unmarshal(raw, &n)
			d.Context = max(d.Context, int(n))
		}
	}
	for line := range strings.Lines(string(j.Parameters)) {
		if _, err := fmt.Sscanf(line, "num_ctx %d", &d.NumCtx); err == nil {
			break
		}
	}
	return d, nil
}

// harmony reports a model of the family gpt-oss, the only one that takes a level
// of thinking. Of a remote one there is no template.
// Source: Ollama 0.17.4, server/routes.go, shouldUseHarmony and ChatHandler.
func (j *knownJSON) harmony() bool {
	template, family := string(j.Template), strings.ReplaceAll(strings.ToLower(string(j.Details.Is.Family)), "-", "")
	marks := template == "" || strings.Contains(template, "<|start|>") && strings.Contains(template, "<|end|>")
	return j.Parser == "harmony" || j.Parser == "" && family == "gptoss" && marks
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
