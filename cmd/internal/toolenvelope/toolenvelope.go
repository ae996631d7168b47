// Package toolenvelope is the table [tool_envelope] of bx.toml and llmc.toml,
// which bx and te share.
package toolenvelope

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Count is a whole number above 0.
type Count int

// Table is [tool_envelope]. Sizes are in characters.
type Table struct {
	Enabled        bool             `toml:"enabled"`
	MaxOutputChars Count            `toml:"max_output_chars"` // of a result in bx
	Timeout        float64          `toml:"passthrough_timeout_seconds"`
	Workspace      Workspace        `toml:"workspace"`
	Telemetry      Telemetry        `toml:"telemetry"`
	Grep           Grep             `toml:"grep"`
	Cat            Cat              `toml:"cat"`
	Find           Find             `toml:"find"`
	AgentBudgets   map[string]Count `toml:"agent_budgets"`
}

// Workspace says where te reads.
type Workspace struct {
	Root             string `toml:"root"`
	RespectGitignore bool   `toml:"respect_gitignore"`
	AllowOutsideRoot bool   `toml:"allow_outside_root"`
}

// Telemetry says whether te keeps figures of what it was used for. Path is read so
// that files of LLMC load.
type Telemetry struct {
	Enabled        bool   `toml:"enabled"`
	Path           string `toml:"path"`
	CaptureOutput  bool   `toml:"capture_output"` // keeps command lines and what te showed, too
	OutputMaxBytes Count  `toml:"output_max_bytes"`
}

// Grep says how te grep shows what it found.
type Grep struct {
	Enabled        bool  `toml:"enabled"`
	PreviewMatches Count `toml:"preview_matches"` // that are shown whatever they cost
	MaxOutputChars Count `toml:"max_output_chars"`
	TimeoutMS      Count `toml:"timeout_ms"`
	PreviewPercent Count `toml:"preview_percent"` // of the plain form that a preview may be as long as
	Breadcrumbs    Count `toml:"breadcrumbs"`     // directories that get one of their own
	HotZone        bool  `toml:"hot_zone"`
}

// Cat says how te read shows a file.
type Cat struct {
	Enabled        bool  `toml:"enabled"`
	PreviewLines   Count `toml:"preview_lines"`
	MaxOutputChars Count `toml:"max_output_chars"`
}

// Find says how te find shows what it found.
type Find struct {
	Enabled bool `toml:"enabled"`
}

// Default is the table of a machine without files.
func Default() Table {
	return Table{
		Enabled: true, Timeout: 30,
		Workspace: Workspace{RespectGitignore: true},
		Telemetry: Telemetry{Enabled: true, OutputMaxBytes: 8192},
		Grep:      Grep{Enabled: true, PreviewMatches: 10, MaxOutputChars: 20000, TimeoutMS: 5000, PreviewPercent: 20, Breadcrumbs: 5, HotZone: true},
		Cat:       Cat{Enabled: true, PreviewLines: 50, MaxOutputChars: 30000},
		Find:      Find{Enabled: true},
	}
}

// budgets are what an agent is shown at most, in characters.
// Source: Tool Envelope v1.2.
var budgets = map[string]Count{"gemini-shell": 900000, "claude-dc": 180000, "qwen-local": 28000, "human-cli": 50000, "unknown": 16000}

// Budget is how many characters an agent is shown at most. An agent without a
// line of its own has that of "unknown", which may also be called "default".
func (t Table) Budget(agent string) int {
	for _, name := range []string{agent, "unknown", "default"} {
		if n, ok := t.AgentBudgets[name]; ok && name != "" {
			return int(n)
		}
		if n, ok := budgets[name]; ok && name == agent {
			return int(n)
		}
	}
	return int(budgets["unknown"])
}

// Unsafe says why a repository's own file may not set a key of the table, or "".
func (t Table) Unsafe(key string) string {
	switch {
	case key == "workspace.allow_outside_root" && t.Workspace.AllowOutsideRoot:
		return "it would open files outside the repository"
	case key == "workspace.root" && !filepath.IsLocal(filepath.FromSlash(t.Workspace.Root)):
		return "it is outside the repository"
	case strings.HasPrefix(key, "telemetry."):
		return "what is recorded is for you to say"
	}
	return ""
}

// Own is the name of te's own file, which te coach apply writes beside the user's.
const Own = "te.toml"

// Load reads the table from the user's files and then from the repository's,
// llmc.toml before bx.toml in each place, and te's own file behind the user's; ""
// is no place. A mistake in the
// user's file is an error. One in the repository's, and what such a file may
// not set, is a warning, and that file's table is left out.
func Load(user, repo string) (t Table, warnings []string, err error) {
	t = Default()
	for _, dir := range []string{user, repo} {
		for _, name := range []string{"llmc.toml", "bx.toml", Own} {
			if dir == "" || name == Own && dir != user {
				continue
			}
			path := filepath.Join(dir, name)
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			trusted := dir == user
			if !trusted {
				path = name
			}
			next := t
			if err == nil {
				next, err = t.with(path, text, trusted)
			}
			switch {
			case err == nil:
				t = next
			case trusted:
				return t, warnings, err
			default:
				warnings = append(warnings, err.Error()+"; its [tool_envelope] is left out")
			}
		}
	}
	return t, warnings, nil
}

// With lays the table of a file of the user's over t.
func (t Table) With(path string, text []byte) (Table, error) { return t.with(path, text, true) }

// with lays the table of a file over t.
func (t Table) with(path string, text []byte, trusted bool) (Table, error) {
	var whole struct {
		Table     map[string]any `toml:"tool_envelope"`
		Telemetry any            `toml:"telemetry"` // of bx and te, in bx.toml
		Stats     any            `toml:"stats"`     // the same
	}
	if err := toml.Unmarshal(text, &whole); err != nil {
		return t, at(path, err)
	}
	if on, ok := whole.Telemetry.(bool); ok && trusted && !on {
		t.Telemetry.Enabled = false
	}
	if stats, ok := whole.Stats.(map[string]any); ok && trusted && filepath.Base(path) == "bx.toml" && stats["content"] == true {
		t.Telemetry.CaptureOutput = true
	}
	if whole.Table == nil {
		return t, nil
	}
	t.AgentBudgets = maps.Clone(t.AgentBudgets)
	next := struct {
		Table *Table `toml:"tool_envelope"`
	}{&t}
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&next)
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) {
		err = ours(missing)
	}
	if err != nil {
		return t, at(path, err)
	}
	for _, key := range keysOf("", whole.Table) {
		if why := t.Unsafe(key); why != "" && !trusted {
			return t, fmt.Errorf("%s:%d: tool_envelope.%s: not for a repository's own file to set: %s", path, lineOf(text, key), key, why)
		}
	}
	return t, t.check(path, text)
}

// ours is the first unknown key of the table; other tables belong to others.
func ours(missing *toml.StrictMissingError) error {
	for i := range missing.Errors {
		if m := &missing.Errors[i]; m.Key()[0] == "tool_envelope" {
			return m
		}
	}
	return nil
}

func at(path string, err error) error {
	var bad *toml.DecodeError
	if !errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", path, err)
	}
	line, _ := bad.Position()
	if key := bad.Key(); len(key) > 0 {
		return fmt.Errorf("%s:%d: %s: %s", path, line, strings.Join(key, "."), strings.TrimPrefix(bad.Error(), "toml: "))
	}
	return fmt.Errorf("%s:%d: %s", path, line, strings.TrimPrefix(bad.Error(), "toml: "))
}

// check refuses numbers that make no sense.
func (t Table) check(path string, text []byte) error {
	counts := map[string]Count{"grep.preview_matches": t.Grep.PreviewMatches, "grep.max_output_chars": t.Grep.MaxOutputChars, "grep.timeout_ms": t.Grep.TimeoutMS, "grep.breadcrumbs": t.Grep.Breadcrumbs, "grep.preview_percent": t.Grep.PreviewPercent,
		"cat.preview_lines": t.Cat.PreviewLines, "cat.max_output_chars": t.Cat.MaxOutputChars, "telemetry.output_max_bytes": t.Telemetry.OutputMaxBytes}
	for name, n := range t.AgentBudgets {
		counts["agent_budgets."+name] = n
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if counts[key] < 1 {
			return fmt.Errorf("%s:%d: tool_envelope.%s: %d: want a whole number above 0", path, lineOf(text, key), key, counts[key])
		}
	}
	if t.Grep.PreviewPercent > 100 {
		return fmt.Errorf("%s:%d: tool_envelope.grep.preview_percent: %d: want at most 100", path, lineOf(text, "preview_percent"), t.Grep.PreviewPercent)
	}
	if t.Timeout <= 0 {
		return fmt.Errorf("%s:%d: tool_envelope.passthrough_timeout_seconds: want seconds above 0", path, lineOf(text, "passthrough_timeout_seconds"))
	}
	return nil
}

func keysOf(prefix string, table map[string]any) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if below, ok := table[name].(map[string]any); ok {
			out = append(out, keysOf(prefix+name+".", below)...)
			continue
		}
		out = append(out, prefix+name)
	}
	return out
}

// lineOf is the first line that sets the last part of a key, 1 if none does.
func lineOf(text []byte, key string) int {
	name := key[strings.LastIndexByte(key, '.')+1:]
	for i, line := range strings.Split(string(text), "\n") {
		left, _, ok := strings.Cut(line, "=")
		if ok && strings.HasSuffix(strings.Trim(strings.TrimSpace(left), `"'`), name) {
			return i + 1
		}
	}
	return 1
}
