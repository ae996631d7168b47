//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package line

import "golang.org/x/sys/unix"

const getTermios, setTermios, setAndForget = unix.TIOCGETA, unix.TIOCSETA, unix.TIOCSETAF
