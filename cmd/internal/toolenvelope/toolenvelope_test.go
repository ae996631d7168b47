package toolenvelope

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// places writes files below a new directory and returns user's and repository's place.
func places(t *testing.T, user, repo string) (string, string) {
	t.Helper()
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for i, text := range []string{user, repo} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dirs[i], "llmc.toml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dirs[0], dirs[1]
}

// contract: TE-06 TE-10
func TestKeysOfLLMC(t *testing.T) {
	user, repo := places(t, `
[rag]
enabled = true
[telemetry]
enabled = false
[stats]
content = true
[tool_envelope]
enabled = true
passthrough_timeout_seconds = 9.5
[tool_envelope.workspace]
root = "."
respect_gitignore = false
allow_outside_root = true
[tool_envelope.telemetry]
enabled = true
path = ".llmc/te_telemetry.db"
capture_output = false
output_max_bytes = 4096
[tool_envelope.grep]
enabled = true
preview_matches = 12
max_output_chars = 9000
timeout_ms = 800
preview_percent = 30
breadcrumbs = 7
hot_zone = false
[tool_envelope.cat]
enabled = false
preview_lines = 20
max_output_chars = 7000
[tool_envelope.find]
enabled = true
[tool_envelope.agent_budgets]
my-agent = 5000
default = 6000
`, "[tool_envelope.grep]\npreview_matches = 3\n")
	got, warnings, err := Load(user, repo)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := "{true 0 9.5 {. false true} {true .llmc/te_telemetry.db false 4096} {true 3 9000 800 30 7 false} {false 20 7000} {true} map[default:6000 my-agent:5000]}"
	if s := fmt.Sprint(got); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	for agent, n := range map[string]int{"my-agent": 5000, "": 6000, "somebody": 6000, "claude-dc": 180000} {
		if got.Budget(agent) != n {
			t.Errorf("Budget(%q) = %d, want %d", agent, got.Budget(agent), n)
		}
	}
}

// contract: TE-10
func TestBudgetsOfAgents(t *testing.T) {
	for agent, n := range map[string]int{"gemini-shell": 900000, "claude-dc": 180000, "qwen-local": 28000, "human-cli": 50000, "unknown": 16000, "": 16000, "x": 16000, "default": 16000} {
		if got := Default().Budget(agent); got != n {
			t.Errorf("Budget(%q) = %d, want %d", agent, got, n)
		}
	}
}

func TestMistakesOfTheUserAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[tool_envelope]\nenabeld = true\n":                   "llmc.toml:2: tool_envelope.enabeld",
		"[tool_envelope.grep]\npreview_matches = \"many\"\n":  "llmc.toml:2:",
		"\n[tool_envelope.cat]\npreview_lines = 0\n":          "llmc.toml:3: tool_envelope.cat.preview_lines: 0: want a whole number above 0",
		"[tool_envelope]\npassthrough_timeout_seconds = -1\n": "llmc.toml:2: tool_envelope.passthrough_timeout_seconds: want seconds above 0",
		"[tool_envelope.agent_budgets]\nme = 0\n":             "agent_budgets.me: 0",
		"[tool_envelope.grep]\npreview_percent = 101\n":       "llmc.toml:2: tool_envelope.grep.preview_percent: 101: want at most 100",
		"[tool_envelope\n":                                    "llmc.toml:1:",
	} {
		user, repo := places(t, text, "")
		if _, _, err := Load(user, repo); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		user, repo = places(t, "", text)
		got, warnings, err := Load(user, repo)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], want) || fmt.Sprint(got) != fmt.Sprint(Default()) {
			t.Errorf("%q in a repository: %v, %q, want a warning and the defaults", text, err, warnings)
		}
	}
}

func TestWhatARepositoryMayNotSet(t *testing.T) {
	for text, want := range map[string]string{
		"[tool_envelope.workspace]\nallow_outside_root = true\n": "llmc.toml:2: tool_envelope.workspace.allow_outside_root",
		"[tool_envelope.workspace]\nroot = \"../other\"\n":       "tool_envelope.workspace.root",
		"[tool_envelope.workspace]\nroot = \"/\"\n":              "tool_envelope.workspace.root",
		"[tool_envelope.telemetry]\ncapture_output = true\n":     "tool_envelope.telemetry.capture_output",
	} {
		user, repo := places(t, "", text)
		got, warnings, err := Load(user, repo)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], want) || fmt.Sprint(got) != fmt.Sprint(Default()) {
			t.Errorf("%q: %v, %q, want a warning about %s and the defaults", text, err, warnings, want)
		}
		user, repo = places(t, text, "")
		if _, warnings, err := Load(user, repo); err != nil || len(warnings) > 0 {
			t.Errorf("%q in the user's file: %v, %q", text, err, warnings)
		}
	}
}

// te's own file counts behind the user's and before the repository's, where there
// is none of that name.
func TestTesOwnFile(t *testing.T) {
	user, repo := places(t, "[tool_envelope.grep]\npreview_matches = 3\nbreadcrumbs = 3\n", "[tool_envelope.grep]\nbreadcrumbs = 9\n")
	for dir, text := range map[string]string{user: "[tool_envelope.grep]\npreview_matches = 4\nbreadcrumbs = 4\n", repo: "[tool_envelope]\nenabled = false\n"} {
		if err := os.WriteFile(filepath.Join(dir, Own), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, warnings, err := Load(user, repo)
	if err != nil || len(warnings) > 0 || !got.Enabled || got.Grep.PreviewMatches != 4 || got.Grep.Breadcrumbs != 9 {
		t.Errorf("%+v, %q, %v", got, warnings, err)
	}
}

func TestALimitOfTheUserIsNotRaised(t *testing.T) {
	user, repo := places(t, "[tool_envelope.workspace]\nallow_outside_root = false\n[tool_envelope.agent_budgets]\na = 5\n", "[tool_envelope]\nenabled = false\n[tool_envelope.agent_budgets]\nb = 6\n")
	got, _, err := Load(user, repo)
	if err != nil || got.Enabled || got.Budget("a") != 5 || got.Budget("b") != 6 {
		t.Errorf("%+v, %v", got, err)
	}
}
