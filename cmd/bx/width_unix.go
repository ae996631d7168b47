//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns of the terminal f; 80 where that cannot be known.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 80
	}
	return int(size.Col)
}
