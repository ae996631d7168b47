package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/markdown"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/mcp"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// app is the program: what it was started with.
type app struct {
	in       *os.File
	out, err *os.File
	env      func(string) string
	flags
	serving bool                // bx mcp serve
	told    bool                // the error is part of the JSON that was printed
	asks    func() (end func()) // prepares the terminal of a conversation for a question; nil: there is none
	schemas backend.Schemas     // of tools that come with every request
}

// job is one run of a command: where, by which settings, and who is told.
type job struct {
	app   *app
	root  string
	part  *part       // root is a folder of the repository, for one client; nil: it is all of it
	known *schema.Set // every tool there is, offered or not
	cfg   *config.Config
	set   config.Settings
	view  *view.Printer
	rules *rules                     // of the files, and what the user said yes to for good
	tools *tool.Set                  // of the repository
	sees  func(context.Context) bool // the model takes images; nil: it is not known
	team  *agent.Team                // of --team; nil: one agent alone
	model *connection                // that answers; nil: it is not known yet

	servers *servers // of MCP; nil: there are none, or nobody needs them
	only    []string // names of the tools that are offered; none: all of the tier

	question string
	piped    bool       // part of the question was piped in
	typed    string     // what the user typed of it, where a part of it came from elsewhere: only that raises the tier
	pictures []utp.Part // that go along with it
	talk     *talk      // that the question is part of; nil: it is the only one
	warnings []string   // of the turn
	sources  []string   // files of the places that went along with the question

	members map[string]*job // of team, each as one that asks by itself

	picks   map[string]learn.Pick // the learned forms of this conversation, by model
	digests map[string]string     // of models whose form is learned, as their server tells them

	serves bool       // as a gateway: the tools are the clients'
	more   config.Own // dialects of the gateway's file
}

// begin reads the configuration of a command that works in a repository.
func (a *app) begin() (*job, error) {
	root, err := a.rootDir()
	if err != nil {
		return nil, err
	}
	return a.beginIn(root)
}

// beginAnywhere is begin for a command that can do without a repository.
func (a *app) beginAnywhere() (*job, error) {
	root, err := a.rootDir()
	if errors.Is(err, errNoRepository) {
		root, err = "", nil
	}
	if err != nil {
		return nil, err
	}
	return a.beginIn(root)
}

// beginServing is begin for the gateway, which has no business with the folder
// that it is started in.
func (a *app) beginServing() (*job, error) {
	if a.root != "" {
		return a.begin()
	}
	return a.beginIn("")
}

// beginIn reads the user's configuration and that of a root, if there is one.
func (a *app) beginIn(root string) (*job, error) {
	cfg, err := config.Load(config.Places{User: dirs.User(), Repo: root, File: a.configFile(), Try: dialect.Try})
	if err != nil {
		return nil, err
	}
	if a.maxRounds < 0 {
		return nil, fail(exitUsage, "--max-rounds %d: want a number above 0", a.maxRounds)
	}
	set, err := cfg.Resolve(a.choices(), a.env)
	if err != nil {
		return nil, flagError(err)
	}
	j := &job{app: a, root: root, cfg: cfg, set: set, view: a.printer(), rules: &rules{set: set.Rules}, picks: map[string]learn.Pick{}, digests: map[string]string{}, members: map[string]*job{}}
	for _, w := range slices.Concat(cfg.Warnings, config.OldVariables(a.env)) {
		j.view.Line(view.Normal, "warning: %s", w)
	}
	for _, name := range cfg.Ignored {
		j.view.Line(view.Verbose, "ignored, as it belongs to another program: %s", name)
	}
	return j, nil
}

// configFile is the file of --config; "" is none.
func (a *app) configFile() string { return cmp.Or(a.config, a.env("BX_CONFIG")) }

// flagError gives a value of a flag that no file allows the exit code of a wrong
// command line.
func flagError(err error) error {
	var bad *config.Error
	if errors.As(err, &bad) && strings.HasPrefix(bad.File, "--") {
		return &coded{exitUsage, err}
	}
	return err
}

// streams reports whether each step is printed as JSON when it happens.
func (a *app) streams() bool { return a.outputFormat == "stream-json" }

// choices are the flags that settings follow from.
func (a *app) choices() config.Flags {
	return config.Flags{Profile: a.profile, Model: a.model, Tier: a.tier, MaxRounds: a.maxRounds, NoModel: a.noModel, Format: config.Format(a.toolFormat)}
}

func (a *app) printer() *view.Printer {
	live := isTerminal(a.err) && a.env("TERM") != "dumb"
	tells := &view.Progress{Err: a.err, Live: live, Columns: func() int { return columns(a.err) }, Now: time.Now}
	p := &view.Printer{Out: tells.Over(a.out, isTerminal(a.out)), Err: tells.Over(a.err, live), Progress: tells}
	switch {
	case a.env("DEBUG") == "1":
		p.Level = view.Debug
	case a.verbose:
		p.Level = view.Verbose
	case a.quiet:
		p.Level, p.Progress = view.Quiet, nil
	}
	p.Live = isTerminal(a.out) && !a.json && !a.streams()
	p.Color = isTerminal(a.err) && a.colors()
	if isTerminal(a.err) {
		p.Columns = tells.Columns
	}
	if p.Live && a.colors() {
		p.Markdown = &markdown.Writer{Out: p.Out, Columns: func() int { return columns(a.out) }}
	}
	return p
}

// colors reports that a terminal may be sent colours.
func (a *app) colors() bool { return a.env("NO_COLOR") == "" && a.env("TERM") != "dumb" }

// indexing tells how far the search index is.
func (j *job) indexing(ctx context.Context, done, of int) {
	mcp.Progress(ctx, float64(done), float64(of), "indexing files")
	j.view.Progress.More("(indexing " + view.Far(done, of) + " files)")
}

// results is where results that were cut are kept.
func (j *job) results() *handle.Store {
	if j.app.noSession {
		return handle.Open("", time.Now)
	}
	return handle.Open(dirs.Results(), time.Now)
}

// openTools opens the built-in tools over the root.
func (j *job) openTools() (*tool.Set, error) {
	tools, err := tool.New(j.toolConfig())
	if err != nil {
		return nil, err
	}
	j.tools = tools
	return tools, j.checkNames(tools.Tools())
}

// withTools runs a command on the built-in tools of the repository.
func (a *app) withTools(run func(*job, *tool.Set) error) error {
	j, err := a.begin()
	if err != nil {
		return err
	}
	tools, err := j.openTools()
	if err != nil {
		return err
	}
	defer tools.Close()
	return run(j, tools)
}

// checkNames refuses a name of a tool, in --allow or in [tool_templates], that
// would never match.
func (j *job) checkNames(tools []utp.Tool) error {
	if err := j.app.allowed(tools, j.mayServe); err != nil {
		return err
	}
	known := namesOfTools(tools)
	for _, r := range j.rules.all() {
		if near := config.Meant(r.Tool, known); near != "" && r.Tool != "run" && !slices.Contains(known, r.Tool) {
			return &config.Error{File: r.From, Message: fmt.Sprintf("rule: there is no tool %q: did you mean %s?", r.Tool, near)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.set.Templates)) {
		if !slices.Contains(known, name) && !j.mayServe(name) {
			return &config.Error{File: "[tool_templates]", Message: fmt.Sprintf("unknown tool %q: want one of %s", name, strings.Join(known, ", "))}
		}
	}
	return nil
}

// allowed refuses a name in --allow that no tool has, or may have.
func (a *app) allowed(tools []utp.Tool, may func(string) bool) error {
	known := namesOfTools(tools)
	for _, name := range a.allow {
		if name != "run" && !slices.Contains(known, name) && !may(name) {
			return fail(exitUsage, "--allow %s: want run, or one of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

func namesOfTools(tools []utp.Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}
