package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store/handle"
)

// shellSet is a set with a shell, in a home folder of its own.
func shellSet(t *testing.T) (s *Set, root string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(home, "repo")
	write(t, root, "a.txt", "one\n")
	write(t, root, ".git/config", "")
	write(t, home, ".ssh/id_rsa", "hush")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Root: root, UndoDir: filepath.Join(home, "undo"), Results: handle.Open("", time.Now),
		Shell: &Shell{Self: self, Env: append(os.Environ(), "AWS_SECRET_KEY=hush", "SSH_AUTH_SOCK=/tmp/x"), Home: home, Cache: filepath.Join(home, "cache")}}
	s = open(t, c)
	if err := s.Sandboxed(t.Context()); err != nil {
		t.Skipf("the system does not let anybody make namespaces: %v", err)
	}
	return s, root
}

func sh(t *testing.T, s *Set, command string) utp.Result {
	t.Helper()
	args, err := json.Marshal(map[string]any{"command": command, "timeout": 100})
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(t.Context(), utp.Call{Name: "shell", Args: args})
}

func TestShell(t *testing.T) {
	s, root := shellSet(t)
	for command, want := range map[string]string{
		"cat a.txt":                      "exit code 0, ",
		"echo out; echo err >&2; exit 3": "exit code 3, ",
		"printf '\\033[31mred\\033[0m\\n10%%\\r20%%\\n'": "\nred\n20%",
		"kill -9 $$": "exit code 137 (signal 9)",
		"cat":        "(no output)",
		"env":        "PATH=",
		"true":       "(no output)",
	} {
		r := sh(t, s, command)
		if r.Status != utp.StatusOK || !strings.Contains(r.Text(), want) || strings.Contains(r.Text(), "hush") || strings.Contains(r.Text(), "SSH_AUTH_SOCK") {
			t.Errorf("%s: %s %q, want %q", command, r.Status, r.Text(), want)
		}
	}
	if r := sh(t, s, "cat ../.ssh/id_rsa; echo x > ../outside; echo x > bx.toml; echo x > .git/hooks; ls"); strings.Contains(r.Text(), "hush") ||
		!strings.Contains(r.Text(), "removed again, as a command must not make it: .git/hooks, bx.toml") {
		t.Errorf("%q", r.Text())
	}
	for _, name := range []string{"bx.toml", ".git/hooks", "../outside"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if r := run(s, "shell", `{"command":"true","network":true}`); r.Status != utp.StatusDenied || !strings.Contains(r.Text(), "it gets the network") {
		t.Errorf("the network without a yes: %s %q", r.Status, r.Text())
	}
}

func TestShellEndsAtItsTime(t *testing.T) {
	s, _ := shellSet(t)
	start := time.Now()
	r := run(s, "shell", `{"command":"echo begun; (sleep 100; echo late) & sleep 100","timeout":1}`)
	if !strings.HasPrefix(r.Text(), "ended after 1 s, the time it had") || !strings.Contains(r.Text(), "begun") {
		t.Errorf("%q", r.Text())
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestOfMuchOutputHeadAndTailAreShown(t *testing.T) {
	s, _ := shellSet(t)
	r := sh(t, s, "seq 1 100000")
	text := r.Text()
	if len(text) > DefaultMaxResult || !strings.Contains(text, "\n1\n2\n") || !strings.HasSuffix(text, "\n99999\n100000") {
		t.Fatalf("%d bytes: %.200q … %q", len(text), text, text[max(len(text)-100, 0):])
	}
	_, rest, ok := strings.Cut(text, "read_result with handle=")
	if !ok {
		t.Fatalf("no handle in %q", text)
	}
	id, _, _ := strings.Cut(rest, " ")
	r = run(s, "read_result", fmt.Sprintf(`{"handle":%q,"lines":"50000-50001"}`, id))
	if !strings.HasPrefix(r.Text(), id+": lines 50000-50001 of 100000\n50000\n50001") {
		t.Errorf("%q", r.Text())
	}
	other := open(t, Config{Root: t.TempDir(), Results: s.config.Results})
	if r := run(other, "read_result", fmt.Sprintf(`{"handle":%q}`, id)); !strings.Contains(r.Text(), "no such result") {
		t.Errorf("from another root: %q", r.Text())
	}
	if r := sh(t, s, "head -c 12000000 /dev/zero | tr '\\0' x"); !strings.Contains(r.Text(), "were not kept") {
		t.Errorf("%.300q", r.Text())
	}
}

func TestWhatACommandChangedIsUndone(t *testing.T) {
	s, root := shellSet(t)
	write(t, root, "sub/b.txt", "b\n")
	write(t, root, "keep.txt", "keep\n")
	end := s.Turn(func() string { return "1a2b" })
	if r := sh(t, s, "echo two >> a.txt; rm -r sub; mkdir -p new/deep; echo n > new/deep/n.txt; chmod 600 keep.txt"); !strings.HasPrefix(r.Text(), "exit code 0") {
		t.Fatal(r.Text())
	}
	if r := run(s, "edit_block", `{"path":"new/deep/n.txt","old_text":"n","new_text":"m"}`); r.Status != utp.StatusOK {
		t.Fatal(r.Text())
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	store, err := s.Undo()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := store.Undo(false); err != nil || len(r.Left) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	info, err := os.Stat(filepath.Join(root, "keep.txt"))
	if read(t, root, "a.txt") != "one\n" || read(t, root, "sub/b.txt") != "b\n" || err != nil || info.Mode().Perm() == 0o600 {
		t.Errorf("%q, %v, %v", read(t, root, "a.txt"), info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(root, "new")); err == nil {
		t.Error("new is still there")
	}
}

// A task as people have it: the tests of a repository are run, offline, with
// the tools of the machine.
func TestTestsOfALanguageRun(t *testing.T) {
	s, root := shellSet(t)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skipf("go is not installed: %v", err)
	}
	at := strings.TrimSpace(string(cache))
	s.config.Shell.Write = append(s.config.Shell.Write, at)
	test := "GOTOOLCHAIN=local GOCACHE=" + at + " go test -vet=off ./..."
	write(t, root, "go.mod", "module example.com/m\n\ngo 1.22\n")
	write(t, root, "m_test.go", "package m\n\nimport \"testing\"\n\nfunc Test(t *testing.T) {\n\tif 1+1 != 3 {\n\t\tt.Error(\"wrong sum\")\n\t}\n}\n")
	r := sh(t, s, test)
	if !strings.Contains(r.Text(), "wrong sum") || !strings.HasPrefix(r.Text(), "exit code 1") {
		t.Fatalf("%q", r.Text())
	}
	if r := run(s, "edit_block", `{"path":"m_test.go","old_text":"!= 3","new_text":"!= 2"}`); r.Status != utp.StatusOK {
		t.Fatal(r.Text())
	}
	if r := sh(t, s, test); !strings.HasPrefix(r.Text(), "exit code 0") || !strings.Contains(r.Text(), "ok") {
		t.Errorf("%q", r.Text())
	}
}

// A command that a rule allowed runs from what the rule read: with programs from
// outside of the repository, whatever has their names in it.
func TestAnAllowedCommandRunsFromItsParse(t *testing.T) {
	s, root := shellSet(t)
	write(t, root, "bin/cat", "#!/bin/sh\necho hijacked\n")
	if err := os.Chmod(filepath.Join(root, "bin/cat"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, v := range s.config.Shell.Env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			s.config.Shell.Env[i] = "PATH=" + filepath.Join(root, "bin") + ":.:bin:" + list
		}
	}
	simple := func(command string) utp.Result {
		args, err := json.Marshal(map[string]any{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return s.Run(Simple(t.Context()), utp.Call{Name: "shell", Args: args})
	}
	if r := simple("cat a.txt | head -1 2>/dev/null && cd bin && ls"); r.Status != utp.StatusOK || !strings.HasSuffix(r.Text(), "one\ncat") {
		t.Errorf("%s %q", r.Status, r.Text())
	}
	for command, want := range map[string]string{
		"cat a.txt > b": "redirects to or from a file", "echo $HOME": "expands", "no-such-program-here x": "no program no-such-program-here outside of the repository",
		"cat .env": ".env may hold keys", "cat a --file=x/id_rsa": "may hold keys",
	} {
		if r := simple(command); r.Status != utp.StatusDenied || !strings.Contains(r.Text(), want) {
			t.Errorf("%s: %s %q", command, r.Status, r.Text())
		}
	}
	if _, err := os.Stat(filepath.Join(root, "b")); err == nil {
		t.Error("a file was written")
	}
}

// What only looks at a repository starts no program that the repository names,
// when a rule allowed it.
func TestGitThatARuleAllowsStartsNothing(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("git is not installed: %v", err)
	}
	s, root := shellSet(t)
	if out, err := exec.Command("sh", "-c", "cd "+root+` && rm -rf .git && git init -q . && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm one && echo two >> a.txt &&
		printf '#!/bin/sh\necho ran >> '"$PWD"'/ran; cat "$2" 2>/dev/null\n' > evil && chmod 755 evil && echo '*.txt diff=evil' > .gitattributes &&
		git config core.fsmonitor "$PWD/evil" && git config diff.external "$PWD/evil" && git config diff.evil.textconv "$PWD/evil" && git config core.pager "$PWD/evil"`).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, command := range []string{"git status", "git diff", "git log -p", "git show", "git diff --stat && git status -s"} {
		args, err := json.Marshal(map[string]any{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if r := s.Run(Simple(t.Context()), utp.Call{Name: "shell", Args: args}); r.Status != utp.StatusOK || !strings.HasPrefix(r.Text(), "exit code 0") {
			t.Errorf("%s: %s %q", command, r.Status, r.Text())
		}
		if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
			t.Fatalf("%s started a program that the repository names", command)
		}
	}
	if r := sh(t, s, "git diff"); !strings.Contains(r.Text(), "exit code") {
		t.Fatal(r.Text())
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err != nil {
		t.Error("the repository's programs would not have started anyway: this proves nothing")
	}
}
