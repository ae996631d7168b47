package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/te"
)

// findFlags are those of find.
type findFlags struct {
	tests           []func(string) bool // of the path as it is shown
	kind            byte                // as -type names it
	hidden, ignored bool
	max             int
	not             bool // the next test is turned
}

func (f *findFlags) test(glob string, whole, fold bool) error {
	if fold {
		glob = strings.ToLower(glob)
	}
	if _, err := path.Match(glob, ""); err != nil {
		return wanted("want a pattern such as *.go")
	}
	not := f.not
	f.not = false
	f.tests = append(f.tests, func(name string) bool {
		if !whole {
			name = path.Base(name)
		}
		if fold {
			name = strings.ToLower(name)
		}
		return globbed(glob, name, whole) != not
	})
	return nil
}

// globbed matches a glob of find, in which a star of -path goes over slashes.
func globbed(glob, name string, whole bool) bool {
	if whole {
		return search.Wild(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	}
	return search.Wild(glob, name)
}

func (a *app) find(ctx context.Context) (int, error) {
	f := findFlags{max: -1}
	glob := func(names string, whole, fold bool) option {
		return option{names: names, value: func(s string) error { return f.test(s, whole, fold) }}
	}
	words, err := options{a.sharedOptions(), {
		glob("-name", false, false), glob("-iname", false, true), glob("-path -wholename", true, false), glob("-ipath", true, true),
		{names: "-not !", on: func() { f.not = true }}, {names: "-print -and -a", on: func() {}},
		{names: "-type", value: func(s string) error {
			if s != "f" && s != "d" && s != "l" {
				return wanted("want f, d or l")
			}
			f.kind = s[0]
			return nil
		}},
		number("-maxdepth --max-depth", &f.max, 0), toggle("--hidden -H", &f.hidden), toggle("--no-ignore -I", &f.ignored),
	}}.all(notWord(a.args))
	if err != nil {
		return 0, err
	}
	return a.found(ctx, &f, words)
}

// notWord makes "!" the flag that it is to find.
func notWord(args []string) []string {
	args = slices.Clone(args)
	for i, s := range args {
		if s == "!" {
			args[i] = "-not"
		}
	}
	return args
}

func (a *app) found(ctx context.Context, f *findFlags, words []string) (int, error) {
	if len(words) == 1 && len(f.tests) == 0 { // te find '*.go', te find handler
		if _, err := os.Lstat(a.abs(words[0])); errors.Is(err, os.ErrNotExist) && a.open(words[0]) {
			glob := words[0]
			if !strings.ContainsAny(glob, "*?[") {
				glob = "*" + glob + "*"
			}
			if err := f.test(glob, strings.Contains(glob, "/"), false); err != nil {
				return 0, usage("%s: %v", words[0], err)
			}
			words = nil
		}
	}
	targets, err := a.targets(words)
	if err != nil {
		return 0, err
	}
	var names []string
	for _, t := range targets {
		files, err := a.files(ctx, t, search.Options{Names: true, Entries: true, All: f.hidden, Ignored: f.ignored})
		if err != nil {
			return 0, err
		}
		for _, file := range files {
			if f.chosen(t, file) {
				names = append(names, t.shown(file.Path))
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	code := exitOK
	if len(names) == 0 {
		code = exitNone
	}
	r := result{meta: te.Meta{Cmd: "find", Files: len(names)}, code: code}
	if len(names) > 0 {
		r.text = lines(names)
	}
	if a.table.Find.Enabled && !a.fits(r.text, a.limit(0)) {
		r.envelope = func(m te.Meta, n int) string { return te.Names(m, names, n) }
	}
	return a.show(r)
}

// lines are names, one each.
func lines(names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(te.Quote(n) + "\n")
	}
	return b.String()
}

// chosen reports an entry that is wanted.
func (f *findFlags) chosen(t *target, e search.File) bool {
	depth := strings.Count(t.below(e.Path), "/") + 1
	if e.Path == t.name {
		depth = 0
	}
	return (f.kind == 0 || f.kind == kindOf(e.Type)) && (f.max < 0 || depth <= f.max) && f.passes(t.shown(e.Path))
}

// kindOf is the letter that find and ls have for what a name is.
func kindOf(m fs.FileMode) byte {
	switch {
	case m.IsRegular():
		return 'f'
	case m.IsDir():
		return 'd'
	case m&fs.ModeSymlink != 0:
		return 'l'
	}
	return 'p'
}

func (f *findFlags) passes(name string) bool {
	for _, test := range f.tests {
		if !test(name) {
			return false
		}
	}
	return true
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
