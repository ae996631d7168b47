package main

import (
	"os"
	"os/exec"
	"testing"
)

// The Python package over this bx, by its own tests: every case of the grammars whole
// and cut, a thousand streams at once, kills, forks, event loops.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() != nil {
		t.Skip("NOT TESTED: the Python package. There is no python3 of version 3.10 or later on the PATH")
	}
	cmd := exec.CommandContext(t.Context(), python, "-m", "unittest", "discover", "-s", "tests", "-t", ".")
	cmd.Dir = "../../python"
	cmd.Env = append(os.Environ(), "UTP_BX_BINARY="+newUser(t).bx, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
