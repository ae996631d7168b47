package tool

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/sandbox"
)

//go:embed shell.md
var shellText string

var shell = builtin{
	Tool: utp.Tool{
		Name: ShellName, Tier: utp.TierRun, Confirm: true, Description: shellText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","description":"What to run, as for sh -c, at the top of the repository"},` +
			`"timeout":{"type":"integer","description":"Seconds after which it is ended, at most 600","default":120},` +
			`"network":{"type":"boolean","description":"Whether it needs the network","default":false}},` +
			`"required":["command"]}`),
	},
	run: with((*Set).runShell), sensitive: sensitiveShell,
}

// ShellName is the tool that runs commands.
const ShellName = "shell"

// Shell says how commands are run.
type Shell struct {
	Self  string   // this program, which calls sandbox.Helper first
	Env   []string // of this process; what is harmless of it is passed on
	Home  string   // hidden from commands, but for Read and Write
	Cache string   // a folder for the caches of build tools
	Read  []string // what else of Home may be read
	Write []string // what else may be written
}

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	maxPrinted     = 10 << 20 // bytes of output that are kept
	maxEnds        = 8 << 10  // bytes of the output's head and of its tail that the model gets
)

type shellArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
	Network bool   `json:"network"`
}

// Sandboxed says why commands have no sandbox; nil where they have one.
func (s *Set) Sandboxed(ctx context.Context) error {
	s.boxOnce.Do(func() {
		s.boxErr = sandbox.ErrNone
		if s.config.Shell != nil {
			s.boxErr = sandbox.Check(ctx, s.config.Shell.Self)
		}
	})
	return s.boxErr
}

// sensitiveShell says why a command is asked about whatever is allowed.
func sensitiveShell(s *Set, args json.RawMessage) string {
	a, err := arguments[shellArgs](args)
	switch {
	case err != nil:
		return "it cannot be read"
	case s.Sandboxed(context.Background()) != nil:
		return "there is no sandbox here, so it can do whatever you can"
	case a.Network:
		return "it gets the network"
	}
	return namesKeys(a.Command)
}

// namesKeys says that a word of a command names a file that may hold secrets. Of
// commands that are not simple nothing is known.
func namesKeys(command string) string {
	script, err := rule.Parse(command)
	if err != nil {
		return ""
	}
	for _, words := range script.Commands() {
		for _, w := range words[1:] {
			for _, name := range append(strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("=:,", r) }), w) {
				if name = path.Clean(filepath.ToSlash(name)); secret(name) || keys(name) {
					return printable(w) + " may hold keys or tokens"
				}
			}
		}
	}
	return ""
}

// Simple marks the context of a command that a rule allowed: what runs is
// rewritten from the words that the rule saw, with programs outside of the root.
func Simple(ctx context.Context) context.Context { return context.WithValue(ctx, simple{}, true) }

type simple struct{}

// rewritten is the command to run.
func (s *Set) rewritten(ctx context.Context, command string) (string, error) {
	if yes, _ := ctx.Value(simple{}).(bool); !yes {
		return command, nil
	}
	script, err := rule.Parse(command)
	if err == nil {
		command, err = script.Text(s.program)
	}
	if err != nil {
		return "", denied("The command needs the user's yes, which the rule does not give: " + err.Error())
	}
	return command, nil
}

// program finds a program outside of the root.
func (s *Set) program(name string) (string, error) {
	for _, v := range s.config.Shell.Env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(s.outside(list)) {
			at := filepath.Join(dir, name)
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !s.within(unlinked(at)) {
				return at, nil
			}
		}
	}
	return "", fail("there is no program %s outside of the repository", printable(name))
}

func (s *Set) runShell(ctx context.Context, a shellArgs) (string, error) {
	switch {
	case strings.TrimSpace(a.Command) == "":
		return "", missing("command")
	case strings.ContainsRune(a.Command, 0):
		return "", denied("The command contains null bytes")
	}
	if err := needsYes(ctx, "The command", sensitiveShell(s, json.RawMessage(object(a)))); err != nil {
		return "", err
	}
	command, err := s.rewritten(ctx, a.Command)
	if err != nil {
		return "", err
	}
	a.Command = command
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.beginTurn(); err != nil {
		return "", err
	}
	if !s.together {
		defer s.endTurn()
	}
	before, note := s.snapshot(ctx)
	r, err := s.command(ctx, a)
	if err != nil {
		return "", err
	}
	if more := s.noteChanges(context.WithoutCancel(ctx), before); more != "" {
		note = more
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return s.report(r, note), nil
}

// outcome is how a command ended.
type outcome struct {
	out     string
	lost    int // bytes of output that were not kept
	code    int
	late    time.Duration // it was ended after that time; 0: it ended itself
	lasted  time.Duration
	refused []string // what it made and must not
}

// command runs a command in the sandbox, or without one where there is none.
func (s *Set) command(ctx context.Context, a shellArgs) (outcome, error) {
	timeout := defaultTimeout
	if a.Timeout > 0 {
		timeout = min(time.Duration(min(a.Timeout, int(maxTimeout/time.Second)))*time.Second, maxTimeout)
	}
	cmd, end, err := s.prepare(a)
	if err != nil {
		return outcome{}, err
	}
	defer end()
	var out ends
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	absent := s.absentGuarded()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, fmt.Errorf("the command cannot be started: %w", bare(err))
	}
	inTime, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(inTime, end)
	err = cmd.Wait()
	stop()
	r := outcome{out: out.kept.String(), lost: out.lost, lasted: time.Since(start)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.code = exit.ExitCode()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return outcome{}, fmt.Errorf("the command: %w", bare(err))
	}
	if inTime.Err() != nil && ctx.Err() == nil {
		r.late = timeout
	}
	r.refused = s.removeNew(absent)
	return r, nil
}

// prepare makes the process of a command. end ends it with all that it started.
func (s *Set) prepare(a shellArgs) (cmd *exec.Cmd, end func(), err error) {
	c := s.config.Shell
	argv := []string{"/bin/sh", "-c", a.Command}
	if _, err := os.Stat("/bin/bash"); err == nil {
		argv[0] = "/bin/bash"
	}
	env := s.environment()
	if s.boxErr != nil {
		cmd = exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = s.real, env
		return cmd, ownGroup(cmd), nil
	}
	p := sandbox.Policy{Root: s.real, Home: unlinked(c.Home), Network: a.Network, Sockets: sandbox.Sockets()}
	if c.Cache != "" {
		if err := os.MkdirAll(filepath.Join(c.Cache, "shell"), 0o700); err != nil {
			return nil, nil, fmt.Errorf("the folder for caches: %w", bare(err))
		}
		p.Write = append(p.Write, unlinked(filepath.Join(c.Cache, "shell")))
	}
	for _, dir := range c.Write {
		p.Write = append(p.Write, unlinked(s.homely(dir)))
	}
	for _, dir := range append(slices.Clone(toolchains), c.Read...) {
		p.Read = append(p.Read, unlinked(s.homely(dir)))
	}
	for _, name := range guardedPaths {
		p.Protect = append(p.Protect, filepath.Join(s.real, name))
	}
	p.Pin = []string{filepath.Join(s.real, ".git")}
	return sandbox.Command(c.Self, p, argv, env)
}

// toolchains are what build tools need of the home folder to be read.
var toolchains = []string{"~/go", "~/sdk", "~/.cargo/bin", "~/.cargo/registry", "~/.cargo/git", "~/.rustup", "~/.npm", "~/.nvm", "~/.volta", "~/.bun",
	"~/.deno", "~/.pyenv", "~/.rbenv", "~/.asdf", "~/.sdkman", "~/.local/bin", "~/.local/lib", "~/.local/share/mise", "~/.local/share/uv", "~/.local/share/pnpm",
	"~/.gitconfig", "~/.config/git", "~/.m2/repository", "~/.gradle/wrapper", "~/.config/go"}

// guardedPaths are what a command must not change or make.
var guardedPaths = []string{".git/hooks", ".git/config", ".envrc", "bx.toml", "llmc.toml"}

// absentGuarded lists what is guarded and not there.
func (s *Set) absentGuarded() (out []string) {
	for _, name := range guardedPaths {
		if _, err := s.root.Lstat(name); err == nil {
			continue
		}
		if _, err := s.root.Lstat(".git"); err != nil && strings.HasPrefix(name, ".git/") {
			continue
		}
		out = append(out, name)
	}
	return out
}

// removeNew removes what must not be there.
func (s *Set) removeNew(names []string) (removed []string) {
	for _, name := range names {
		if _, err := s.root.Lstat(name); err == nil && s.root.RemoveAll(name) == nil {
			removed = append(removed, name)
		}
	}
	return removed
}

func (s *Set) homely(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(s.config.Shell.Home, rest)
	}
	return dir
}

// unlinked is a path without links, as far as it is there.
func unlinked(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

var passedOn = regexp.MustCompile(`^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TERM|TZ|COLUMNS|LINES|SHELL|EDITOR|` +
	`GOROOT|GOPATH|GOFLAGS|GOOS|GOARCH|GOPROXY|GOSUMDB|GOPRIVATE|GOTOOLCHAIN|GOEXPERIMENT|CGO_ENABLED|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|MAKEFLAGS|` +
	`CARGO_HOME|RUSTUP_HOME|RUSTFLAGS|JAVA_HOME|NVM_DIR|NODE_PATH|NODE_ENV|PYENV_ROOT|VIRTUAL_ENV|PYTHONPATH|PYTHONDONTWRITEBYTECODE|CI|PKG_CONFIG_PATH)=`)

// environment is what a command sees of the environment, with caches that it may write.
func (s *Set) environment() (out []string) {
	c := s.config.Shell
	for _, v := range c.Env {
		if !passedOn.MatchString(v) {
			continue
		}
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			v = "PATH=" + s.outside(list)
		}
		out = append(out, v)
	}
	out = append(out, "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat", "NO_COLOR=1")
	if s.boxErr == nil {
		out = append(out, "TMPDIR=/tmp")
	}
	if c.Cache != "" {
		at := unlinked(filepath.Join(c.Cache, "shell"))
		out = append(out, "XDG_CACHE_HOME="+at, "GOCACHE="+filepath.Join(at, "go-build"), "npm_config_cache="+filepath.Join(at, "npm"),
			"PIP_CACHE_DIR="+filepath.Join(at, "pip"), "PYTHONPYCACHEPREFIX="+filepath.Join(at, "pycache"))
	}
	return out
}

// outside drops what of a PATH is relative or lies in the repository.
func (s *Set) outside(list string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool {
		return !filepath.IsAbs(dir) || s.within(unlinked(dir))
	})
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// within reports whether a path without links lies in the repository.
func (s *Set) within(name string) bool {
	rel, err := filepath.Rel(s.real, name)
	return err == nil && filepath.IsLocal(rel)
}

// ends keeps what a command prints, up to a limit.
type ends struct {
	kept bytes.Buffer
	lost int
}

func (e *ends) Write(b []byte) (int, error) {
	n := min(len(b), max(maxPrinted-e.kept.Len(), 0))
	e.kept.Write(b[:n])
	e.lost += len(b) - n
	return len(b), nil
}

// Escape sequences: CSI, OSC, and the two-byte ones. Source: ECMA-48.
var escapeSequences = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]?")

// plainOutput is what a command printed as text: without escape sequences and
// control characters, and of a line that was written over only its last state.
func plainOutput(s string) string {
	s = escapeSequences.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	var b strings.Builder
	for line := range strings.Lines(s) {
		text := strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(text, '\r'); i >= 0 {
			text = text[i+1:]
		}
		for _, r := range text {
			if r >= ' ' && r != 0x7f || r == '\t' {
				b.WriteRune(r)
			}
		}
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// report is what the model reads of a command: how it ended and what it printed,
// of much the head and the tail.
func (s *Set) report(r outcome, note string) string {
	head := fmt.Sprintf("exit code %d", r.code)
	if r.code > 128 && r.code < 128+65 {
		head = fmt.Sprintf("exit code %d (signal %d)", r.code, r.code-128)
	}
	if r.late > 0 {
		head = fmt.Sprintf("ended after %.0f s, the time it had", r.late.Seconds())
	}
	head += fmt.Sprintf(", %.1f s", r.lasted.Seconds())
	if len(r.refused) > 0 {
		head += "\nremoved again, as a command must not make it: " + strings.Join(r.refused, ", ")
	}
	if note != "" {
		head += "\n" + note
	}
	out := strings.TrimRight(plainOutput(r.out), "\n")
	if out == "" {
		return head + "\n(no output)"
	}
	end := min(maxEnds, (s.config.MaxResult-len(head)-300)/2)
	if len(out) <= 2*end {
		return head + "\n" + out
	}
	first := cutText(out, end)
	last := out[len(out)-end:]
	if i := strings.IndexByte(last, '\n'); i >= 0 && i < len(last)/2 {
		last = last[i+1:]
	}
	last = strings.ToValidUTF8(last, "")
	rest := fmt.Sprintf("[...%d of %d bytes left out", len(out)-len(first)-len(last), len(out)+r.lost)
	if r.lost > 0 {
		rest += fmt.Sprintf(", the last %d were not kept", r.lost)
	}
	if id := s.keep("shell", out); id != "" {
		rest += fmt.Sprintf("; read_result with handle=%s shows them", id)
	}
	return head + "\n" + first + "\n" + rest + "...]\n" + last
}
