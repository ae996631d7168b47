package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/te"
)

// languages are what definitions look like, written without a look at the
// searcher. Group 1 is the name.
var languages = map[string]*regexp.Regexp{
	".go": regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const )([A-Za-z_]\w{4,})\b`),
	".py": regexp.MustCompile(`(?m)^(?:    )?(?:async )?(?:def|class) ([A-Za-z_]\w{4,})\b`),
	".js": regexp.MustCompile(`(?m)^(?:export )?(?:default )?(?:async )?(?:function\*?|class|const|let|var) ([A-Za-z_$][\w$]{4,})\b`),
	".ts": regexp.MustCompile(`(?m)^(?:export )?(?:declare )?(?:default )?(?:abstract )?(?:async )?(?:function|class|interface|type|enum|const) ([A-Za-z_$][\w$]{4,})\b`),
}

// question is a name with one definition in a tree, and where that stands.
type question struct{ dir, name, file, line string }

// reader measures a reader that sees nothing but the envelope of te grep: how
// often the definition of a name that stands in at least twenty lines is among
// what it is shown, for how many of plain grep's tokens. Arguments are trees;
// of the names in each, a hash chooses a hundred in all, every second one held back.
func reader(w io.Writer, dirs []string) error {
	if len(dirs) == 0 {
		return errors.New("te: want folders to search: te /usr/local/go/src …")
	}
	bin, err := os.MkdirTemp("", "te")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	bin = filepath.Join(bin, "te")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/te").CombinedOutput(); err != nil {
		return fmt.Errorf("te: %w: %s", err, out)
	}
	var all []question
	for _, dir := range dirs {
		q, err := questions(bin, dir, 100/len(dirs)+1)
		if err != nil {
			return err
		}
		all = append(all, q...)
	}
	all = all[:min(len(all), 100)]
	for half, name := range []string{"first half", "held back"} {
		found, shown, plain := 0, 0, 0
		for i, q := range all {
			if i%2 != half {
				continue
			}
			ok, a, b, err := ask(bin, q)
			if err != nil {
				return err
			}
			if !ok {
				fmt.Fprintf(w, "  not shown: %s in %s (%s:%s)\n", q.name, q.dir, q.file, q.line)
			} else {
				found++
			}
			shown, plain = shown+a, plain+b
		}
		fmt.Fprintf(w, "%s: %d of %d found, %d of %d tokens (%.1f %%)\n", name, found, len(all)/2, shown, plain, 100*float64(shown)/float64(max(plain, 1)))
	}
	return nil
}

// questions chooses n names that are defined once in dir.
func questions(bin, dir string, n int) (out []question, err error) {
	defined := map[string][]question{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		re := languages[filepath.Ext(path)]
		if re == nil || !d.Type().IsRegular() || strings.Contains(path, "test") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		for _, m := range re.FindAllSubmatchIndex(src, -1) {
			name := string(src[m[2]:m[3]])
			line := fmt.Sprint(1 + strings.Count(string(src[:m[2]]), "\n"))
			defined[name] = append(defined[name], question{dir, name, filepath.ToSlash(rel), line})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var once []question
	for _, d := range defined {
		if len(d) == 1 {
			once = append(once, d[0])
		}
	}
	slices.SortFunc(once, func(a, b question) int {
		return cmp.Or(cmp.Compare(hash(a.name), hash(b.name)), strings.Compare(a.name, b.name))
	})
	for _, q := range once {
		if len(out) == n {
			break
		}
		plain, err := outputOf(bin, q.dir, "--raw", "grep", "-w", "-c", q.name)
		if err != nil {
			return nil, err
		}
		total := 0
		for line := range strings.Lines(plain) {
			var k int
			fmt.Sscan(line[strings.LastIndexByte(line, ':')+1:], &k)
			total += k
		}
		if total >= 20 {
			out = append(out, q)
		}
	}
	return out, nil
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func ask(bin string, q question) (found bool, shown, plain int, err error) {
	out, err := outputOf(bin, q.dir, "grep", "-w", q.name)
	if err != nil {
		return false, 0, 0, err
	}
	raw, err := outputOf(bin, q.dir, "--raw", "grep", "-w", "-n", q.name)
	if err != nil {
		return false, 0, 0, err
	}
	e, err := te.Parse(out)
	if err != nil {
		return false, 0, 0, fmt.Errorf("%s: %w", q.name, err)
	}
	found = slices.ContainsFunc(e.Matches, func(m te.Match) bool { return m.Path == q.file && fmt.Sprint(m.N) == q.line })
	return found, utp.Tokens(out), utp.Tokens(raw), nil
}

func outputOf(bin, dir string, args ...string) (string, error) {
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	return string(out), err
}
