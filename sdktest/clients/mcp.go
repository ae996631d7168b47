package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// configs are the files in which agents keep their MCP servers, below their home,
// with a setting of the user's. Claude Code and opencode write theirs themselves.
var configs = map[string]struct{ file, text string }{
	"claude":   {".claude.json", ""},
	"codex":    {".codex/config.toml", "# mine\nmodel = \"x\" # always\n"},
	"gemini":   {".gemini/settings.json", "{\n  // mine\n  \"ui\": {\"theme\": \"Default\"}\n}\n"},
	"opencode": {".config/opencode/opencode.jsonc", "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // mine\n  \"theme\": \"system\",\n}\n"},
}

// listAll lets bx mcp install write into each agent's configuration, asks the
// agent for its servers, and takes bx out again.
func listAll(dir, bx string, names []string) error {
	var failed []error
	for _, a := range agents {
		c, known := configs[a.name]
		if !known || len(names) > 0 && !slices.Contains(names, a.name) {
			continue
		}
		err := a.install(dir)
		if err == nil {
			err = a.lists(dir, bx, c.file, []byte(c.text))
		}
		result := "ok"
		if err != nil {
			result = err.Error()
			failed = append(failed, fmt.Errorf("%s: %w", a.name, err))
		}
		fmt.Printf("%-10s %s\n", a.name, result)
	}
	return errors.Join(failed...)
}

// lists reports whether an agent knows of bx while it is installed, and has the
// file that it had before.
func (a agent) lists(dir, bx, file string, before []byte) error {
	home, err := os.MkdirTemp(dir, "home") // outside of /tmp, where Codex refuses to work
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	work := filepath.Join(home, "work")
	if err := (task{file: "notes.txt"}).prepare(work); err != nil {
		return err
	}
	file = filepath.Join(home, file)
	if len(before) > 0 {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, before, 0o666)); err != nil {
			return err
		}
	}
	if _, err := start(home, work, bx, "mcp", "install", a.name); err != nil {
		return err
	}
	program := filepath.Join(dir, a.name, "node_modules", ".bin", a.program)
	out, err := start(home, work, program, "mcp", "list")
	if err != nil {
		return err
	}
	if !strings.Contains(out, "mcp serve") && !strings.Contains(out, "mcp  serve") {
		return fmt.Errorf("bx is not listed: %s", out)
	}
	if _, err := start(home, work, bx, "mcp", "uninstall", a.name); err != nil {
		return err
	}
	after, err := os.ReadFile(file)
	switch {
	case len(before) > 0 && (err != nil || !bytes.Equal(before, after)):
		return fmt.Errorf("its file was\n%s\nand is\n%s (%w)", before, after, err)
	case bytes.Contains(after, []byte("mcp")) && bytes.Contains(after, []byte(bx)):
		return fmt.Errorf("bx is still there: %s", after)
	}
	return nil
}

// start runs a program and gives what it prints.
func start(home, work, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.WaitDelay = work, time.Second
	cmd.Env = append(os.Environ(), "PWD="+work, "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "CODEX_HOME=", "CLAUDE_CONFIG_DIR=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out), err
}
