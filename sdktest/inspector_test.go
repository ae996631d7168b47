package sdktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const inspector = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"

var bx string // the program under test

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sdktest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bx = filepath.Join(dir, "bx.exe") // the ending that Windows wants and others allow
	if out, err := exec.Command("go", "build", "-C", "..", "-o", bx, "./cmd/bx").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	defer node.stop()
	return m.Run()
}

// client calls "bx mcp serve" through the MCP inspector's command line.
type client struct{ config, dir string }

// serve makes a folder with a file in it, and writes the inspector's config
// for a server of that folder with these flags.
func serve(t *testing.T, flags ...string) client {
	t.Helper()
	if _, err := os.Stat(inspector); err != nil {
		t.Fatalf("%v: run make sdktest, which installs it", err)
	}
	home, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello from the file\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"bx": map[string]any{
		"type": "stdio", "command": bx, "args": append([]string{"mcp", "serve", "--root", dir}, flags...),
		"env": map[string]string{"HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "XDG_DATA_HOME": home},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	c := client{filepath.Join(home, "mcp.json"), dir}
	if err := os.WriteFile(c.config, config, 0o666); err != nil {
		t.Fatal(err)
	}
	return c
}

// run gives the inspector's answer, and whether it was one: it exits with a
// failure when the server's answer is an error.
func (c client) run(t *testing.T, args ...string) (string, bool) {
	t.Helper()
	cmd := exec.Command("node", append([]string{inspector, "--cli", "--config", c.config, "--server", "bx"}, args...)...)
	cmd.Env = append(os.Environ(), "MCP_INSPECTOR_SECRET_STORE=memory")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if err != nil {
		return string(out) + stderr.String(), false
	}
	return string(out), true
}

func (c client) call(t *testing.T, tool string, args ...string) (string, bool) {
	t.Helper()
	all := []string{"--method", "tools/call", "--tool-name", tool}
	for _, a := range args {
		all = append(all, "--tool-arg", a)
	}
	return c.run(t, all...)
}

func (c client) tools(t *testing.T) (names []string) {
	t.Helper()
	out, ok := c.run(t, "--method", "tools/list")
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(out), &list); !ok || err != nil {
		t.Fatalf("tools/list: %v\n%s", err, out)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestInspectorReads(t *testing.T) {
	c := serve(t)
	names := c.tools(t)
	for _, want := range []string{"search_code", "read_file", "list_dir", "inspect_code"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not listed: %v", want, names)
		}
	}
	for _, no := range []string{"write_file", "edit_block"} {
		if slices.Contains(names, no) {
			t.Errorf("%s is listed without --tier run", no)
		}
	}
	if out, ok := c.call(t, "read_file", "path=hello.txt"); !ok || !strings.Contains(out, "hello from the file") || strings.Contains(out, `"isError": true`) {
		t.Errorf("read_file: %s", out)
	}
	out, _ := c.call(t, "read_file", "path=../../../../../../etc/passwd")
	if !strings.Contains(out, "Path escapes repository boundary") || !strings.Contains(out, `"isError": true`) || strings.Contains(out, "root:") {
		t.Errorf("a path out of the root: %s", out)
	}
}

func TestInspectorWrites(t *testing.T) {
	for _, test := range []struct {
		flags   []string
		written bool
	}{
		{[]string{"--tier", "run"}, false},
		{[]string{"--tier", "run", "--allow", "run"}, true},
	} {
		c := serve(t, test.flags...)
		out, _ := c.call(t, "write_file", "path=new.txt", "content=text")
		_, err := os.Stat(filepath.Join(c.dir, "new.txt"))
		if written := err == nil; written != test.written || strings.Contains(out, `"isError": true`) == test.written {
			t.Errorf("%v: written %v: %s", test.flags, written, out)
		}
	}
}

func TestInspectorResourcesAndPrompts(t *testing.T) {
	c := serve(t)
	if err := os.WriteFile(filepath.Join(c.dir, "AGENTS.md"), []byte("Keep it short.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"the list of resources", `AGENTS.md"`, []string{"--method", "resources/list"}},
		{"the template", `/{+path}"`, []string{"--method", "resources/templates/list"}},
		{"a file that is not listed", "hello from the file", []string{"--method", "resources/read", "--uri", "file://" + c.dir + "/hello.txt"}},
		{"the list of prompts", `"review"`, []string{"--method", "prompts/list"}},
		{"a prompt", "Keep it short.", []string{"--method", "prompts/get", "--prompt-name", "guide"}},
		{"a prompt with arguments", "Where is the hello?", []string{"--method", "prompts/get", "--prompt-name", "ask", "--prompt-args", "question=Where is the hello?"}},
	} {
		if out, ok := c.run(t, test.args...); !ok || !strings.Contains(out, test.want) {
			t.Errorf("%s: %v %s", test.name, ok, out)
		}
	}
	if out, _ := c.run(t, "--method", "resources/read", "--uri", "file:///etc/passwd"); strings.Contains(out, "root:") {
		t.Errorf("a file out of the root: %s", out)
	}
}
