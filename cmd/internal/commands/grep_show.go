package commands

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/te"
)

// oneOf makes one pattern of several, and of what grep has and RE2 has not.
func oneOf(patterns []string, fixed bool) (pattern string, literal bool) {
	var all []string
	for _, p := range patterns {
		all = append(all, strings.Split(p, "\n")...)
	}
	if fixed && len(all) == 1 {
		return all[0], true
	}
	for i, p := range all {
		if fixed {
			all[i] = regexp.QuoteMeta(p)
		} else {
			all[i] = wordEdges.ReplaceAllString(p, `$1\b`)
		}
	}
	if len(all) == 1 {
		return all[0], false
	}
	return "(?:" + strings.Join(all, ")|(?:") + ")", false
}

// wordEdges are \< and \> of grep, after an even number of backslashes.
var wordEdges = regexp.MustCompile(`((?:^|[^\\])(?:\\\\)*)\\[<>]`)

// types are the names of --type, with the globs of their files.
var types = map[string]string{
	"c": "*.c *.h", "cpp": "*.cpp *.cc *.cxx *.hpp *.hh *.hxx *.h", "cs": "*.cs", "csharp": "*.cs", "css": "*.css *.scss", "dart": "*.dart", "docker": "*Dockerfile*", "go": "*.go", "h": "*.h *.hh *.hpp", "html": "*.html *.htm", "java": "*.java",
	"js": "*.js *.jsx *.mjs *.cjs *.vue", "javascript": "*.js *.jsx *.mjs *.cjs *.vue", "json": "*.json", "kotlin": "*.kt *.kts", "lua": "*.lua", "make": "Makefile makefile GNUmakefile *.mk", "md": "*.md *.markdown",
	"markdown": "*.md *.markdown", "php": "*.php", "proto": "*.proto", "py": "*.py *.pyi", "python": "*.py *.pyi", "rb": "*.rb", "ruby": "*.rb", "scala": "*.scala *.sbt", "rust": "*.rs",
	"sh": "*.sh *.bash *.zsh", "sql": "*.sql", "swift": "*.swift", "toml": "*.toml", "ts": "*.ts *.tsx *.mts *.cts", "txt": "*.txt", "typescript": "*.ts *.tsx *.mts *.cts", "xml": "*.xml *.xsl *.svg", "yaml": "*.yaml *.yml",
}

func ofType(name string, wanted []string) bool {
	for _, w := range wanted {
		for glob := range strings.FieldsSeq(types[w]) {
			if ok, err := path.Match(glob, path.Base(name)); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// write adds what grep would print of a file.
func (g *grepping) write(f found, named bool) {
	fl := g.flags
	name := f.shown
	if !g.raw && (fl.without || fl.with || fl.count || fl.matching) {
		name = te.Quote(name)
	}
	prefix := func(sep string) string {
		if !named && g.raw {
			return ""
		}
		return name + sep
	}
	line := func(s string) {
		g.keep(s + "\n")
		g.listed++
	}
	switch {
	case fl.without:
		if f.Count == 0 {
			line(name)
		}
	case fl.with:
		line(name)
	case fl.count || fl.matching:
		n := f.Count
		if fl.matching {
			n = 0
			for _, s := range f.spans {
				n += len(s)
			}
		}
		line(prefix(":") + strconv.Itoa(n))
	default:
		g.lineByLine(f, prefix, line)
	}
}

func (g *grepping) lineByLine(f found, prefix func(string) string, line func(string)) {
	last := -1
	for i, m := range f.Matches {
		if g.flags.before > 0 || g.flags.after > 0 {
			if g.listed > 0 && m.Line != last+1 {
				line("--")
			}
			last = m.Line
		}
		if g.flags.only && m.Context {
			continue
		}
		sep := ":"
		if m.Context {
			sep = "-"
		}
		head := prefix(sep)
		if g.flags.number || g.flags.column || !g.raw {
			head += strconv.Itoa(m.Line) + sep
		}
		if !g.flags.only {
			if g.flags.column && !m.Context && len(f.spans[i]) > 0 {
				head += strconv.Itoa(f.spans[i][0][0]+1) + sep
			}
			line(head + m.Text)
			continue
		}
		for _, s := range f.spans[i] {
			at := head
			if g.flags.column {
				at += strconv.Itoa(s[0]+1) + sep
			}
			line(at + m.Text[s[0]:s[1]])
		}
	}
}

// collect adds a file to what an envelope shows.
func (g *grepping) collect(f found) {
	group := te.Group{Path: f.shown, Count: f.Count, Test: search.IsTest(f.Path), Kind: kind(f.Path)}
	for i, m := range f.Matches {
		h := te.Hit{Line: te.Line{N: m.Line, Text: m.Text}, Context: m.Context}
		if !m.Context {
			h.Rank = g.rank(m.Text, group.Kind)
		}
		if !g.flags.only || m.Context {
			group.Lines = append(group.Lines, h)
			continue
		}
		for _, s := range f.spans[i] {
			h.Text = m.Text[s[0]:s[1]]
			group.Lines = append(group.Lines, h)
		}
	}
	if g.flags.only {
		group.Count = len(group.Lines)
	}
	if g.limit > 0 && g.text.Len() > g.limit { // all of it will not be shown
		slices.SortStableFunc(group.Lines, func(a, b te.Hit) int { return a.Rank - b.Rank })
		group.Lines = group.Lines[:min(len(group.Lines), least)]
		slices.SortStableFunc(group.Lines, func(a, b te.Hit) int { return a.N - b.N })
	}
	g.groups = append(g.groups, group)
}

// least is how many lines of each file a preview has.
const least = 3

func kind(name string) int {
	switch search.KindOf(name) {
	case search.Code:
		return 0
	case search.Doc:
		return 1
	}
	return 2
}

// Ranks of lines that match.
const (
	defines     = iota // the name that matches
	assigns            // a value to it
	definesPart        // a name that matches in part
	mentions
)

// rank says what a line does with what was looked for.
func (g *grepping) rank(text string, kind int) int {
	if kind != 0 || len(text) > 500 || g.query.Invert {
		return mentions
	}
	name, ok := search.Definition(text)
	if ok {
		name = name[strings.LastIndexAny(name, ".:")+1:]
		return g.covers(text, strings.Index(text, name), len(name))
	}
	if m := assignment.FindStringSubmatchIndex(text); m != nil {
		if g.covers(text, m[2], m[3]-m[2]) == defines {
			return assigns
		}
	}
	return mentions
}

// assignment gives a name its value or its type, at the beginning of a line.
var assignment = regexp.MustCompile(`^[ \t]{0,8}(?:#[ \t]*define[ \t]+|(?:(?:export|default|declare|pub|public|private|protected|static|final|readonly|const|let|var|val|mut|local|extern)[ \t]+)*` +
	`(?:[\w$]+\.)*)([A-Za-z_$][\w$]*)(?:[ \t]*(?::[^=]*|[\w.*\[\]]+)?[ \t]*:?=(?:[^=>]|$)|[ \t]*:[ \t]*(?:async[ \t]+)?(?:function\b|class\b)|\([^)]*\)|[ \t]+(?:struct|func|map|chan)\b|[ \t]*$)`)

// covers says how much of a name is matched.
func (g *grepping) covers(text string, at, n int) int {
	for _, s := range g.pattern.Spans(text) {
		switch {
		case s[0] <= at && s[1] >= at+n:
			return defines
		case s[0] < at+n && s[1] > at:
			return definesPart
		}
	}
	return mentions
}

// envelope writes what was found in at most n bytes.
func (g *grepping) envelope(m te.Meta, n int) string {
	f := g.flags
	if f.with || f.without || f.count || f.matching {
		return g.list(m, n)
	}
	if g.budget == 0 {
		n = min(n, int(g.table.Grep.MaxOutputChars))
		n = min(n, max(g.text.Len()*int(g.table.Grep.PreviewPercent)/100, 120*int(g.table.Grep.PreviewMatches)))
	}
	s := te.Search{Meta: m, Groups: g.groups, Least: least, Crumbs: int(g.table.Grep.Breadcrumbs), NoZone: !g.table.Grep.HotZone}
	if g.binary > 0 && g.lines == 0 {
		s.Meta.Hint = "not text and not searched: " + plural(g.binary, "file")
	}
	if len(g.groups) == 0 {
		return s.Meta.String()
	}
	return te.Preview(s, n)
}

// list shows names or counts of files.
func (g *grepping) list(m te.Meta, n int) string {
	m.Files = g.listed
	if !g.flags.without {
		m.Matches = g.lines
	}
	text := g.text.String()
	if out := m.String() + text; len(out) <= n {
		return out
	}
	return te.Excerpt(m, text, nil, n)
}
