//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Ctrl-C ends bx parse --jsonl while it waits for the rest of a line.
func TestParseInterrupt(t *testing.T) {
	cmd := exec.Command(newUser(t).bx, "parse", "--jsonl")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("{\"id\":1,\"input\":\"x\"}\n{")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is at work
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(errs.String(), "bx: interrupted") {
		t.Errorf("exit code %d, %s", code, &errs)
	}
}

func TestReadAllEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r, w := io.Pipe()
	defer w.Close()
	if _, err := readAll(ctx, r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
