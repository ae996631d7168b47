//go:build unix

package commands

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// together makes a program and those that it starts one group, which a
// time-out ends as a whole. One that talks to a terminal stays in ours.
func together(cmd *exec.Cmd, in *os.File) {
	if info, err := in.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

func codeOf(e *exec.ExitError) int {
	if s, ok := e.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return exitSignal + int(s.Signal())
	}
	return e.ExitCode()
}
