package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/arch"
)

// fuzzAll runs every fuzz target of the module for a while, or with so many new inputs, each.
func fuzzAll(w io.Writer, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("fuzz: want a duration for each target, as in 5s, or a number of inputs, as in 1000x")
	}
	if _, err := strconv.Atoi(strings.TrimSuffix(args[0], "x")); err != nil || !strings.HasSuffix(args[0], "x") {
		if _, err := time.ParseDuration(args[0]); err != nil {
			return fmt.Errorf("fuzz: %w", err)
		}
	}
	h, err := arch.Load(".")
	if err != nil {
		return err
	}
	for _, target := range h.FuzzTargets() {
		pkg := "./" + target.Package
		fmt.Fprintln(w, "fuzz", pkg, target.Func)
		cmd := exec.Command("go", "test", "-run=^$", "-fuzz=^"+target.Func+"$", "-fuzztime="+args[0], pkg)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.MultiWriter(w, &out), os.Stderr
		if err := cmd.Run(); err != nil && !onlyTimeEnded(out.String()) {
			return fmt.Errorf("%s %s: %w: the input that fails is in testdata/fuzz of the package; keep it as a case", pkg, target.Func, err)
		}
	}
	return nil
}

// onlyTimeEnded reports whether the run failed for nothing but its time: when -fuzztime ends
// while a worker is busy, go test sometimes fails with the end of its own context
// (https://go.dev/issue/75804). A failure of the target names the file of its input.
func onlyTimeEnded(out string) bool {
	return strings.Contains(out, "\n    context deadline exceeded\n") && !strings.Contains(out, "Failing input written to")
}
