// Command gateway measures bx serve as it is shipped: the program in a process
// of its own with default settings, in turns with httputil.ReverseProxy and with
// Bifrost core, each a process too, in front of one server, which is another. It
// prints a table with the bounds and exits with 1 if one is broken.
//
//	go run ./gateway
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/bench/process"
)

func main() {
	role := flag.String("role", "", "be the `model`, the proxy or bifrost, in front of -up")
	up := flag.String("up", "", "the model's server")
	long := flag.Duration("for", 10*time.Second, "how long each row is measured")
	only := flag.String("only", "", "only rows with this in their name")
	env := flag.String("env", "", "environment of bx, NAME=VALUE separated by blanks")
	flag.Parse()
	run := func() error { return compare(*long, *only, strings.Fields(*env)) }
	switch *role {
	case "model":
		run = beModel
	case "proxy":
		run = func() error { return beProxy(*up) }
	case "bifrost":
		run = func() error { return beBifrost(*up) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// servers are what is measured.
type servers struct {
	direct, proxy, bifrost, ours string
	pid, bifrostPid              int
}

func compare(long time.Duration, only string, env []string) error {
	dir, err := os.MkdirTemp("", "gateway")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bx, err := process.Bx(dir)
	if err != nil {
		return err
	}
	var s servers
	var ours, theirs *exec.Cmd
	for _, start := range []func() (*exec.Cmd, error){
		func() (cmd *exec.Cmd, err error) { cmd, s.direct, err = process.Self("-role", "model"); return },
		func() (cmd *exec.Cmd, err error) {
			cmd, s.proxy, err = process.Self("-role", "proxy", "-up", s.direct)
			return
		},
		func() (cmd *exec.Cmd, err error) {
			cmd, s.bifrost, err = process.Self("-role", "bifrost", "-up", s.direct)
			theirs = cmd
			return
		},
		func() (cmd *exec.Cmd, err error) {
			cmd, s.ours, err = process.Serve(bx, dir, s.direct, env...)
			ours = cmd
			return
		},
	} {
		cmd, err := start()
		if err != nil {
			return err
		}
		defer process.End(cmd)
	}
	s.pid, s.bifrostPid = ours.Process.Pid, theirs.Process.Pid
	return report(s, long, only)
}

func report(s servers, long time.Duration, only string) error {
	held := true
	for _, r := range rows {
		if !strings.Contains(r.name, only) {
			continue
		}
		line, holds, err := r.measure(s, long)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Println(line)
		held = held && holds
	}
	peak := process.Peak(s.pid)
	idle := rest(s.pid)
	fmt.Printf("memory at most %d MB (Bifrost %d MB); bound %d MB: %s\n", peak>>20, process.Peak(s.bifrostPid)>>20, mostBusy>>20, verdict(peak <= mostBusy))
	fmt.Printf("memory at rest %d MB (Bifrost %d MB); bound %d MB: %s\n", idle>>20, process.Memory(s.bifrostPid)>>20, mostIdle>>20, verdict(idle <= mostIdle))
	if !held || peak > mostBusy || idle > mostIdle {
		return errors.New("a bound is broken (on a machine that has other work to do, measure again)")
	}
	return nil
}

// The bounds of memory, in bytes.
const (
	mostBusy = 80 << 20
	mostIdle = 40 << 20
)

// rest is the memory of a process that has nothing more to do. It is given back
// some time after the last request.
func rest(pid int) (bytes int64) {
	for range 45 {
		if bytes = process.Memory(pid); bytes <= mostIdle {
			break
		}
		time.Sleep(2 * time.Second)
	}
	return bytes
}

func verdict(holds bool) string {
	if holds {
		return "holds"
	}
	return "BROKEN"
}
