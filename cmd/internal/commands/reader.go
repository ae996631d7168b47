package commands

import (
	"bufio"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
	"github.com/unifiedtoolprotocol/utp/store/handle"
)

// Reading lists the commands that only read.
func Reading() []string {
	return []string{"grep", "find", "read", "ls", "tree", "diff", "log", "status", "json"}
}

// Reader runs the commands that only read, and none but those, for a caller who
// sees nothing outside of a root.
type Reader struct {
	Root    string // a directory, which is also the current one
	Table   toolenvelope.Table
	Path    string // the directories in which git is found, as PATH lists them
	Results *handle.Store
	May     func(name string) error // refuses to show a file, by its path below the root without links; nil: never
}

// ErrOutside is a path out of the root.
var ErrOutside = errors.New("outside of the root")

// Run gives what a command prints, complaints at its end. An error of May comes
// back as it is, any other is worded for the reader; one for a path out of the
// root is ErrOutside.
func (r Reader) Run(ctx context.Context, command string, args []string) (string, error) {
	if !slices.Contains(Reading(), command) {
		return "", usage("no such command: %s: want one of %s", command, strings.Join(Reading(), " "))
	}
	root, err := openPlace("", r.Root, "")
	if err != nil {
		return "", err
	}
	defer root.Close()
	var out, complaints strings.Builder
	a := &app{out: bufio.NewWriter(&out), err: &complaints, env: r.variable, now: time.Now, command: command, args: args,
		table: r.Table, wd: root.real, root: root, kept: r.Results, inner: &r}
	a.table.Workspace.AllowOutsideRoot = false
	if _, err := commands[command](a, ctx); err != nil {
		var f *failure
		if errors.As(err, &f) && f.code == "outside_root" {
			return "", errors.Join(ErrOutside, err)
		}
		return "", err
	}
	if err := a.out.Flush(); err != nil {
		return "", err
	}
	return out.String() + complaints.String(), nil
}

// variable is the environment of a command: PATH alone.
func (r Reader) variable(name string) string {
	if name == "PATH" {
		return r.Path
	}
	return ""
}
