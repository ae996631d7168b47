//go:build !unix

package client

import "os/exec"

// systemPassed are variables without which programs do not start on Windows.
var systemPassed = []string{"SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "TEMP", "ComSpec"}

func ownGroup(c *exec.Cmd) (kill func()) {
	return func() {
		if c.Process != nil {
			_ = c.Process.Kill()
		}
	}
}
