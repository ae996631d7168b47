package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/safefile"
)

// State is a full examination as it is kept: one that was interrupted goes on
// where it was, one that is over is what learned forms begin with.
type State struct {
	Version int     `json:"v"`
	Model   string  `json:"model"`
	Server  string  `json:"server"` // its address
	Over    bool    `json:"over"`
	Format  string  `json:"tool_format,omitempty"` // when it is over
	Asked   []Asked `json:"asked"`
}

// stateVersion changes with the scenarios.
const stateVersion = 1

// StateFile is where the examination of a model is kept in a folder.
func StateFile(dir, server, model string) string {
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%s\n%s", server, model)
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, model)
	return filepath.Join(dir, "doctor", fmt.Sprintf("%.60s-%016x.json", name, sum.Sum64()))
}

// LoadState reads an examination. One that is not there, or that another version
// has made, is an empty one.
func LoadState(file, server, model string) (State, error) {
	fresh := State{Version: stateVersion, Model: model, Server: server}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return fresh, err
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return fresh, fmt.Errorf("%s: %w: remove it to begin anew", file, err)
	}
	if s.Version != stateVersion || s.Model != model || s.Server != server {
		return fresh, nil
	}
	return s, nil
}

// Save writes it, whole or not at all.
func (s State) Save(file string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return safefile.Replace(root, name, safefile.Temp(name), text, 0o600)
}

// Evidence is what the examination says of the forms that work, the best one first.
// Without one, or before it is over, it has no form.
func (s State) Evidence() *learn.Evidence {
	if !s.Over || s.Format == "none" {
		return learn.New()
	}
	forms, tallies := []string{s.Format}, s.Tallies()
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		if tallies[name].Good > 0 && name != s.Format {
			forms = append(forms, name)
		}
	}
	e := learn.New(forms...)
	for _, f := range forms {
		e.Probed(f, tallies[f])
	}
	return e
}

// States reads all examinations of a folder that are over. What cannot be read
// is left out.
func States(dir string) (out []State) {
	names, _ := filepath.Glob(filepath.Join(dir, "doctor", "*.json"))
	for _, name := range names {
		var s State
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &s) == nil && s.Version == stateVersion && s.Over {
			out = append(out, s)
		}
	}
	return out
}

// Tallies are what it found in each form.
func (s State) Tallies() map[string]learn.Tally {
	out := map[string]learn.Tally{}
	for _, a := range s.Asked {
		if _, seen := out[a.Form]; !seen {
			out[a.Form] = Tally(s.Asked, a.Form)
		}
	}
	return out
}
