//go:build !unix

package commands

import (
	"os"
	"os/exec"
)

// together needs groups of processes, which this system has not.
func together(*exec.Cmd, *os.File) {}

func codeOf(e *exec.ExitError) int { return e.ExitCode() }
