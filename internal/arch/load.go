package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// listed is what "go list -json" says of a package.
type listed struct {
	Dir, ImportPath, Name string
	Module                struct{ Path string }

	GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
}

// Load reads the module in dir: every package of "go list ./..." with the
// files of other systems, and the documents that laws speak of.
func Load(dir string) (*House, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	packages, err := list(dir)
	if err != nil {
		return nil, err
	}
	sources := map[string]string{}
	for _, p := range packages {
		if err := p.read(dir, sources); err != nil {
			return nil, err
		}
	}
	for _, doc := range []string{"ARCHITECTURE.md"} {
		if b, err := os.ReadFile(filepath.Join(dir, doc)); err == nil {
			sources[doc] = string(b)
		}
	}
	h, err := Parse(packages[0].Module.Path, sources)
	if err != nil {
		return nil, err
	}
	h.Golden, err = goldenLines(dir)
	return h, err
}

func list(dir string) (packages []listed, err error) {
	cmd := exec.Command("go", "list", "-e", "-json=Dir,ImportPath,Name,Module,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", "./...")
	var failed bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("arch: go list in %s: %w: %s", dir, err, failed.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("arch: go list: %w", err)
		}
		packages = append(packages, p)
	}
	if len(packages) == 0 || packages[0].Module.Path == "" {
		return nil, fmt.Errorf("arch: go list found no module in %s", dir)
	}
	return packages, nil
}

// read adds the package's files to sources, by their names below root.
func (p listed) read(root string, sources map[string]string) error {
	dir, err := filepath.Rel(root, p.Dir)
	if err != nil {
		return err
	}
	for _, names := range [][]string{p.GoFiles, p.CgoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles} {
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			sources[path.Join(filepath.ToSlash(dir), name)] = string(b)
		}
	}
	return nil
}

// goldenLines counts the lines of all files in folders named testdata.
func goldenLines(root string) (n int, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !d.Type().IsRegular() || !strings.Contains(filepath.ToSlash(path), "/testdata/"):
			return nil
		}
		b, err := os.ReadFile(path)
		n += bytes.Count(b, []byte{'\n'})
		return err
	})
	return n, err
}
