package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The Python package over this bx, by its own tests: every case of the grammars whole
// and cut, a thousand streams at once, kills, forks, event loops. The adapters are tested
// with the real packages where `make python` has once installed them.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() != nil {
		t.Skip("NOT TESTED: the Python package. There is no python3 of version 3.10 or later on the PATH")
	}
	files, err := filepath.Glob("../../python/tests/test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	bx := newUser(t).bx
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			python := python
			if cache, err := os.UserCacheDir(); err == nil && name == "test_adapters" {
				if own := filepath.Join(cache, "bx-engines/utp_bx/venv/bin/python"); exists(own) {
					python = own
				}
			}
			cmd := exec.CommandContext(t.Context(), python, "-m", "unittest", "-v", "tests."+name)
			cmd.Dir = "../../python"
			cmd.Env = append(os.Environ(), "UTP_BX_BINARY="+bx, "PYTHONDONTWRITEBYTECODE=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if left := regexp.MustCompile(`(?m) skipped '.*'$`).FindAllString(string(out), -1); left != nil {
				slices.Sort(left)
				t.Skipf("NOT TESTED: %s%s (make python installs what is missing)", name, strings.Join(slices.Compact(left), ","))
			}
		})
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
