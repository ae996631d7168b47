package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var doctored = Profile{Provider: OllamaProvider, URL: "http://127.0.0.1:11434", Model: "qwen3:8b", Tools: Tools{DefinitionFormat: "react", CallParser: "prefer:react", ResultFormat: "react"}}

func TestPutProfile(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"no file", "", "[profiles.small]\nprovider = \"ollama\"\n"},
		{"other tables stay", "# mine\n[agent]\nmodel = \"x\" # the best\n", "# mine\n[agent]\nmodel = \"x\" # the best\n\n[profiles.small]\n"},
		{"its own are replaced", "[profiles.small]\nmodel = \"old\"\n[profiles.small.tools]\ncall_parser = \"auto\"\n\n# a comment\n[profiles.other]\nmodel = \"y\"\n", "# a comment\n[profiles.other]\nmodel = \"y\"\n\n[profiles.small]\nprovider"},
		{"a header in a string is none", "[agent]\ninstructions = \"\"\"\n[profiles.small]\n\"\"\"\n", "\"\"\"\n[profiles.small]\n\"\"\"\n\n[profiles.small]\n"},
	} {
		path := filepath.Join(t.TempDir(), "bx", "bx.toml")
		if c.before != "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := PutProfile(path, "small", doctored, nil); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(got), c.after) || strings.Count(string(got), "qwen3:8b") != 1 || strings.Contains(string(got), "old") {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
		conf, err := Load(Places{File: path})
		if err != nil || conf.Profiles["small"] != doctored {
			t.Errorf("%s: %v, %+v", c.name, err, conf.Profiles["small"])
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".bx-*")); len(left) > 0 {
			t.Errorf("%s: left behind %q", c.name, left)
		}
	}
}

// A file that is a link stays one, and keeps its mode.
func TestPutProfileBehindALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.toml"), filepath.Join(dir, "bx.toml")
	if err := os.WriteFile(real, []byte("[agent]\nmodel = \"x\"\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := PutProfile(link, "small", doctored, nil); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(real)
	if err != nil || !strings.Contains(string(got), "[profiles.small]") {
		t.Errorf("%v\n%s", err, got)
	}
	at, err := os.Lstat(link)
	info, statErr := os.Stat(real)
	if err != nil || statErr != nil || at.Mode()&os.ModeSymlink == 0 || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v: the link is %v, the file %v", err, statErr, at, info)
	}
}

func TestPutProfileThatDoesNotFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bx.toml")
	const before = "profiles.small.model = \"x\"\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := PutProfile(path, "small", doctored, nil); err == nil || !strings.Contains(err.Error(), "cannot be added") {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != before {
		t.Errorf("the file became %q, %v", got, err)
	}
}

func TestProfileNames(t *testing.T) {
	for name, want := range map[string]string{"small": "[profiles.small]", "qwen3:8b": `[profiles."qwen3:8b"]`} {
		if got := (Profile{Model: "m"}).TOML(name); !strings.HasPrefix(got, want+"\n") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
