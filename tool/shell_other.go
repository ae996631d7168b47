//go:build !unix

package tool

import "os/exec"

// ownGroup ends a command alone: this system has no process groups.
func ownGroup(c *exec.Cmd) (end func()) {
	return func() {
		if c.Process != nil {
			_ = c.Process.Kill()
		}
	}
}
