package line

import "golang.org/x/sys/unix"

const getTermios, setTermios, setAndForget = unix.TCGETS, unix.TCSETS, unix.TCSETSF
