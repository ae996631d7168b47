package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/git"
)

// repository makes a repository with two commits and a change.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "a.txt", "one\n")
	write(t, root, "sub/b.go", "package b\n")
	run(t, root, "init", "-q", "-b", "main")
	run(t, root, "add", ".")
	run(t, root, "commit", "-q", "-m", "First commit")
	write(t, root, "a.txt", "one\ntwo\n")
	run(t, root, "commit", "-q", "-a", "-m", "Second commit")
	write(t, root, "a.txt", "one\ntwo\nthree\n")
	write(t, root, "new.txt", "new\n")
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	at := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, root string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = root
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func open(t *testing.T, root string) *git.Repo {
	t.Helper()
	r, err := git.Open(t.Context(), root, os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// answers asks everything there is to ask.
func answers(t *testing.T, r *git.Repo) map[string]string {
	t.Helper()
	out := map[string]string{}
	keep := func(name string) func(string, error) {
		return func(text string, err error) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			out[name] = text
		}
	}
	ctx := t.Context()
	keep("status")(r.Status(ctx, "."))
	keep("diff")(r.Diff(ctx, "", false, "."))
	keep("staged")(r.Diff(ctx, "", true, "."))
	keep("range")(r.Diff(ctx, "HEAD~1..HEAD", false, "."))
	keep("log")(r.Log(ctx, "", 10, "."))
	keep("show")(r.Show(ctx, "", "."))
	keep("blame")(r.Blame(ctx, "", "a.txt", 1, 100))
	return out
}

func TestAnswers(t *testing.T) {
	got := answers(t, open(t, repository(t)))
	for name, want := range map[string][]string{
		"status": {"## main", " M a.txt", "?? new.txt"},
		"diff":   {"+three", "a/a.txt"}, "range": {"+two"},
		"log": {"First commit", "Second commit", "Ann"}, "show": {"Second commit", "+two"},
		"blame": {"Ann", "two", "Not Committed Yet"},
	} {
		for _, w := range want {
			if !strings.Contains(got[name], w) {
				t.Errorf("%s lacks %q:\n%s", name, w, got[name])
			}
		}
	}
	if got["staged"] != "" {
		t.Errorf("nothing is staged, and yet: %s", got["staged"])
	}
}

// Every setting and attribute by which a repository can name a program names
// one that leaves a mark.
func TestNoProgramOfTheRepositoryStarts(t *testing.T) {
	root := repository(t)
	mark := filepath.Join(t.TempDir(), "mark")
	write(t, root, "evil", "#!/bin/sh\necho \"$0 $@\" >> "+mark+"\ncat\n")
	evil := filepath.Join(root, "evil")
	write(t, root, ".gitattributes", "* filter=evil diff=evil\n*.txt filter=evil diff=evil merge=evil\n")
	write(t, root, ".git/info/attributes", "*.txt filter=evil2 diff=evil\n")
	for _, h := range []string{"post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction", "post-checkout"} {
		write(t, root, ".git/hooks/"+h, "#!/bin/sh\n"+evil+"\n")
	}
	write(t, root, ".git/more", "[core]\n\tfsmonitor = "+evil+"\n[filter \"evil2\"]\n\tclean = "+evil+"\n\trequired = true\n")
	for _, s := range [][2]string{
		{"core.fsmonitor", evil}, {"core.hooksPath", root}, {"diff.external", evil}, {"diff.evil.command", evil}, {"diff.evil.textconv", evil},
		{"diff.evil.cachetextconv", "true"}, {"core.pager", evil}, {"pager.log", evil}, {"pager.diff", evil}, {"pager.status", evil},
		{"filter.evil.clean", evil}, {"filter.evil.smudge", evil}, {"filter.evil.process", evil}, {"filter.evil.required", "true"},
		{"core.sshCommand", evil}, {"core.askPass", evil}, {"core.editor", evil}, {"sequence.editor", evil}, {"gpg.program", evil}, {"gpg.ssh.program", evil},
		{"log.showSignature", "true"}, {"credential.helper", evil}, {"core.alternateRefsCommand", evil}, {"alias.status", "!" + evil},
		{"alias.diff", "!" + evil}, {"interactive.diffFilter", evil}, {"remote.origin.url", "ext::" + evil}, {"remote.origin.promisor", "true"},
		{"remote.origin.vcs", "ext"}, {"protocol.ext.allow", "always"}, {"uploadpack.packObjectsHook", evil}, {"core.worktree", "/"},
		{"include.path", "more"}, {"merge.evil.driver", evil}, {"core.gitProxy", evil},
	} {
		run(t, root, "config", s[0], s[1])
	}
	write(t, root, "a.txt", "one\ntwo\nfour\n")
	got := answers(t, open(t, root))
	if b, err := os.ReadFile(mark); err == nil {
		t.Errorf("programs of the repository ran:\n%s", b)
	}
	if !strings.Contains(got["diff"], "+four") {
		t.Errorf("the difference is gone: %s", got["diff"])
	}
	// The trap works: plain git falls into it.
	c := exec.Command("git", "--work-tree="+root, "status")
	c.Dir = root
	_ = c.Run()
	if _, err := os.Stat(mark); err != nil {
		t.Error("git itself starts none of the programs: this test shows nothing")
	}
}

func TestWordsAreNoOptions(t *testing.T) {
	root := repository(t)
	r := open(t, root)
	out := filepath.Join(root, "out")
	for _, word := range []string{"--output=" + out, "-O" + out, "--no-index", "--ext-diff", "-h", "HEAD --output=" + out, "HEAD\n--output=" + out, "..--output=" + out, "--all", "HEAD:../../etc/passwd", "\x00"} {
		for name, err := range map[string]error{
			"diff": second(r.Diff(t.Context(), word, false, ".")), "log": second(r.Log(t.Context(), word, 1, ".")),
			"show": second(r.Show(t.Context(), word, ".")), "blame": second(r.Blame(t.Context(), word, "a.txt", 1, 2)),
		} {
			if err == nil || !strings.Contains(err.Error(), "unknown revision") {
				t.Errorf("%s %q: %v, want it to be no revision", name, word, err)
			}
		}
	}
	for _, path := range []string{"--output=" + out, ":(exclude)a.txt", ":/a.txt", "*.txt"} {
		text, err := r.Diff(t.Context(), "", false, path)
		if err == nil && text != "" {
			t.Errorf("diff of the path %q: %q, want it taken literally", path, text)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
}

func second(_ string, err error) error { return err }

func TestSecretsAreNotInDifferences(t *testing.T) {
	root := repository(t)
	write(t, root, ".env", "KEY=hush\n")
	write(t, root, "sub/server.PEM", "hush\n")
	run(t, root, "add", "-f", ".env", "sub/server.PEM")
	run(t, root, "commit", "-q", "-m", "Keys")
	r := open(t, root)
	show, err := r.Show(t.Context(), "HEAD", ".")
	if err != nil || strings.Contains(show, "hush") || !strings.Contains(show, "Keys") {
		t.Errorf("%v, %s", err, show)
	}
	if text, err := r.Diff(t.Context(), "HEAD~1..HEAD", false, ".env"); err != nil || strings.Contains(text, "hush") {
		t.Errorf("%v, %s", err, text)
	}
}

// A repository out of an archive may point at another one on this machine.
func TestAnotherRepositoryIsNotShown(t *testing.T) {
	private := repository(t)
	forms := map[string]func(root string) error{
		"file": func(root string) error {
			return os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: "+private+"/.git\n"), 0o666)
		},
		"link": func(root string) error {
			return os.Symlink(filepath.Join(private, ".git"), filepath.Join(root, ".git"))
		},
		"common":  func(root string) error { return with(root, "commondir", private+"/.git") },
		"refs":    func(root string) error { return linked(root, private, "refs/heads") },
		"ref":     func(root string) error { return linked(root, private, "refs/heads/main") },
		"objects": func(root string) error { return linked(root, private, "objects") },
		"head":    func(root string) error { return linked(root, private, "HEAD") },
		"inside": func(root string) error {
			return errors.Join(with(root, "x/gitdir", filepath.Join(root, ".git")), os.Rename(filepath.Join(root, ".git"), filepath.Join(root, "moved")),
				os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: moved/x\n"), 0o666))
		},
	}
	for name, form := range forms {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if name != "file" && name != "link" {
			run(t, root, "init", "-q", "-b", "main")
		}
		if err := form(root); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := git.Open(t.Context(), root, os.Getenv("PATH")); !errors.Is(err, git.ErrForeign) {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
	if _, err := git.Open(t.Context(), t.TempDir(), os.Getenv("PATH")); !errors.Is(err, git.ErrNone) {
		t.Errorf("no repository: %v", err)
	}
	tree := filepath.Join(t.TempDir(), "tree")
	run(t, private, "worktree", "add", "-q", tree)
	if got, err := open(t, tree).Log(t.Context(), "", 5, "."); err != nil || !strings.Contains(got, "First commit") {
		t.Errorf("a worktree of one's own: %v, %s", err, got)
	}
}

func with(root, name, text string) error {
	at := filepath.Join(root, ".git", name)
	return errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text+"\n"), 0o666))
}

func linked(root, private, name string) error {
	at := filepath.Join(root, ".git", name)
	return errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o777), os.Symlink(filepath.Join(private, ".git", name), at))
}

func TestGitIsNotTakenFromTheRepository(t *testing.T) {
	root := repository(t)
	write(t, root, "bin/git", "#!/bin/sh\ntouch "+root+"/ran\n")
	for _, path := range [][]string{{filepath.Join(root, "bin")}, {"bin"}, {"."}, {""}} {
		if _, err := git.Open(t.Context(), root, strings.Join(path, string(filepath.ListSeparator))); err == nil {
			t.Errorf("PATH %q: want no git", path)
		}
	}
	path := slices.Concat([]string{filepath.Join(root, "bin")}, filepath.SplitList(os.Getenv("PATH")))
	if _, err := git.Open(t.Context(), root, strings.Join(path, string(filepath.ListSeparator))); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("the repository's own git ran")
	}
}

func Example() {
	_, err := git.Open(context.Background(), os.TempDir()+"/none", "/usr/bin")
	fmt.Println(err)
	// Output: no git repository begins here
}
