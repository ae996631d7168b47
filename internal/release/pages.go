package release

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shells are the shells with completions, and the names of the files that they look for.
var shells = []struct{ name, file string }{{"bash", "%s.bash"}, {"zsh", "_%s"}, {"fish", "%s.fish"}, {"powershell", "%s.ps1"}}

// Pages returns the manual pages and completions, as the programs describe themselves.
// run runs a program and returns its output; dir is an empty folder.
func Pages(run func(program string, args ...string) (string, error), dir string) ([]File, error) {
	if _, err := run("bx", "man", "--dir", dir); err != nil {
		return nil, err
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(made) == 0 {
		return nil, fmt.Errorf("release: bx man --dir %s wrote no pages: %w", dir, err)
	}
	var files []File
	for _, file := range made {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		files = append(files, File{"man/" + filepath.Base(file), 0o644, body})
	}
	text, err := run("te", "--help")
	if err != nil {
		return nil, err
	}
	help, err := readHelp("te", text)
	if err != nil {
		return nil, err
	}
	files = append(files, File{"man/te.1", 0o644, []byte(help.man())})
	for _, s := range shells {
		out, err := run("bx", "completion", s.name)
		if err != nil {
			return nil, err
		}
		files = append(files,
			File{"completions/" + fmt.Sprintf(s.file, "bx"), 0o644, []byte(out)},
			File{"completions/" + fmt.Sprintf(s.file, "te"), 0o644, []byte(help.completion(s.name))})
	}
	return files, nil
}

// under returns the files in a folder.
func under(dir string, files []File) (out []File) {
	for _, f := range files {
		if strings.HasPrefix(f.Name, dir+"/") {
			out = append(out, f)
		}
	}
	return out
}
