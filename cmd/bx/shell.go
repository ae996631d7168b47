package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/sandbox"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// sandboxed runs a command in the sandbox if this process was started for that.
func sandboxed() (handled bool, code int) {
	handled, code, err := sandbox.Helper(os.Args, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bx: the sandbox:", err)
	}
	return handled, code
}

// toolConfig says where and how the tools work.
func (j *job) toolConfig() tool.Config {
	c := tool.Config{Root: j.root, IndexDir: dirs.Cache(), Progress: j.indexing, Plain: !j.set.Envelope.Enabled,
		MaxResult: int(j.set.Envelope.MaxOutputChars), Path: j.app.env("PATH"), Results: j.results(),
		Images: func(ctx context.Context) bool { return j.sees != nil && j.sees(ctx) }}
	if j.app.serving {
		c.Te = j.te
	}
	if dir, err := j.app.dataDir(j.set.Session.Storage); err == nil {
		c.UndoDir = filepath.Join(dir, "undo")
	}
	self, err := os.Executable()
	home, err2 := os.UserHomeDir()
	if err == nil && err2 == nil && runtime.GOOS != "windows" {
		c.Shell = &tool.Shell{Self: self, Env: os.Environ(), Home: home, Cache: dirs.Cache(), Read: j.set.Shell.Read, Write: j.set.Shell.Write}
	}
	return c
}
