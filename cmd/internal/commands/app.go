// Package commands is what te does: grep, find, read and the other commands that
// agents know from the shell, whose results are tool envelopes. The program te
// runs all of them, an MCP server those that read, inside one root.
package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

// Streams are those of a program.
type Streams struct {
	In       *os.File
	Out, Err io.Writer
}

// Main runs te with its arguments and returns the exit code. env looks up a
// variable of the environment; build says which build te is.
func Main(ctx context.Context, s Streams, env func(string) string, build string, args []string) int {
	a := &app{in: s.In, out: bufio.NewWriterSize(s.Out, 64<<10), err: s.Err, env: env, now: time.Now, build: build}
	return a.main(ctx, args)
}

// Exit codes beside those of the commands. docs/te.md explains them.
const (
	exitOK         = 0
	exitNone       = 1 // no match, not found, refused
	exitUsage      = 2
	exitTimeout    = 124
	exitNotRunable = 126
	exitNoProgram  = 127
	exitSignal     = 128
	exitPipe       = 141
)

// app is one run of te.
type app struct {
	in  *os.File
	out *bufio.Writer
	err io.Writer
	env func(string) string
	now func() time.Time

	build string

	globals
	command string
	args    []string

	table toolenvelope.Table
	wd    string // or the workspace, if that lies elsewhere
	root  *place
	kept  *handle.Store
	inner *Reader // that the run is for; nil: for the program te

	use  record.Command // what this run came to
	text string         // that a command of te's own has shown

	unread int  // files and directories that could not be read
	silent bool // about them
}

// globals are the flags that stand before the command, or after one of te's own.
type globals struct {
	raw, json, list, stats, version, help bool
	budget                                int // in tokens
	handle, dir                           string
	chunk                                 int
}

// failure is what went wrong, in a word for programs and one line for the reader.
type failure struct {
	code string
	exit int
	text string
}

func (f *failure) Error() string { return f.text }

func fail(code string, exit int, format string, args ...any) error {
	return &failure{code, exit, fmt.Sprintf(format, args...)}
}

func usage(format string, args ...any) error { return fail("usage", exitUsage, format, args...) }

func (a *app) main(ctx context.Context, args []string) int {
	began := a.now()
	code, err := a.run(ctx, args)
	defer func() { a.told(began, code, err) }()
	if err != nil {
		code = a.fail(err)
	}
	if err := a.out.Flush(); err != nil {
		if errors.Is(err, syscall.EPIPE) {
			return exitPipe
		}
		fmt.Fprintf(a.err, "te: %v\n", err)
		return max(code, exitNone)
	}
	if ctx.Err() != nil {
		return exitSignal + int(syscall.SIGINT)
	}
	return code
}

// fail shows a failure and gives its exit code.
func (a *app) fail(err error) int {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{"internal", exitNone, err.Error()}
	}
	switch {
	case a.json:
		a.object(te.Fail(a.name(), f.code, f.text))
	case a.raw:
		fmt.Fprintf(a.err, "te: %s\n", f.text)
	default:
		a.out.WriteString(te.Fail(a.name(), f.code, f.text))
	}
	return f.exit
}

func (a *app) name() string {
	switch {
	case a.handle != "":
		return "handle"
	case a.command == "":
		return "te"
	}
	return a.command
}

func (a *app) run(ctx context.Context, args []string) (int, error) {
	rest, err := options{a.globalOptions()}.leading(args)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		a.command, a.args = rest[0], rest[1:]
	}
	switch {
	case a.version || a.command == "version":
		a.out.WriteString("te " + a.build + "\n")
		return exitOK, nil
	case a.help || a.command == "help":
		a.out.WriteString(usageText)
		return exitOK, nil
	case a.command == "" && a.handle == "" && !a.list && !a.stats:
		fmt.Fprint(a.err, usageText)
		return exitNone, nil
	}
	if err := a.begin(); err != nil {
		return 0, err
	}
	defer func() { // --root after the command opens another
		if a.root != nil {
			a.root.Close()
		}
	}()
	switch {
	case a.handle != "":
		return a.fetch()
	case a.list:
		return a.listHandles()
	case a.stats:
		return a.statistics()
	}
	if c, ok := commands[a.command]; ok && !(a.raw && a.command != "grep") {
		return c(a, ctx)
	}
	return a.pass(ctx)
}

// commands are te's own. All others are passed through.
var commands = map[string]func(*app, context.Context) (int, error){
	"grep": (*app).grep, "find": (*app).find, "cat": (*app).read, "read": (*app).read, "ls": (*app).ls, "tree": (*app).tree,
	"diff": (*app).git, "log": (*app).git, "status": (*app).git, "run": (*app).program, "json": (*app).shape,
	"repo": (*app).repo, "rag": (*app).rag, "coach": (*app).coach,
}

// begin reads the configuration and opens the workspace.
func (a *app) begin() (err error) {
	if a.wd, err = os.Getwd(); err != nil {
		return fmt.Errorf("the current directory cannot be read: %w", err)
	}
	if a.wd, err = filepath.EvalSymlinks(a.wd); err != nil {
		return fmt.Errorf("the current directory cannot be read: %w", err)
	}
	root := a.dir
	if root == "" {
		root, _ = dirs.Root(a.wd)
	}
	table, warnings, err := toolenvelope.Load(dirs.User(), root)
	if err != nil {
		return fail("usage", exitUsage, "%v", err)
	}
	for _, w := range warnings {
		fmt.Fprintf(a.err, "te: %s\n", w)
	}
	a.table = table
	if !table.Enabled && !a.raw {
		return fail("usage", exitNone, "disabled in config")
	}
	if a.root, err = openPlace(a.wd, root, table.Workspace.Root); err != nil {
		return err
	}
	if !a.near(a.wd) {
		a.wd = a.root.real
	}
	a.kept = handle.Open(dirs.Results(), a.now)
	return nil
}

const usageText = `te shows what shell commands find as a tool envelope.

  te grep PATTERN [PATH…]      search with grep's and rg's flags; definitions come first
  te find [PATH…] [-name G]    files by name
  te read FILE[:FROM[-TO]]     a file, some of its lines, or the outline of a big one (also: te cat)
  te ls, te tree [PATH]        directories; --tokens says what files cost to read
  te diff, te log, te status   git, read only
  te run COMMAND…              a program: its beginning, its errors, its end, its exit code
  te json FILE                 the shape of a JSON file
  te repo read --root R --path P
  te rag query --q QUESTION    ranked places for a question, by bx
  te coach report              which way of showing results served best; apply sets it, undo takes it back
  te version                   which build this is
  te COMMAND…                  any other command, as it is

  --handle ID [--chunk N]      all of a result that was cut, or a piece
  --list-handles               the results that are kept
  --stats                      what te was used for
  --budget N                   show at most N tokens
  -i, --raw                    what the command itself would print
  --json                       {meta, content, breadcrumbs}
  --root DIR                   the workspace; else the repository around
  --version, --help

docs/te.md tells more.
`
