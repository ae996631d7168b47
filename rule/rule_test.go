package rule_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/rule"
)

func commands(words ...string) (s rule.Set) {
	for _, w := range words {
		s = append(s, rule.Rule{Tool: "shell", Command: w, Decision: rule.Allow})
	}
	return s
}

func ofShell(command string) rule.Query {
	return rule.Query{Tool: "shell", Named: true, Command: command, Root: "/src/repo"}
}

// lines of a file of commands; \n in a line is a line feed of the command.
func lines(t *testing.T, name string) (out []string) {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if !strings.HasPrefix(l, "# ") && l != "" {
			out = append(out, strings.ReplaceAll(l, `\n`, "\n"))
		}
	}
	return out
}

// With rules for git status, git diff, git log, ls, cat, rg, head and go test none
// of the bad commands runs unasked, and most of the harmless ones do; without
// rules none does.
func TestRulesAndTheirWayAround(t *testing.T) {
	s := commands("git status", "git diff", "git log", "ls", "cat", "rg", "head", "go test")
	bad, good := lines(t, "testdata/bad.txt"), lines(t, "testdata/good.txt")
	if len(bad) < 130 || len(good) != 70 {
		t.Errorf("%d bad and %d harmless commands, want 130 and 70", len(bad), len(good))
	}
	for _, c := range bad {
		if v := s.Decide(ofShell(c)); v.Decision != rule.None {
			t.Errorf("%q: %s", c, v.Decision)
		}
	}
	asked := 0
	for _, c := range good {
		if v := s.Decide(ofShell(c)); v.Decision != rule.Allow || !v.Parsed {
			asked++
			t.Logf("asked: %s", c)
		}
		if v := (rule.Set{}).Decide(ofShell(c)); v.Decision != rule.None {
			t.Errorf("%q: %s without rules", c, v.Decision)
		}
	}
	if asked > 7 {
		t.Errorf("%d of %d harmless commands ask", asked, len(good))
	}
}

func TestDenyGoesOverAskAndAskOverAllow(t *testing.T) {
	s := append(commands("git", "make"),
		rule.Rule{Tool: "shell", Command: "git commit", Decision: rule.Ask},
		rule.Rule{Tool: "shell", Command: "git push", Decision: rule.Deny, Reason: "people push"},
		rule.Rule{Tool: "shell", Decision: rule.Allow})
	for command, want := range map[string]rule.Decision{
		"git fetch": rule.Allow, "git commit -m x": rule.Ask, "git push": rule.Deny, "make && git push origin": rule.Deny, "git commit; git push": rule.Deny,
		"git -C . push": rule.Ask, "env git push": rule.Ask, "bash -c 'git push'": rule.Ask, "echo $(git push)": rule.Ask, "(git push)": rule.Ask, "ls": rule.Allow,
	} {
		if v := s.Decide(ofShell(command)); v.Decision != want {
			t.Errorf("%s: %s, want %s", command, v.Decision, want)
		}
	}
	if v := s.Decide(ofShell("git push")); v.Why != "people push" {
		t.Errorf("the reason: %q", v.Why)
	}
}

func TestPathsAndArguments(t *testing.T) {
	s := rule.Set{
		{Tool: "edit_block", Paths: []string{"src/**", "*.md"}, Decision: rule.Allow},
		{Tool: "*", Paths: []string{"**/secret*"}, Decision: rule.Deny},
		{Tool: "db_*", Args: map[string]string{"sql": "/^(?i:select) [^;]*$/", "limit": "1*"}, Decision: rule.Allow},
		{Tool: "db_query", Args: map[string]string{"sql": "*password*"}, Decision: rule.Ask},
		{Tool: "elsewhere", Root: "/src/other", Decision: rule.Allow},
	}
	for _, tt := range []struct {
		tool  string
		paths string
		args  string
		want  rule.Decision
	}{
		{"edit_block", "src/a/b.go", "", rule.Allow}, {"edit_block", "README.md", "", rule.Allow}, {"edit_block", "doc/README.md", "", rule.None},
		{"edit_block", "src/a.go go.mod", "", rule.None}, {"edit_block", "", "", rule.None}, {"write_file", "src/a.go", "", rule.None},
		{"edit_block", "src/a.go src/secrets.go", "", rule.Deny}, {"read_file", "a/secret", "", rule.Deny},
		{"db_query", "", `{"sql":"SELECT 1","limit":10}`, rule.Allow}, {"db_query", "", `{"sql":"SELECT 1; DROP TABLE a","limit":10}`, rule.None},
		{"db_query", "", `{"sql":"SELECT 1"}`, rule.None}, {"db_query", "", `{"sql":"select password","limit":1}`, rule.Ask}, {"elsewhere", "", "{}", rule.None},
	} {
		q := rule.Query{Tool: tt.tool, Paths: strings.Fields(tt.paths), Args: json.RawMessage(tt.args), Root: "/src/repo"}
		if v := s.Decide(q); v.Decision != tt.want {
			t.Errorf("%s %s %s: %s, want %s", tt.tool, tt.paths, tt.args, v.Decision, tt.want)
		}
		q.Repaired = true
		if v := s.Decide(q); v.Decision != tt.want && tt.want != rule.Allow || v.Decision == rule.Allow {
			t.Errorf("%s, repaired: %s", tt.tool, v.Decision)
		}
	}
}

// A tool that has to be named is allowed by its very name alone.
func TestAPatternAllowsNoToolThatMustBeNamed(t *testing.T) {
	q := rule.Query{Tool: "shell", Named: true, Command: "ls", Root: "/r"}
	for tool, want := range map[string]rule.Decision{"sh*": rule.None, "shell": rule.Allow} {
		if v := (rule.Set{{Tool: tool, Decision: rule.Allow}}).Decide(q); v.Decision != want {
			t.Errorf("%s: %s", tool, v.Decision)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, r := range map[string]rule.Rule{
		"names no tool":            {Decision: rule.Ask},
		"decides nothing":          {Tool: "shell"},
		"cannot allow every tool":  {Tool: "*", Decision: rule.Allow},
		"without a path":           {Tool: "shell", Command: "./x", Decision: rule.Allow},
		"args.a: /(/":              {Tool: "t", Args: map[string]string{"a": "/(/"}, Decision: rule.Ask},
		`paths: "[" is no pattern`: {Tool: "t", Paths: []string{"["}, Decision: rule.Ask},
	} {
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// What "always" stands for: the program and its sub-command, of programs that
// change things or run others the very words.
func TestAlways(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./... -run X": "go test", "git status && ls -l | head": "git status, ls, head", "npm run build -- --x": "npm run build", "pytest -q": "pytest",
		"python3 -m pytest tests": "python3 -m pytest", "rm -rf build": "rm -rf build $", "bash run.sh": "bash run.sh $", "make -j4": "make -j4 $", "cd sub && make test": "make test",
		"echo $HOME": "", "./run": "", "ls > x": "", "rg --pre x y": "", "cat /etc/passwd": "", "rm '*'": "", "cat 'a b'": "cat", "rm 'a b'": "", "sleep 1 &": "", "cd sub": "",
	} {
		rules, ok := rule.Always(command, "/src/repo")
		var words []string
		for _, r := range rules {
			words = append(words, r.Command)
		}
		if got := strings.Join(words, ", "); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v; want %q", command, got, ok, want)
		}
	}
	s, _ := rule.Always("rm -rf build", "/r")
	if v := rule.Set(s).Decide(rule.Query{Tool: "shell", Named: true, Command: "rm -rf build src", Root: "/r"}); v.Decision != rule.None {
		t.Errorf("rm of more: %s", v.Decision)
	}
}

// What is run is written anew from what was read.
func TestText(t *testing.T) {
	find := func(p string) (string, error) {
		if p == "absent" {
			return "", fmt.Errorf("%s is not installed", p)
		}
		return "/usr/bin/" + p, nil
	}
	for command, want := range map[string]string{
		`git log "--format=%h 'x'" a\ b 2>&1 | head -5; ls`: `'/usr/bin/git' '-c' 'core.fsmonitor=false' 'log' '--no-ext-diff' '--no-textconv' '--format=%h '\''x'\''' 'a b' 2>&1 | '/usr/bin/head' '-5'; '/usr/bin/ls'`,
		"git status && git commit -m x":                     `'/usr/bin/git' '-c' 'core.fsmonitor=false' 'status' && '/usr/bin/git' 'commit' '-m' 'x'`,
		"cd 'a b' && go test || ls >/dev/null # done":       `cd -- 'a b' && '/usr/bin/go' 'test' || '/usr/bin/ls' >/dev/null`,
		"ls\ncat \"a\\$b\"":                                 `'/usr/bin/ls'; '/usr/bin/cat' 'a$b'`,
	} {
		s, err := rule.Parse(command)
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		if got, err := s.Text(find); got != want || err != nil {
			t.Errorf("%s:\n%s\n%s %v", command, got, want, err)
		}
	}
	s, err := rule.Parse("ls && absent x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Text(find); err == nil || !strings.Contains(err.Error(), "absent is not installed") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range []string{"ls | head", "a && b; c 2>&1", `x "a\"b" 'c'`, "cd a && b", "(", "$x", "a\\\nb"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		s, err := rule.Parse(command)
		if err != nil {
			return
		}
		text, err := s.Text(func(p string) (string, error) { return "/bin/" + p, nil })
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(command, 0) {
			return
		}
		// Without the paths it must be read as it was.
		if strings.Contains(command, "git") {
			return // it becomes careful
		}
		again, err := rule.Parse(strings.NewReplacer("'/bin/", "'", "cd -- ", "cd ").Replace(text))
		if err != nil || fmt.Sprint(again.Commands()) != fmt.Sprint(s.Commands()) && !strings.Contains(command, "/bin/") && !strings.Contains(command, "cd -- ") {
			t.Fatalf("%q became %q: %v", command, text, err)
		}
	})
}
