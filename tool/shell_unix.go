//go:build unix

package tool

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group, which end ends.
func ownGroup(c *exec.Cmd) (end func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() {
		if c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // those that are left
		}
	}
}
