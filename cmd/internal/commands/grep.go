package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

// grepFlags are those of grep and of rg, with their meaning.
type grepFlags struct {
	patterns, files                             []string
	globs, excludeDirs, types, notTypes         []string
	names                                       []nameRule
	fixed, ignoreCase, smartCase, word, line    bool
	perl, some                                  bool
	invert, text, crlf                          bool
	count, matching, with, without, quiet, only bool
	number, name, noName, column                bool
	hidden, ignored                             bool
	before, after, around, max                  int // of context, -1 if not given
}

// nameRule is --include or --exclude.
type nameRule struct {
	glob string
	in   bool
}

func (a *app) grepOptions(f *grepFlags) options {
	no := func(names string) option { return option{names: names, on: func() {}} }
	ignored := func(names string) option { return option{names: names, value: func(string) error { return nil }} }
	named := func(names string, in bool) option {
		return option{names: names, value: func(s string) error {
			f.names = append(f.names, nameRule{s, in})
			return globError(search.CheckGlob(s))
		}}
	}
	typed := func(names string, at *[]string) option {
		return option{names: names, value: func(s string) error {
			*at = append(*at, s)
			if types[s] == "" {
				return wanted("no such type: want one of " + strings.Join(slices.Sorted(maps.Keys(types)), " "))
			}
			return nil
		}}
	}
	loose := option{names: "-u --unrestricted", on: func() { f.hidden, f.ignored = f.ignored, true }}
	return options{a.sharedOptions(), {
		list("-e --regexp", &f.patterns), list("-f --file", &f.files), toggle("-F --fixed-strings", &f.fixed), no("-E --extended-regexp"), toggle("-P --perl-regexp --pcre2", &f.perl),
		toggle("-i --ignore-case", &f.ignoreCase), toggle("-S --smart-case", &f.smartCase), no("--case-sensitive --no-ignore-case"),
		toggle("-w --word-regexp", &f.word), toggle("-x --line-regexp", &f.line), toggle("-v --invert-match", &f.invert), toggle("--crlf", &f.crlf),
		toggle("-c", &f.count), option{names: "--count", on: func() { f.count, f.some = true, true }}, toggle("--count-matches", &f.matching), either("-l --files-with-matches", &f.with, &f.without),
		either("-L --files-without-match", &f.without, &f.with), toggle("-q --quiet --silent", &f.quiet), toggle("-o --only-matching", &f.only),
		toggle("-n --line-number", &f.number), option{names: "-N --no-line-number", on: func() { f.number = false }}, toggle("--column", &f.column),
		either("-H --with-filename", &f.name, &f.noName), either("-h --no-filename", &f.noName, &f.name),
		number("-m --max-count", &f.max, 1), number("-A --after-context", &f.after, 0), number("-B --before-context", &f.before, 0), number("-C --context", &f.around, 0),
		toggle("-s --no-messages", &a.silent), no("-r --recursive -R --dereference-recursive --no-heading --heading --no-config --no-require-git --no-ignore-global --no-ignore-messages -I --trim --stats --line-buffered --no-mmap --mmap"),
		ignored("--color --colour --colors --sort --sortr -j --threads --max-columns -M --binary-files"),
		named("--include", true), named("--exclude", false), list("--exclude-dir", &f.excludeDirs), list("-g --glob", &f.globs), typed("-t --type", &f.types), typed("-T --type-not", &f.notTypes),
		toggle("-a --text", &f.text), toggle("-. --hidden", &f.hidden), toggle("--no-ignore --no-ignore-vcs", &f.ignored), loose,
	}}
}

// query makes the flags and words one query and the paths to search.
func (a *app) query(f *grepFlags) (q search.Query, paths []string, err error) {
	words, err := a.grepOptions(f).all(a.args)
	if err != nil {
		return q, nil, err
	}
	patterns := f.patterns
	for _, name := range f.files {
		src, err := a.patternFile(name)
		if err != nil {
			return q, nil, exit(err, exitUsage)
		}
		patterns = append(patterns, strings.Split(strings.TrimSuffix(src, "\n"), "\n")...)
	}
	if f.patterns == nil && f.files == nil {
		if len(words) == 0 {
			return q, nil, usage("te grep wants a pattern: te grep PATTERN [PATH…]")
		}
		patterns, words = words[:1], words[1:]
	}
	if f.before < 0 {
		f.before = f.around
	}
	if f.after < 0 {
		f.after = f.around
	}
	if f.smartCase && strings.ToLower(strings.Join(patterns, "")) == strings.Join(patterns, "") {
		f.ignoreCase = true
	}
	q = search.Query{IgnoreCase: f.ignoreCase, Word: f.word, Line: f.line, CRLF: f.crlf, Longest: !f.perl, Invert: f.invert, Before: f.before, After: f.after, Max: f.max, Binary: f.text}
	q.Pattern, q.Literal = oneOf(patterns, f.fixed)
	if _, err := search.Compile(q); err != nil {
		return q, nil, fail("invalid_pattern", exitUsage, "%s", strings.TrimPrefix(err.Error(), "search: "))
	}
	return q, words, nil
}

// patternFile reads -f FILE, which may lie anywhere if te itself was started.
func (a *app) patternFile(name string) (string, error) {
	if a.inner == nil {
		src, err := os.ReadFile(a.abs(name))
		if err != nil {
			return "", fail("not_found", exitUsage, "%v", err)
		}
		return string(src), nil
	}
	text, _, err := a.readFile(context.Background(), name, readFlags{})
	return text, err
}

// found is what grep found in one file.
type found struct {
	search.Found
	shown string // how the file is named
	spans [][][2]int
}

func (a *app) grep(ctx context.Context) (int, error) {
	f := grepFlags{before: -1, after: -1}
	q, paths, err := a.query(&f)
	if err != nil {
		return 0, err
	}
	pattern, err := search.Compile(q)
	if err != nil {
		return 0, fail("invalid_pattern", exitUsage, "%v", err)
	}
	whole, cancel := ctx, func() {}
	if !a.raw {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(a.table.Grep.TimeoutMS)*time.Millisecond)
	}
	defer cancel()
	g := &grepping{app: a, flags: &f, query: q, pattern: pattern, meta: te.Meta{Cmd: "grep"}, limit: max(4*a.limit(0), 1<<20)}
	if a.raw {
		g.limit = 0
	}
	err = g.paths(ctx, paths)
	switch {
	case whole.Err() != nil:
		return 0, fail("internal", exitSignal+2, "interrupted")
	case errors.Is(err, context.DeadlineExceeded):
		g.meta.Error, g.meta.Truncated = "timeout", true
	case errors.Is(err, errFound):
	case err != nil:
		return 0, err
	}
	return g.finish()
}

// errFound ends a search of which the first match is enough.
var errFound = errors.New("found")

// grepping is a search in progress.
type grepping struct {
	*app
	flags   *grepFlags
	query   search.Query
	pattern *search.Pattern
	meta    te.Meta
	limit   int // bytes of text after which a preview is certain; 0 without a preview
	named   bool

	text   strings.Builder
	lost   bool // the text is not all
	groups []te.Group
	lines  int // of the files, that match
	binary int
	listed int // lines of text
}

func (g *grepping) paths(ctx context.Context, given []string) error {
	if len(given) == 0 {
		given = []string{""}
	}
	g.named = !g.flags.noName && (g.flags.name || len(given) > 1)
	for _, name := range given {
		if err := g.below(ctx, name, len(given) == 1); err != nil {
			return err
		}
	}
	return nil
}

func (g *grepping) below(ctx context.Context, given string, only bool) error {
	var f *failure
	t, err := g.target(filepath.Clean(given))
	if err != nil {
		if !errors.As(err, &f) || only {
			return exit(err, exitUsage)
		}
		g.complain(err)
		return nil
	}
	t.given = given
	named := g.named || t.info.IsDir() && !g.flags.noName
	files, err := g.files(ctx, t, g.listing())
	if errors.As(err, &f) && f.code == "not_found" && !only {
		g.complain(err)
		return nil
	}
	if err != nil {
		return exit(err, exitUsage)
	}
	if t.info.IsDir() && g.excludedDir(path.Base(filepath.ToSlash(given))) {
		return nil
	}
	files = slices.DeleteFunc(files, func(f search.File) bool { return g.excluded(t.below(f.Path)) })
	if g.flags.without || g.counts() {
		return g.every(ctx, t, files, named)
	}
	return search.Scan(ctx, t.place.Root, files, g.query, func(f search.Found) error { return g.file(t, f, named) })
}

// counts reports that each file is counted, also where the count is 0.
func (g *grepping) counts() bool { return g.raw && g.flags.count && !g.flags.some && !g.flags.with }

// every reports each file, also those without a match.
func (g *grepping) every(ctx context.Context, t *target, files []search.File, named bool) error {
	at := 0
	upTo := func(name string) error {
		for ; at < len(files) && files[at].Path != name; at++ {
			if err := g.file(t, search.Found{File: files[at]}, named); err != nil {
				return err
			}
		}
		at++
		return nil
	}
	err := search.Scan(ctx, t.place.Root, files, g.query, func(f search.Found) error {
		return errors.Join(upTo(f.Path), g.file(t, f, named))
	})
	return errors.Join(err, upTo(""))
}

func (g *grepping) listing() search.Options {
	o := search.Options{Names: true, All: g.flags.hidden, Ignored: g.flags.ignored}
	for _, glob := range g.flags.globs {
		rest, not := strings.CutPrefix(glob, "!")
		if glob = anywhere(rest); not {
			glob = "!" + glob
		}
		o.Globs = append(o.Globs, glob)
	}
	return o
}

// excluded reports a file that --include, --exclude, --exclude-dir or a type
// leaves out.
func (g *grepping) excluded(name string) bool {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if g.excludedDir(path.Base(dir)) {
			return true
		}
	}
	return !g.flags.in(name) || len(g.flags.types) > 0 && !ofType(name, g.flags.types) || ofType(name, g.flags.notTypes)
}

func (g *grepping) excludedDir(name string) bool {
	return slices.ContainsFunc(g.flags.excludeDirs, func(glob string) bool { return search.Wild(strings.TrimSuffix(glob, "/"), name) })
}

// in says what --include and --exclude make of a file: the last that fits
// counts, and without one the first says whether all others are in.
func (f *grepFlags) in(name string) bool {
	in := len(f.names) == 0 || !f.names[0].in
	for _, r := range f.names {
		if search.Globbed(anywhere(r.glob), name) {
			in = r.in
		}
	}
	return in
}

// anywhere makes a glob with a slash fit below any directory.
func anywhere(glob string) string {
	if strings.Contains(strings.Trim(glob, "/"), "/") && !strings.HasPrefix(glob, "/") && !strings.HasPrefix(glob, "**/") {
		return "**/" + glob
	}
	return glob
}

// file takes in what was found in one file.
func (g *grepping) file(t *target, f search.Found, named bool) error {
	name := t.shown(f.Path)
	if f.Err != nil {
		g.complain(cannot(name, f.Err))
		return nil
	}
	if f.Binary {
		g.binary++
		if f.Count > 0 && !g.silent {
			fmt.Fprintf(g.err, "te: %s: not text after a NUL; what follows was not searched\n", name)
		}
	}
	if f.Count == 0 && (!g.flags.without || f.Binary) && !(g.counts() && !f.Binary) {
		return nil
	}
	g.lines += f.Count
	switch {
	case g.flags.quiet && f.Count > 0:
		return errFound
	case g.flags.quiet:
		return nil
	}
	w := found{Found: f, shown: name}
	w.mark(g)
	g.write(w, named)
	if !g.raw {
		g.collect(w)
	}
	return nil
}

// mark finds the matches in lines, where they are asked for.
func (f *found) mark(g *grepping) {
	if !g.flags.only && !g.flags.column && !g.flags.matching {
		return
	}
	for _, m := range f.Matches {
		f.spans = append(f.spans, g.pattern.Spans(m.Text))
	}
}

func (g *grepping) finish() (int, error) {
	code := exitOK
	some := g.lines > 0 // also with -L, as GNU grep has it since 3.5
	switch {
	case (g.unread > 0 || g.meta.Error != "") && !(g.flags.quiet && some):
		code = exitUsage
	case !some:
		code = exitNone
	}
	if g.flags.quiet {
		return code, nil
	}
	if g.lines == 0 && strings.Contains(g.query.Pattern, `\|`) {
		g.meta.Hint = `patterns are extended: a choice is written | and \| is a bar`
	}
	r := result{meta: g.meta, code: code, text: g.text.String(), lost: g.lost || g.meta.Error != "", envelope: g.envelope}
	return g.show(r)
}

// exit gives a failure another exit code.
func exit(err error, code int) error {
	var f *failure
	if errors.As(err, &f) {
		return &failure{f.code, code, f.text}
	}
	return err
}

// keep adds to the text, as far as it can be kept.
func (g *grepping) keep(s string) {
	if g.raw {
		g.out.WriteString(s)
		return
	}
	if g.text.Len()+len(s) > handle.MaxSize {
		g.lost = true
		return
	}
	g.text.WriteString(s)
}
