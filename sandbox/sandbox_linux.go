package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Check says why there is no sandbox; nil where there is one. self is the
// program that calls Helper.
func Check(ctx context.Context, self string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd, end, err := Command(self, Policy{Root: "/"}, []string{"/"}, []string{"PATH=/usr/bin:/bin"})
	if err != nil {
		return err
	}
	defer end()
	stop := context.AfterFunc(ctx, end)
	defer stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", ErrNone, strings.TrimSpace(string(out)+" "+err.Error()))
	}
	return nil
}

// Command is a command in the sandbox, ready to start. end ends it with all
// that it started, and so does the end of this process.
func Command(self string, p Policy, argv, env []string) (cmd *exec.Cmd, end func(), err error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, nil, err
	}
	alive, hold, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(self, append([]string{Mark, string(text)}, argv...)...)
	cmd.Env, cmd.ExtraFiles, cmd.Dir = env, []*os.File{alive}, "/"
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS)
	if !p.Network {
		flags |= unix.CLONE_NEWNET
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE},
		Setsid:      true,
	}
	return cmd, func() {
		hold.Close()
		alive.Close()
		if cmd.Process != nil {
			_ = cmd.Process.Kill() // the first process of the namespace: all others end with it
		}
	}, nil
}

// Sockets lists the Unix sockets that have a path on this machine.
func Sockets() (out []string) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if n := len(fields); n == 8 && filepath.IsAbs(fields[7]) {
			out = append(out, fields[7])
		}
	}
	return out
}
