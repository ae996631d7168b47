package ollama

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Models lists the models, as the answer of TagsPath: those of a server with this
// API as it lists them, of others the chat models.
func (Front) Models(models []wire.Model) []byte {
	return listing(models, false)
}

// Running lists those in memory, as the answer of RunningPath.
func (Front) Running(models []wire.Model) []byte {
	return listing(models, true)
}

// modelJSON is a model as its clients want it: Ollama's own program fails where
// the digest has fewer than 12 letters.
type modelJSON struct {
	Name         string         `json:"name"`
	Model        string         `json:"model"`
	Modified     string         `json:"modified_at,omitempty"`
	Size         int            `json:"size"`
	Digest       string         `json:"digest"`
	Details      detailsJSON    `json:"details"`
	Expires      string         `json:"expires_at,omitempty"` // of a model in memory
	VRAM         *int           `json:"size_vram,omitempty"`
	Context      shape.LooseInt `json:"context_length,omitempty"`
	Capabilities []string       `json:"capabilities,omitempty"`
}

type detailsJSON struct {
	Parent       string   `json:"parent_model"`
	Format       string   `json:"format"`
	Family       string   `json:"family"`
	Families     []string `json:"families"`
	Parameters   string   `json:"parameter_size"`
	Quantization string   `json:"quantization_level"`
}

func listing(models []wire.Model, running bool) []byte {
	list := []json.RawMessage{}
	for _, m := range models {
		theirs := m.Entry
		if running {
			theirs = m.Running
		}
		switch own, bad := shape.Members(shape.Value{Raw: theirs}); {
		case running && !m.Loaded:
		case len(own) > 0 && bad == nil:
			list = append(list, renamed(own, m, running).Raw())
		case m.Chat:
			list = append(list, shape.JSON(entry(m, running), nil).Raw)
		}
	}
	return shape.JSON(map[string][]json.RawMessage{"models": list}, nil).Raw
}

// renamed is a server's own entry under the name that clients use.
func renamed(own shape.Fields, m wire.Model, running bool) shape.Fields {
	own = own.Set("name", shape.Quote(m.ID).Raw).Set("model", shape.Quote(m.ID).Raw)
	if !running {
		own = own.Set("capabilities", shape.JSON(capabilities(m), nil).Raw)
	}
	return own
}

// forever is when a model leaves the memory of a server that never unloads it.
const forever = "9999-12-31T00:00:00Z"

// entry is what is known of a model of a server with another API. Its digest is
// one of the name.
func entry(m wire.Model, running bool) modelJSON {
	out := modelJSON{Name: m.ID, Model: m.ID, Details: details(m), Context: shape.LooseInt(m.Context)}
	out.Digest = fmt.Sprintf("%x", sha256.Sum256([]byte(m.ID)))
	if running {
		out.Expires, out.VRAM = forever, new(int)
		return out
	}
	out.Modified = time.Unix(m.Created, 0).UTC().Format(time.RFC3339)
	out.Capabilities = capabilities(m)
	return out
}

func details(m wire.Model) detailsJSON {
	out := detailsJSON{Family: m.Owner, Families: []string{}}
	if m.Owner != "" {
		out.Families = append(out.Families, m.Owner)
	}
	return out
}

// capabilities are what is known of a model. Tools are offered to one of which it
// is not known: their calls are found in its text.
func capabilities(m wire.Model) []string {
	if !m.Chat {
		return []string{"embedding"}
	}
	out := []string{"completion"}
	for _, c := range []struct {
		name string
		has  bool
	}{{"tools", m.Tools == nil || *m.Tools}, {"thinking", m.Think != nil && *m.Think}, {"vision", m.Vision != nil && *m.Vision}} {
		if c.has {
			out = append(out, c.name)
		}
	}
	return out
}

type showJSON struct {
	Capabilities []string                   `json:"capabilities"`
	Template     string                     `json:"template"`
	Parameters   string                     `json:"parameters"`
	Details      detailsJSON                `json:"details"`
	Info         map[string]json.RawMessage `json:"model_info"`
}

// Describing is a server's own answer of ShowPath, with the capabilities that the
// model has for clients.
func (Front) Describing(theirs []byte, m wire.Model) []byte {
	own, bad := shape.Members(shape.Value{Raw: theirs})
	if bad != nil || len(own) == 0 {
		return theirs
	}
	return own.Set("capabilities", shape.JSON(capabilities(m), nil).Raw).Raw()
}

// Describe is the answer of ShowPath.
func (Front) Describe(m wire.Model) []byte {
	family := m.Owner
	if family == "" {
		family = "model"
	}
	j := showJSON{Capabilities: capabilities(m), Details: details(m), Info: map[string]json.RawMessage{
		"general.architecture": shape.JSON(family, nil).Raw,
	}}
	if m.Context > 0 {
		j.Info[family+".context_length"] = shape.JSON(m.Context, nil).Raw
	}
	return shape.JSON(j, nil).Raw
}

// ReadShow reads a ShowRequest: the model's name. What is wrong with it is a
// *wire.InputError.
func (Front) ReadShow(body []byte) (model string, err error) {
	v, bad := shape.Body(body)
	var j showRequest
	if bad == nil {
		j, bad = ofShow.Read(v)
	}
	if model = j.Model; model == "" {
		model = j.Name
	}
	if bad == nil && model == "" {
		bad = &shape.Error{Path: "model", Offset: -1, Want: "the name of a model"}
	}
	if bad != nil {
		return "", (*wire.InputError)(bad)
	}
	return model, nil
}

// Version is the answer of VersionPath.
func (Front) Version(version string) []byte { return shape.JSON(versionJSON{version}, nil).Raw }
