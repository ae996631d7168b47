// Command servers has bx use the tools of MCP servers of other vendors, as they are
// published, with a model that prints its calls in one dialect after the other.
//
//	go -C sdktest run ./servers [-dir DIR] [GRAMMAR…]
//
// The model is a script (bx mock), which is told of the tools, and reads their
// results, in the dialect. The servers are kept in DIR for the next run. It needs
// node and python 3.10 or newer with venv.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// dialects are those that are played unless others are named.
var dialects = []string{"hermes", "pythonic", "mistral", "llama3", "qwen3-coder", "react"}

// packages are the servers.
const (
	filesystemPackage = "@modelcontextprotocol/server-filesystem@2026.8.31"
	everythingPackage = "@modelcontextprotocol/server-everything@2026.8.31"
	timePackage       = "mcp-server-time==2026.10.19"
)

// task is a call of a server's tool, and what its result has.
type task struct{ server, tool, args, word string }

// written is what write_file is to write.
const written = "a <b>\n\"c\"\n"

var tasks = []task{
	{"files", "read_text_file", `{"path":"$WORK/notes.txt"}`, "plover"},
	{"files", "write_file", `{"path":"$WORK/new.txt","content":"a <b>\n\"c\"\n"}`, "Successfully wrote"},
	{"everything", "echo", `{"message":"plover"}`, "Echo: plover"},
	{"everything", "get-sum", `{"a":17,"b":25}`, "42"},
	{"remote", "echo", `{"message":"heron"}`, "Echo: heron"},
	{"clock", "convert_time", `{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}`, "21:00"},
}

func main() {
	cache, _ := os.UserCacheDir()
	dir := flag.String("dir", filepath.Join(cmp.Or(cache, os.TempDir()), "bx-servers"), "where the servers are installed")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = dialects
	}
	if err := run(*dir, names); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string, names []string) error {
	w, err := build(dir)
	if err != nil {
		return err
	}
	defer w.close()
	if out, err := w.bx("mcp", "test"); err != nil {
		return fmt.Errorf("bx mcp test: %w\n%s", err, out)
	}
	failed := 0
	for _, name := range names {
		g, ok := grammar.ByName(name)
		if !ok {
			return fmt.Errorf("there is no grammar %s: bx grammar list names them", name)
		}
		for _, t := range tasks {
			outcome := "ok"
			if err := w.play(g, t); err != nil {
				outcome, failed = err.Error(), failed+1
			}
			fmt.Printf("%-12s %-10s %-15s %s\n", name, t.server, t.tool, outcome)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d are not so", failed, len(names)*len(tasks))
	}
	return nil
}

// world is a user with a folder, bx, and the servers in a bx.toml.
type world struct {
	program, work, home string
	remote              *exec.Cmd
}

func build(dir string) (*world, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	w := &world{program: filepath.Join(dir, "bx.exe")}
	if out, err := exec.Command("go", "build", "-C", "..", "-o", w.program, "./cmd/bx").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := install(dir); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "bx-mcp")
	if err != nil {
		return nil, err
	}
	w.work, w.home = filepath.Join(temp, "work"), filepath.Join(temp, "home")
	err = errors.Join(os.MkdirAll(filepath.Join(w.work, ".git"), 0o777), os.MkdirAll(w.home, 0o777),
		os.WriteFile(filepath.Join(w.work, "notes.txt"), []byte("The word is plover.\n"), 0o666))
	if err != nil {
		return nil, err
	}
	return w, w.configure(dir)
}

// install puts the servers into dir, where they are not yet.
func install(dir string) error {
	npm := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--prefer-offline", filesystemPackage, everythingPackage)
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	python := filepath.Join(dir, "python")
	if _, err := os.Stat(filepath.Join(python, "bin", "mcp-server-time")); err == nil {
		return nil
	}
	for _, c := range []*exec.Cmd{exec.Command("python3", "-m", "venv", python), exec.Command(filepath.Join(python, "bin", "pip"), "install", "-q", timePackage)} {
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", c, err, out)
		}
	}
	return nil
}

// configure starts the server over HTTP and writes bx.toml.
func (w *world) configure(dir string) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	index := func(name string) string {
		return filepath.Join(dir, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	}
	w.remote = exec.Command("node", index("server-everything"), "streamableHttp")
	w.remote.Env = append(os.Environ(), fmt.Sprint("PORT=", port))
	if err := w.remote.Start(); err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	text := fmt.Sprintf("[mcp_servers.files]\ncommand = \"node\"\nargs = [%q, %q]\n\n[mcp_servers.everything]\ncommand = \"node\"\nargs = [%q]\n\n"+
		"[mcp_servers.remote]\nurl = \"http://%s/mcp\"\n\n[mcp_servers.clock]\ncommand = %q\n",
		index("server-filesystem"), w.work, index("server-everything"), address, filepath.Join(dir, "python", "bin", "mcp-server-time"))
	conf := filepath.Join(w.home, "bx", "bx.toml")
	return errors.Join(os.MkdirAll(filepath.Dir(conf), 0o777), os.WriteFile(conf, []byte(text), 0o600))
}

func (w *world) close() {
	if w.remote != nil && w.remote.Process != nil {
		_ = w.remote.Process.Kill()
		_ = w.remote.Wait()
	}
	_ = os.RemoveAll(filepath.Dir(w.work))
}

// bx runs bx as the user.
func (w *world) bx(args ...string) (string, error) { return w.bxAt("", args...) }

func (w *world) bxAt(model string, args ...string) (string, error) {
	cmd := exec.Command(w.program, args...)
	cmd.Dir = w.work
	cmd.Env = append(os.Environ(), "HOME="+w.home, "XDG_CONFIG_HOME="+w.home, "XDG_DATA_HOME="+w.home, "XDG_CACHE_HOME="+w.home, "OLLAMA_HOST="+model)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%w: %s", err, errs.String())
	}
	return string(out), nil
}

// play has the model call a tool in a dialect and looks for the result.
func (w *world) play(g *grammar.Grammar, t task) error {
	name := "mcp__" + t.server + "__" + strings.ReplaceAll(t.tool, "-", "_")
	args := strings.ReplaceAll(t.args, "$WORK", filepath.ToSlash(w.work))
	call, err := prompt.Calls(g, []utp.Call{{Name: name, Args: json.RawMessage(args)}})
	if err != nil {
		return err
	}
	script := filepath.Join(w.home, "model.txtar")
	text := fmt.Sprintf("-- server --\ncontext: 131072\n-- turn --\nno tools\ncontains %s\n-- text --\n%s\n-- turn --\nno tools\ncontains %s\n-- text --\nIt says %s.\n", name, call, t.word, t.word)
	if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
		return err
	}
	mock, url, err := w.mock(script)
	if err != nil {
		return err
	}
	defer func() { _ = mock.Process.Kill(); _ = mock.Wait() }()
	out, err := w.bxAt(url, "--json", "--no-session", "--tier", "run", "--tool-format", g.Name, "--allow", name, "Look it up")
	if err != nil {
		return err
	}
	var r struct {
		Response  string
		ToolCalls []struct{ Name, Source, Status, Result string } `json:"tool_calls"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return err
	}
	if len(r.ToolCalls) != 1 || r.ToolCalls[0].Name != name || r.ToolCalls[0].Status != "ok" || r.ToolCalls[0].Source != "text:"+g.Name || !strings.Contains(r.ToolCalls[0].Result, t.word) || r.Response != "It says "+t.word+"." {
		return fmt.Errorf("not so: %s", out)
	}
	if t.tool == "write_file" {
		return w.wrote()
	}
	return nil
}

// wrote looks at the file that a server wrote, and removes it.
func (w *world) wrote() error {
	file := filepath.Join(w.work, "new.txt")
	text, err := os.ReadFile(file)
	if err == nil && string(text) != written {
		err = fmt.Errorf("%q was written, want %q", text, written)
	}
	return errors.Join(err, os.RemoveAll(file))
}

// mock starts the model.
func (w *world) mock(script string) (*exec.Cmd, string, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address := free.Addr().String()
	free.Close()
	cmd := exec.Command(w.program, "mock", "--listen", address, script)
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return cmd, "http://" + address, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return cmd, "", errors.New("bx mock does not listen")
}
