package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// clients lets the clients beside this file use bx mcp serve over both transports.
func clients(dir, node, bx string) error {
	root, err := os.MkdirTemp("", "mcp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	for name, text := range map[string]string{"hello.txt": "hello from the file\n", "AGENTS.md": "Keep it short.\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	env := filepath.Join(dir, "python")
	py := filepath.Join(env, "bin", "python")
	if _, err := os.Stat(py); err != nil {
		if err := quietly("python3", "-m", "venv", env); err != nil {
			return err
		}
	}
	if err := quietly(py, "-m", "pip", "install", "--quiet", python); err != nil {
		return err
	}
	at, stop, err := serveBx(bx, "--root", root, "--tier", "run", "--allow", "shell")
	if err != nil {
		return err
	}
	defer stop()
	sdk := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "sdk")
	return errors.Join(
		shown("a client of the TypeScript SDK:", node, "mcp/client.mjs", sdk, bx, root, at+"/mcp", key),
		shown("a client of the Python SDK:", py, "mcp/client.py", bx, root, at+"/mcp", key))
}

// quietly runs a program whose output matters where it fails.
func quietly(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}

func shown(title, name string, args ...string) error {
	fmt.Println(title)
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %w", title, err)
	}
	return nil
}
