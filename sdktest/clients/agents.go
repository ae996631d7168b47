package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const patience = 2 * time.Minute

// agent is a coding agent's command line. In its settings $URL is the gateway,
// $MODEL the model and $QUESTION the question.
type agent struct {
	name    string
	pack    string // npm
	program string
	set     setting // as documented in docs/gateway.md
	effort  setting // what asks for an effort beside it; zero: it cannot
	tool    string  // that reads a file
	call    string  // its arguments; $FILE is the file
}

// setting is how an agent is started.
type setting struct {
	args  []string
	env   []string
	files map[string]string // below its home
}

const (
	codexConfig    = "model = \"$MODEL\"\nmodel_provider = \"bx\"\n[model_providers.bx]\nname = \"bx\"\nbase_url = \"$URL/v1\"\nwire_api = \"responses\"\n"
	opencodeConfig = `{"provider":{"bx":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"$URL/v1"},"models":{"$MODEL":{}}}},"agent":{"title":{"disable":true}}}`
	geminiConfig   = `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`
	geminiEffort   = `{"security":{"auth":{"selectedType":"gemini-api-key"}},"modelConfigs":{"overrides":[{"match":{"model":"$MODEL"},` +
		`"modelConfig":{"generateContentConfig":{"thinkingConfig":{"thinkingBudget":4096}}}}]}}`
	piConfig = `{"providers":{"bx":{"baseUrl":"$URL/v1","api":"openai-completions","apiKey":"any","models":[{"id":"$MODEL"}]}}}`
	piEffort = `{"providers":{"bx":{"baseUrl":"$URL/v1","api":"openai-completions","apiKey":"any","models":[{"id":"$MODEL","reasoning":true}]}}}`
)

var agents = []agent{
	{
		name: "claude", pack: "@anthropic-ai/claude-code@2.1.330", program: "claude",
		set: setting{
			args: []string{"--model", "$MODEL", "-p", "$QUESTION"},
			env:  []string{"ANTHROPIC_BASE_URL=$URL", "ANTHROPIC_AUTH_TOKEN=any", "ANTHROPIC_DEFAULT_HAIKU_MODEL=$MODEL"},
		},
		effort: setting{env: []string{"CLAUDE_CODE_EFFORT_LEVEL=low"}}, // high is its default
		tool:   "Read", call: `{"file_path": "$FILE"}`,
	},
	{
		name: "codex", pack: "@openai/codex@0.169.0", program: "codex",
		set: setting{
			args:  []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "$QUESTION"},
			files: map[string]string{".codex/config.toml": codexConfig},
		},
		effort: setting{files: map[string]string{".codex/config.toml": "model_reasoning_effort = \"medium\"\n" + codexConfig}},
		tool:   "exec_command", call: `{"cmd": "cat notes.txt"}`,
	},
	{
		name: "opencode", pack: "opencode-ai@1.18.33", program: "opencode",
		set: setting{
			args:  []string{"run", "-m", "bx/$MODEL", "$QUESTION"},
			files: map[string]string{".config/opencode/opencode.json": opencodeConfig},
		},
		tool: "read", call: `{"filePath": "$FILE"}`,
	},
	{
		name: "qwen", pack: "@qwen-code/qwen-code@0.24.4", program: "qwen",
		set: setting{
			args: []string{"-p", "$QUESTION"},
			env:  []string{"OPENAI_BASE_URL=$URL/v1", "OPENAI_API_KEY=any", "OPENAI_MODEL=$MODEL"},
		},
		tool: "read_file", call: `{"file_path": "$FILE"}`,
	},
	{
		name: "gemini", pack: "@google/gemini-cli@0.61.0", program: "gemini",
		set: setting{
			args:  []string{"--skip-trust", "-m", "$MODEL", "-p", "$QUESTION"},
			env:   []string{"GOOGLE_GEMINI_BASE_URL=$URL", "GEMINI_API_KEY=any"},
			files: map[string]string{".gemini/settings.json": geminiConfig},
		},
		effort: setting{files: map[string]string{".gemini/settings.json": geminiEffort}},
		tool:   "read_file", call: `{"file_path": "$FILE"}`,
	},
	{
		name: "pi", pack: "@mariozechner/pi-coding-agent@0.73.1", program: "pi",
		set: setting{
			args:  []string{"--provider", "bx", "--model", "$MODEL", "-p", "$QUESTION"},
			files: map[string]string{".pi/agent/models.json": piConfig},
		},
		effort: setting{args: []string{"--thinking", "high"}, files: map[string]string{".pi/agent/models.json": piEffort}},
		tool:   "read", call: `{"path": "$FILE"}`,
	},
}

// and is the setting with what another adds or replaces.
func (s setting) and(more setting) setting {
	out := setting{args: append(append([]string{}, more.args...), s.args...), env: append(append([]string{}, s.env...), more.env...), files: map[string]string{}}
	if len(s.args) > 0 && !strings.HasPrefix(s.args[0], "-") { // a subcommand comes first
		out.args = append(append([]string{s.args[0]}, more.args...), s.args[1:]...)
	}
	for _, files := range []map[string]string{s.files, more.files} {
		for name, text := range files {
			out.files[name] = text
		}
	}
	return out
}

func (a agent) install(dir string) error {
	to := filepath.Join(dir, a.name)
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	out, err := exec.Command("npm", "install", "--prefix", to, "--no-audit", "--no-fund", "--prefer-offline", a.pack).CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	return nil
}

// task is a question that only a file answers.
type task struct {
	model string
	file  string // in the working folder
	word  string
}

func (t task) question() string { return "Which word stands in the file " + t.file + "?" }
func (t task) answer() string   { return "The secret word is " + t.word + "." }

// prepare writes the file into a repository, as some agents want one.
func (t task) prepare(work string) error {
	if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w\n%s", err, out)
	}
	to := filepath.Join(work, t.file)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(t.answer()+"\n"), 0o666)
}

// ask starts an agent, installed in dir, and returns what it prints.
func (a agent) ask(dir, work, url string, t task, s setting) (string, error) {
	fill := strings.NewReplacer("$URL", url, "$MODEL", t.model, "$QUESTION", t.question()).Replace
	home := filepath.Join(work, ".home")
	for name, text := range s.files {
		to := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, []byte(fill(text)), 0o666); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, a.name, "node_modules", ".bin", a.program))
	for _, arg := range s.args {
		cmd.Args = append(cmd.Args, fill(arg))
	}
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PWD="+work, "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "ANTHROPIC_API_KEY=")
	for _, set := range s.env {
		cmd.Env = append(cmd.Env, fill(set))
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}
