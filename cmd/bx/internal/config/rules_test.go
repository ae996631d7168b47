package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/rule"
)

// A repository's own file may forbid and ask; however it writes it, it cannot allow.
func TestARepositoryCannotAllow(t *testing.T) {
	for text, want := range map[string]string{
		"[[rule]]\ntool = 'shell'\ndecision = 'deny'\n[[rule]]\ntool = 'write_file'\ndecision = 'ask'": "",
		"[[rule]]\ntool = 'shell'\ndecision = 'deny'\n[[rule]]\ntool = 'shell'\ndecision = 'allow'":    "bx.toml:4:3: rule: a repository's own file cannot allow",
		"[[rule]]\ntool = 'shell'\nDecision = 'allow'":                                                 `unknown key "Decision": want decision`,
		"[[Rule]]\ntool = 'shell'\ndecision = 'allow'":                                                 `unknown key "Rule": want rule`,
		"rule = [{tool = 'shell', decision = 'allow'}]":                                                "want a table [[rule]]",
		"[rule]\ntool = 'shell'\ndecision = 'allow'":                                                   "cannot allow",
		"[[rule]]\ntool = 'edit_block'\ncommand = 'ls'\ndecision = 'ask'":                              "command is of the tool shell",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "bx.toml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Places{Repo: dir})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(c.Warnings, "\n")
		if want == "" && (said != "" || len(c.Rules) != 2 || c.Rules[0].Decision != rule.Deny || !strings.HasSuffix(c.Rules[1].From, "bx.toml:4")) {
			t.Errorf("%s: %v, %+v", text, err, c)
		}
		allowed := slices.ContainsFunc(c.Rules, func(r rule.Rule) bool { return r.Decision == rule.Allow })
		if want != "" && (allowed || !strings.Contains(said, want)) {
			t.Errorf("%s: %s, %+v", text, said, c.Rules)
		}
	}
}

// Kept rules stand behind what the file holds, and behind those of other files.
func TestRulesAreKept(t *testing.T) {
	user, repo := t.TempDir(), t.TempDir()
	file := filepath.Join(user, "bx.toml")
	for name, text := range map[string]string{file: "# mine\n[agent]\nmodel = \"m\"", filepath.Join(repo, "bx.toml"): "[[rule]]\ntool = 'git'\ndecision = 'ask'\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept := rule.Set{{Tool: "shell", Command: `grep "a\"`, Root: repo, Decision: rule.Allow}, {Tool: "edit_block", Paths: []string{"a b.go", `x\[1\]`}, Root: repo, Decision: rule.Allow}}
	for _, r := range kept {
		if err := config.PutRules(file, rule.Set{r}, nil); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(config.Places{User: user, Repo: repo})
	if err != nil || len(c.Rules) != 3 || c.Agent.Model != "m" || c.Rules[2].Tool != "git" {
		t.Fatalf("%v: %+v", err, c)
	}
	for i, r := range kept {
		if got := c.Rules[i]; got.Command != r.Command || got.Root != repo || strings.Join(got.Paths, "|") != strings.Join(r.Paths, "|") {
			t.Errorf("kept as %+v", got)
		}
	}
	if b, _ := os.ReadFile(file); !strings.HasPrefix(string(b), "# mine\n[agent]\nmodel = \"m\"\n\n[[rule]]\n") {
		t.Errorf("%s", b)
	}
}
