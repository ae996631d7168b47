package ollama

import (
	"encoding/json"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Models lists the chat models, as the answer of TagsPath.
func (Front) Models(models []wire.Model) []byte {
	return listing(models, func(m wire.Model) bool { return m.Chat })
}

// Running lists those in memory, as the answer of RunningPath.
func (Front) Running(models []wire.Model) []byte {
	return listing(models, func(m wire.Model) bool { return m.Chat && m.Loaded })
}

func listing(models []wire.Model, which func(wire.Model) bool) []byte {
	j := listJSON{Models: []modelJSON{}}
	for _, m := range models {
		if !which(m) {
			continue
		}
		one := modelJSON{Name: m.ID, Model: m.ID, Details: details(m), Context: shape.LooseInt(m.Context), Capabilities: capabilities(m)}
		one.Modified = time.Unix(m.Created, 0).UTC().Format(time.RFC3339)
		j.Models = append(j.Models, one)
	}
	return shape.JSON(j, nil).Raw
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
	out := []string{"completion"}
	if m.Tools == nil || *m.Tools {
		out = append(out, "tools")
	}
	if m.Think != nil && *m.Think {
		out = append(out, "thinking")
	}
	return out
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
