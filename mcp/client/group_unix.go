//go:build unix

package client

import (
	"os/exec"
	"syscall"
)

var systemPassed []string

// ownGroup gives a program a process group, so that a Ctrl-C of the user's is not
// the server's too. kill ends the group.
func ownGroup(c *exec.Cmd) (kill func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() {
		if c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		}
	}
}
