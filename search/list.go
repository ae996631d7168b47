// Package search finds things in the files of a directory: which files there
// are (List), which of their lines match (Exact; Scan, file by file), and where
// the definitions begin and end (Chunks). It reads through an os.Root only, so nothing outside
// of the directory is ever shown. Package index ranks places by a question.
package search

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/charlievieth/fastwalk"
)

// DefaultMaxSize is the size in bytes above which List leaves a file out.
const DefaultMaxSize = 1 << 20

// Options chooses files. The zero value is what a reader of the source wants.
type Options struct {
	All       bool     // also hidden files and installed ones; never .git
	Installed bool     // also installed ones: node_modules, __pycache__, venv
	Ignored   bool     // also what .gitignore and .git/info/exclude leave out
	Names     bool     // Path alone is wanted, which is faster; MaxSize does not count
	MaxSize   int64    // bytes; 0 is DefaultMaxSize, negative is no limit
	Dir       string   // only what is below this directory, which is entered whatever the rules say; "" is the root
	Globs     []string // only paths that match one; "!glob" leaves out a file, or a directory with all below; without a slash the base name counts
	Entries   bool     // also directories, links and all else that is no regular file

	Unread func(dir string, err error) // if set, called for each directory that cannot be read, by path
}

// File is a regular file of the directory. Path is relative, with slashes.
type File struct {
	Path    string
	Size    int64
	ModTime time.Time
	Type    fs.FileMode // of one that is no regular file
}

// List lists the regular files below root by path. It follows no symbolic
// links and passes over directories that it may not read. The name that root
// was opened by must still lead to it. A bad glob is an error.
func List(ctx context.Context, root *os.Root, o Options) ([]File, error) {
	for _, g := range o.Globs {
		if err := CheckGlob(strings.TrimPrefix(g, "!")); err != nil {
			return nil, err
		}
	}
	l := lister{ctx: ctx, root: root, options: o, base: filepath.Clean(root.Name())}
	l.options.MaxSize = cmp.Or(o.MaxSize, DefaultMaxSize)
	l.options.Dir = path.Clean(cmp.Or(o.Dir, "."))
	if err := l.begin(); err != nil {
		return nil, fmt.Errorf("search: list files: %w", err)
	}
	if err := fastwalk.Walk(&fastwalk.Config{}, l.start, l.visit); err != nil {
		return nil, fmt.Errorf("search: list files: %w", err)
	}
	slices.SortFunc(l.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(l.unread, func(a, b *unread) int { return strings.Compare(a.dir, b.dir) })
	for _, u := range l.unread {
		o.Unread(u.dir, u.err)
	}
	return l.files, nil
}

// CheckGlob says what is wrong with a glob.
func CheckGlob(glob string) error {
	if !doublestar.ValidatePattern(glob) {
		return fmt.Errorf("search: glob %q: want a pattern such as **/*.go", glob)
	}
	return nil
}

// begin reads the rules of the directory in which the walk starts and of those
// above it.
func (l *lister) begin() error {
	dir, err := l.root.OpenRoot(l.options.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	l.start = filepath.Join(l.base, filepath.FromSlash(l.options.Dir))
	rules := l.enter(".", nil)
	l.rules.Store(".", rules)
	for i, c := range l.options.Dir + "/" {
		if at := l.options.Dir[:i]; c == '/' && at != "." {
			rules = l.enter(at, rules)
			l.rules.Store(at, rules)
		}
	}
	return sameDir(dir)
}

// sameDir checks that the name of root, by which the walk goes, is still root.
func sameDir(root *os.Root) error {
	have, err := root.Stat(".")
	if err != nil {
		return err
	}
	named, err := os.Stat(root.Name())
	if err != nil {
		return err
	}
	if !os.SameFile(have, named) {
		return fmt.Errorf("%s was replaced by another directory", root.Name())
	}
	return nil
}

type lister struct {
	ctx     context.Context
	root    *os.Root
	options Options
	base    string   // the root's path
	start   string   // the path where the walk starts
	rules   sync.Map // directory → *ignore, stored before its entries are visited

	mu     sync.Mutex
	files  []File
	unread []*unread
}

type unread struct {
	dir string
	err error
}

// visit is called for a directory before its entries, and for those at once.
func (l *lister) visit(name string, d fs.DirEntry, err error) error {
	if stop := l.ctx.Err(); stop != nil {
		return stop
	}
	if name == l.start {
		return err
	}
	rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(name, l.base), string(filepath.Separator)))
	if err != nil {
		l.miss(rel, err)
		return nil
	}
	rules := l.above(rel)
	switch {
	case d.IsDir() && l.skip(rel, rules, true):
		return fs.SkipDir
	case d.IsDir():
		l.rules.Store(rel, l.enter(rel, rules))
		if l.options.Entries && l.chosen(rel) {
			l.append(File{Path: rel, Type: fs.ModeDir})
		}
	case (d.Type().IsRegular() || l.options.Entries) && !l.skip(rel, rules, false) && l.chosen(rel):
		l.add(rel, d)
	}
	return nil
}

func (l *lister) miss(dir string, err error) {
	if l.options.Unread == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread = append(l.unread, &unread{dir, err})
}

func (l *lister) above(rel string) *ignore {
	v, _ := l.rules.Load(path.Dir(rel))
	g, _ := v.(*ignore)
	return g
}

// installed are directories that a package manager or an interpreter fills.
var installed = []string{"node_modules", "__pycache__", "venv"}

func (l *lister) skip(rel string, rules *ignore, dir bool) bool {
	name := path.Base(rel)
	if name == ".git" {
		return true
	}
	if !l.options.All && (name[0] == '.' || dir && !l.options.Installed && slices.Contains(installed, name)) {
		return true
	}
	return dir && l.barred(rel) || rules.ignored(rel, dir)
}

// barred reports a directory that a "!glob" leaves out with all below.
func (l *lister) barred(rel string) bool {
	return slices.ContainsFunc(l.options.Globs, func(g string) bool {
		g, not := strings.CutPrefix(g, "!")
		return not && Globbed(strings.TrimSuffix(strings.TrimSuffix(g, "**"), "/"), rel)
	})
}

func (l *lister) chosen(rel string) bool {
	only, in := false, false
	for _, g := range l.options.Globs {
		g, not := strings.CutPrefix(g, "!")
		match := Globbed(g, rel)
		if not && match {
			return false
		}
		only = only || !not
		in = in || !not && match
	}
	return in || !only
}

// Globbed reports whether a path fits a glob of Options, which is valid.
func Globbed(glob, rel string) bool {
	if !strings.Contains(glob, "/") {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(strings.TrimPrefix(glob, "/"), rel)
}

func (l *lister) add(rel string, d fs.DirEntry) {
	if l.options.Names || !d.Type().IsRegular() {
		l.append(File{Path: rel, Type: d.Type()})
		return
	}
	info, err := d.Info()
	if err != nil || !info.Mode().IsRegular() || l.options.MaxSize >= 0 && info.Size() > l.options.MaxSize {
		return
	}
	l.append(File{Path: rel, Size: info.Size(), ModTime: info.ModTime()})
}

func (l *lister) append(f File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, f)
}
