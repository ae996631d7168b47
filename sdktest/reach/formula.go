package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed formula.rb
var formulaRunner string

// formula has Ruby read the formula and run its install and its test, with stubs of
// Homebrew's words in place of Homebrew.
func (w *world) formula() error {
	ruby, err := tool("ruby", "apt-get install ruby")
	if err != nil {
		return err
	}
	dir, err := w.folder("formula")
	if err != nil {
		return err
	}
	from, err := w.unpack(dir)
	if err != nil {
		return err
	}
	prefix := filepath.Join(dir, "prefix")
	runner := filepath.Join(dir, "run.rb")
	if err := os.WriteFile(runner, []byte(formulaRunner), 0o644); err != nil {
		return err
	}
	out, err := w.do(from, ruby, runner, w.file("bx.rb"), prefix)
	if err != nil {
		return err
	}
	for _, a := range []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"} {
		archive := w.platform(a, ".tar.gz")
		if _, err := os.Stat(archive); err != nil {
			continue
		}
		sum, err := w.do(w.dist, "sha256sum", filepath.Base(archive))
		if err != nil {
			return err
		}
		hash, name, _ := strings.Cut(strings.TrimSpace(sum), "  ")
		if !strings.Contains(out, "/v"+w.version+"/"+name+" "+hash+"\n") {
			return fmt.Errorf("the formula has no %s of hash %s:\n%s", name, hash, out)
		}
	}
	return w.first(place{home: dir, bx: []string{prefix + "/bin/bx"}, te: []string{prefix + "/bin/te"}, path: "/usr/bin:/bin"})
}
