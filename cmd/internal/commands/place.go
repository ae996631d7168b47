package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/te"
)

// place is a directory that is read from: the workspace, or one outside of it
// where that is allowed.
type place struct {
	*os.Root
	given string // its path
	real  string // without links
}

func openPlace(wd, dir, below string) (*place, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(wd, dir)
	}
	if filepath.IsAbs(below) {
		dir = below
	} else {
		dir = filepath.Join(dir, below)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, notFound(dir)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, notFound(dir)
	}
	return &place{root, dir, real}, nil
}

// target is a file or directory that a command names.
type target struct {
	place *place
	given string // as it was written
	name  string // below the place, without links
	info  fs.FileInfo
}

func notFound(given string) error {
	return fail("not_found", exitNone, "no such file: %s", te.Quote(given))
}

// target finds what an argument names. Outside of the workspace nothing is
// found, unless the configuration opens it.
func (a *app) target(given string) (*target, error) {
	if !a.open(given) {
		return nil, outside(given)
	}
	real, err := filepath.EvalSymlinks(a.abs(given))
	if err != nil {
		return nil, cannot(given, err)
	}
	if rel, err := filepath.Rel(a.root.real, real); err == nil && filepath.IsLocal(rel) {
		return a.at(a.root, given, filepath.ToSlash(rel))
	}
	if !a.table.Workspace.AllowOutsideRoot {
		return nil, outside(given)
	}
	p, err := openPlace("", filepath.Dir(real), "")
	if err != nil {
		return nil, err
	}
	return a.at(p, given, filepath.Base(real))
}

// toRead is the target of an argument whose contents are to be shown.
func (a *app) toRead(given string) (*target, error) {
	t, err := a.target(filepath.Clean(given))
	if err == nil && !t.info.IsDir() {
		err = a.may(t.name)
	}
	return t, err
}

// may refuses what the caller must not show of a file below the root.
func (a *app) may(name string) error {
	if a.inner == nil || a.inner.May == nil {
		return nil
	}
	return a.inner.May(name)
}

// abs is the path of an argument.
func (a *app) abs(given string) string {
	if abs := filepath.FromSlash(given); filepath.IsAbs(abs) {
		return abs
	}
	return filepath.Join(a.wd, filepath.FromSlash(given))
}

// open reports whether an argument may be looked for at all.
func (a *app) open(given string) bool {
	return a.table.Workspace.AllowOutsideRoot || a.near(a.abs(given))
}

// near reports whether a path lies below the workspace by its words alone, so
// that nothing is told of what lies elsewhere.
func (a *app) near(abs string) bool {
	for _, base := range []string{a.root.real, a.root.given} {
		if rel, err := filepath.Rel(base, abs); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

func outside(given string) error {
	return fail("outside_root", exitNone, "Path is outside the workspace: %s", given)
}

func (a *app) at(p *place, given, name string) (*target, error) {
	info, err := p.Stat(name)
	if err != nil {
		return nil, cannot(given, err)
	}
	return &target{p, given, name, info}, nil
}

// cannot words an error of the file system.
func cannot(given string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFound(given)
	case errors.Is(err, fs.ErrPermission):
		return fail("not_found", exitNone, "permission denied: %s", te.Quote(given))
	case errors.Is(err, search.ErrTooLarge):
		return fail("not_found", exitNone, "%s: a line is longer than te can search", te.Quote(given))
	case errors.Is(err, search.ErrNotRegular):
		return fail("not_found", exitNone, "not a regular file: %s", te.Quote(given))
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fail("not_found", exitNone, "%s: %s", te.Quote(given), strings.TrimPrefix(err.Error(), "search: list files: "))
}

// shown is how a file below the target is named: as the argument was written,
// and what stands below it.
func (t *target) shown(name string) string {
	if t.given == "" { // the current directory, which nobody wrote
		return t.below(name)
	}
	if name == t.name {
		return filepath.ToSlash(t.given)
	}
	return strings.TrimSuffix(filepath.ToSlash(t.given), "/") + "/" + t.below(name)
}

func (t *target) below(name string) string {
	if t.name == "." {
		return name
	}
	return strings.TrimPrefix(name, t.name+"/")
}

// files lists the files of the target: itself, or those below it.
func (a *app) files(ctx context.Context, t *target, o search.Options) ([]search.File, error) {
	if !t.info.IsDir() {
		if err := a.may(t.name); err != nil {
			return nil, err
		}
		return []search.File{{Path: t.name, Size: t.info.Size(), ModTime: t.info.ModTime()}}, nil
	}
	o.Dir = t.name
	o.Ignored = o.Ignored || !a.table.Workspace.RespectGitignore
	o.Installed, o.MaxSize = true, -1
	o.Unread = func(dir string, err error) { a.complain(cannot(t.shown(dir), err)) }
	files, err := search.List(ctx, t.place.Root, o)
	switch {
	case err == nil || ctx.Err() != nil:
		return slices.DeleteFunc(files, func(f search.File) bool { return !f.Type.IsDir() && a.may(f.Path) != nil }), err
	case strings.Contains(err.Error(), "glob"):
		return nil, globError(err)
	}
	return nil, cannot(cmp.Or(t.given, "."), err)
}

// globError words what search says of a glob.
func globError(err error) error {
	if err == nil {
		return nil
	}
	return usage("%s", strings.TrimPrefix(err.Error(), "search: "))
}

// complain says what could not be read. All else goes on.
func (a *app) complain(err error) {
	a.unread++
	if !a.silent {
		fmt.Fprintf(a.err, "te: %v\n", err)
	}
}

// targets finds what arguments name; none is the current directory.
func (a *app) targets(given []string) (out []*target, err error) {
	if len(given) == 0 {
		t, err := a.target(".")
		if err == nil {
			t.given = ""
		}
		return []*target{t}, err
	}
	for _, g := range given {
		t, err := a.target(path.Clean(filepath.ToSlash(g)))
		if err != nil {
			return nil, err
		}
		t.given = g
		out = append(out, t)
	}
	return out, nil
}
