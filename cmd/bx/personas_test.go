package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
)

// Each quick start holds commands that bx has and tables that it takes.
//
// contract: T-12
func TestQuickStarts(t *testing.T) {
	root := newRoot(&app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	own := append(namesOf(root), "help")
	for _, name := range []string{"ollama", "claude-mcp", "gemini", "developer"} {
		text := doc(t, "personas/"+name+".md")
		commands := regexp.MustCompile("(?m)(?:^ {4}|`)(?:[A-Z_]+=\\S+ )*bx ([^`\n]+)").FindAllStringSubmatch(text, -1)
		for _, c := range commands {
			words := strings.Fields(c[1])
			for _, w := range words {
				flag, _, _ := strings.Cut(strings.TrimPrefix(w, "--"), "=")
				if strings.HasPrefix(w, "--") && root.PersistentFlags().Lookup(flag) == nil && root.Flags().Lookup(flag) == nil && words[0] != "translate" && words[0] != "mcp" {
					t.Errorf("%s: bx has no --%s", name, flag)
				}
			}
			if first := words[0]; !strings.HasPrefix(first, `"`) && !strings.HasPrefix(first, "-") && !slices.Contains(own, first) {
				t.Errorf("%s: bx has no command %s", name, first)
			}
		}
		tables := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(text, -1)
		for i, block := range tables {
			file := filepath.Join(t.TempDir(), "bx.toml")
			if err := os.WriteFile(file, []byte(block[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(config.Places{File: file}); err != nil {
				t.Errorf("%s, table %d: %v", name, i+1, err)
			}
		}
		if len(commands)+len(tables) == 0 {
			t.Errorf("%s: no command and no table", name)
		}
	}
}

// Every old name that docs/migrate.md lists is answered, and every answer stands there.
func TestOldNamesAreInTheGuide(t *testing.T) {
	guide := doc(t, "migrate.md")
	names := regexp.MustCompile("`((?:LLMC|BX)_[A-Z_]+)`").FindAllStringSubmatch(guide, -1)
	said := map[string]bool{}
	for _, line := range config.OldVariables(func(string) string { return "x" }) {
		name, _, _ := strings.Cut(line, " ")
		said[name] = true
		if !strings.Contains(guide, "`"+name+"`") {
			t.Errorf("docs/migrate.md says nothing of %s", name)
		}
	}
	for _, n := range names {
		env := func(name string) string { return map[string]string{n[1]: "x"}[name] }
		if known := slices.Contains([]string{"BX_MODEL", "BX_PROFILE", "BX_MCP_KEY", "LLMC_TE_AGENT_ID", "LLMC_MCP_API_KEY"}, n[1]); !known && len(config.OldVariables(env)) != 1 {
			t.Errorf("%s is not answered", n[1])
		}
	}
	for _, flag := range []string{"status", "no-rag"} {
		if config.OldFlag(flag) == "" || !strings.Contains(guide, "`--"+flag+"`") {
			t.Errorf("--%s is not answered", flag)
		}
	}
	if len(names) < 15 {
		t.Errorf("only %d names", len(names))
	}
}
