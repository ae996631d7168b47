// Command clients runs coding agents of other vendors, as they are published,
// through bx serve: a model that prints its calls as text (bx mock) is asked for a
// word in a file, and only who runs its call finds it.
//
//	go -C sdktest run ./clients [-grammar NAME] [-dir DIR] [CLIENT…]
//
// The agents are about 1.4 GB, kept in DIR for the next run. It needs node and git.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

const (
	question = "What is the secret word in notes.txt?"
	word     = "plover"
	model    = "qwen3:8b"
	patience = 2 * time.Minute
)

// client is an agent's command line.
type client struct {
	name    string
	pack    string // npm
	program string
	args    []string // $URL is the gateway
	env     []string
	files   map[string]string // below its home
	tool    string            // that reads a file
	call    string            // its arguments; $FILE is the file
}

var clients = []client{
	{name: "claude", pack: "@anthropic-ai/claude-code@2.1.330", program: "claude", args: []string{"--model", model, "-p", question},
		env:  []string{"ANTHROPIC_BASE_URL=$URL", "ANTHROPIC_AUTH_TOKEN=any", "ANTHROPIC_DEFAULT_HAIKU_MODEL=" + model},
		tool: "Read", call: `{"file_path": "$FILE"}`},
	{name: "codex", pack: "@openai/codex@0.169.0", program: "codex",
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", question},
		files: map[string]string{".codex/config.toml": "model = \"" + model + "\"\nmodel_provider = \"bx\"\n" +
			"[model_providers.bx]\nname = \"bx\"\nbase_url = \"$URL/v1\"\nwire_api = \"responses\"\n"},
		tool: "exec_command", call: `{"cmd": "cat notes.txt"}`},
	{name: "opencode", pack: "opencode-ai@1.18.33", program: "opencode", args: []string{"run", "-m", "bx/" + model, question},
		files: map[string]string{".config/opencode/opencode.json": `{"provider":{"bx":{"npm":"@ai-sdk/openai-compatible",` +
			`"options":{"baseURL":"$URL/v1"},"models":{"` + model + `":{}}}},"agent":{"title":{"disable":true}}}`},
		tool: "read", call: `{"filePath": "$FILE"}`},
	{name: "qwen", pack: "@qwen-code/qwen-code@0.24.4", program: "qwen", args: []string{"-p", question},
		env:  []string{"OPENAI_BASE_URL=$URL/v1", "OPENAI_API_KEY=any", "OPENAI_MODEL=" + model},
		tool: "read_file", call: `{"file_path": "$FILE"}`},
	{name: "gemini", pack: "@google/gemini-cli@0.61.0", program: "gemini", args: []string{"--skip-trust", "-m", model, "-p", question},
		env:   []string{"GOOGLE_GEMINI_BASE_URL=$URL", "GEMINI_API_KEY=any"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
		tool:  "read_file", call: `{"file_path": "$FILE"}`},
}

func main() {
	name := flag.String("grammar", "hermes", "the dialect in which the model calls: bx grammar list names them")
	cache, _ := os.UserCacheDir()
	dir := flag.String("dir", filepath.Join(cmp.Or(cache, os.TempDir()), "bx-clients"), "where the agents are installed")
	flag.Parse()
	if err := run(*dir, *name, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the clients that are named, or all.
func run(dir, dialect string, names []string) error {
	g, ok := grammar.ByName(dialect)
	if !ok {
		return fmt.Errorf("there is no grammar %s: bx grammar list names them", dialect)
	}
	bx := filepath.Join(dir, "bx")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", bx, "./cmd/bx").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	var failed []string
	for _, c := range clients {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		if err := c.run(dir, bx, g); err != nil {
			failed = append(failed, c.name)
			fmt.Printf("%-9s %-34s %v\n", c.name, c.pack, err)
			continue
		}
		fmt.Printf("%-9s %-34s ok\n", c.name, c.pack)
	}
	if len(failed) > 0 {
		return fmt.Errorf("not so: %s", strings.Join(failed, ", "))
	}
	return nil
}

// run asks the question and looks for the word in the answer.
func (c client) run(dir, bx string, g *grammar.Grammar) error {
	if err := c.install(dir); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "bx-clients")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	file := filepath.Join(work, "notes.txt")
	script, err := c.script(work, file, g)
	if err != nil {
		return err
	}
	mock, err := serve(bx, filepath.Join(work, ".mock.log"), nil, "mock", script)
	if err != nil {
		return err
	}
	defer mock.stop()
	gateway, err := serve(bx, filepath.Join(work, ".serve.log"), []string{"OLLAMA_HOST=" + mock.url, "XDG_CONFIG_HOME=" + work}, "serve")
	if err != nil {
		return err
	}
	defer gateway.stop()
	home := filepath.Join(work, ".home")
	if err := c.settle(home, gateway.url); err != nil {
		return err
	}
	answer, err := c.ask(filepath.Join(dir, c.name, "node_modules", ".bin", c.program), work, home, gateway.url)
	switch {
	case err != nil:
		return fmt.Errorf("%w\n%s\n%s", err, answer, gateway.said())
	case !strings.Contains(answer, "The secret word is "+word):
		return fmt.Errorf("answered %q\n%s", answer, gateway.said())
	}
	return nil
}

func (c client) install(dir string) error {
	to := filepath.Join(dir, c.name)
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	out, err := exec.Command("npm", "install", "--prefix", to, "--no-audit", "--no-fund", "--prefer-offline", c.pack).CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	return nil
}

// script writes the file, in a repository, as some want one, and what the model says.
func (c client) script(work, file string, g *grammar.Grammar) (string, error) {
	if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		return "", fmt.Errorf("git init: %w\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte("The secret word is "+word+".\n"), 0o666); err != nil {
		return "", err
	}
	quoted, err := json.Marshal(file)
	if err != nil {
		return "", err
	}
	args := strings.ReplaceAll(c.call, `"$FILE"`, string(quoted))
	call, err := prompt.Calls(g, []utp.Call{{Name: c.tool, Args: json.RawMessage(args)}})
	if err != nil {
		return "", err
	}
	to := filepath.Join(work, ".script.txtar")
	text := fmt.Sprintf("-- server --\nmodel: %s\ncontext: 131072\n-- turn --\ntools %s\n-- text --\n%s\n-- turn --\ncontains %s\n-- text --\nThe secret word is %s.\n",
		model, c.tool, call, word, word)
	return to, os.WriteFile(to, []byte(text), 0o666)
}

// settle writes the client's settings.
func (c client) settle(home, url string) error {
	if err := os.MkdirAll(home, 0o777); err != nil {
		return err
	}
	for name, text := range c.files {
		to := filepath.Join(home, name)
		err := os.MkdirAll(filepath.Dir(to), 0o777)
		if err == nil {
			err = os.WriteFile(to, []byte(strings.ReplaceAll(text, "$URL", url)), 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c client) ask(program, work, home, url string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, c.args...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PWD="+work, "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "ANTHROPIC_API_KEY=")
	for _, set := range c.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(set, "$URL", url))
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// server is a bx that serves.
type server struct {
	cmd *exec.Cmd
	log string // file
	url string
}

// serve starts bx and waits until it listens.
func serve(bx, log string, env []string, args ...string) (*server, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	free.Close()
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	s := &server{exec.Command(bx, append([]string{args[0], "--listen", address}, args[1:]...)...), log, "http://" + address}
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append(os.Environ(), env...), out, out
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			return s, c.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("bx %s does not serve: %s", args[0], s.said())
}

func (s *server) said() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}
