//go:build !linux

package sandbox

import (
	"context"
	"os"
	"os/exec"
)

// Check says why there is no sandbox; nil where there is one.
func Check(context.Context, string) error { return ErrNone }

// Command is a command in the sandbox. self is the program that calls Helper.
func Command(string, Policy, []string, []string) (*exec.Cmd, func(), error) { return nil, nil, ErrNone }

// Sockets lists the Unix sockets that have a path on this machine.
func Sockets() []string { return nil }

func inside(string, []string, *os.File, *os.File) (int, error) { return 1, ErrNone }
