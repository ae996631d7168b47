package search

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Rules and trees are drawn; git itself says which files are left.
func TestIgnoreRulesAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: TestListAgreesWithGit has what it said of the recorded cases")
	}
	names := rapid.SampledFrom([]string{"a", "b", "ab", "a.o", "b.o", "x y", "[a]", "a*", "é", "A", "a-b", "#a", "!a"})
	rules := rapid.SampledFrom([]string{"a", "/a", "a/", "*.o", "!a.o", "a/b", "**/b", "a/**", "a/**/b", "/**/ab", "*", "!*/", "!b", "[ab]", "[!a]", "[a-b]", `\!a`,
		`\#a`, "#a", "a*", "a?", "?", "a/*", "!a/b", "ab/", "/*", "!/a", "**", "**/", "a**", "*b*", "[[:upper:]]", "[]a]", `[\]a]`, `[a\-b]*`, `\a`, `a\*`, "x y ", `x y\ `, "é", "[é]",
		"/a/b/", "*/b", "b/*.o", "**/a/b", "a[", "", " ", "!", "/", "{a,b}"})
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		for range rapid.IntRange(1, 12).Draw(rt, "files") {
			files[strings.Join(rapid.SliceOfN(names, 1, 3).Draw(rt, "path"), "/")+".f"] = "x"
			files[strings.Join(rapid.SliceOfN(names, 1, 3).Draw(rt, "path"), "/")+"/"+names.Draw(rt, "name")+"/f"] = "x"
		}
		for _, dir := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "a/", "a/b/"}), 1, 2).Draw(rt, "dirs") {
			files[dir+".gitignore"] = strings.Join(rapid.SliceOfN(rules, 0, 4).Draw(rt, "rules"), "\n") + "\n"
		}
		root := tree(t, files)
		if d := cmp.Diff(gitFiles(t, git, root.Name()), paths(t, root, Options{All: true}), cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("%q\ngit lists -, List lists +\n%s", files, d)
		}
	})
}
