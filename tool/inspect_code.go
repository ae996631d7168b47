package tool

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/te"
)

//go:embed inspect_code.md
var inspectCodeText string

var inspectCode = builtin{
	Tool: utp.Tool{
		Name: "inspect_code", Tier: utp.TierWalk, Description: inspectCodeText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, relative to the top of the repository"},` +
			`"symbol":{"type":"string","description":"The name of a function, method, type or class, in any file"},` +
			`"line":{"type":"integer","description":"A line inside of the definition to show, counted from 1"}},` +
			`"required":["path"]}`),
	},
	run: with((*Set).inspectCode), sensitive: sensitiveReads,
}

// How much inspect_code tells beside the definition itself.
const (
	maxNeighbours = 5
	maxMentions   = 3
	maxAlso       = 5
	maxScanned    = 300 // files that are cut to find a symbol
)

type inspectArgs struct {
	Path   string `json:"path"`
	Symbol string `json:"symbol"`
	Line   int    `json:"line"`
}

// source is a file that was cut into its definitions.
type source struct {
	path  string
	lines []string
	defs  []search.Chunk
}

// definition is one of a source.
type definition struct {
	*source
	search.Chunk
}

func (s *Set) inspectCode(ctx context.Context, a inspectArgs) (string, error) {
	if a.Path == "" && a.Symbol == "" {
		return "", missing("path")
	}
	at, err := s.toRead(ctx, cmp.Or(a.Path, "."))
	if err != nil {
		return "", err
	}
	if symbol := strings.TrimSuffix(strings.TrimSpace(a.Symbol), "()"); symbol != "" {
		return s.inspectSymbol(ctx, symbol, at.real)
	}
	src, err := s.read(ctx, at, search.DefaultMaxSize)
	if err != nil {
		return "", err
	}
	file := cutSource(at.name, src)
	if a.Line <= 0 {
		return file.outline(s.config.MaxResult), nil
	}
	if a.Line > len(file.lines) || len(file.defs) == 0 {
		return "", fail("Line %d is beyond the end: %s has %d lines", a.Line, at.given, len(file.lines))
	}
	return s.inspected(ctx, definition{file, file.at(a.Line)}, nil)
}

// at is the definition that a line is in, or the next one below, or the last.
func (f *source) at(line int) search.Chunk {
	for _, c := range f.defs {
		if line <= c.End {
			return c
		}
	}
	return f.defs[len(f.defs)-1]
}

// cutSource cuts a file and joins the windows of a long definition again.
func cutSource(name string, src []byte) *source {
	f := &source{path: name, lines: strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")}
	for _, c := range search.Chunks(name, src) {
		if n := len(f.defs); n > 0 && c.Start <= f.defs[n-1].End {
			f.defs[n-1].End = c.End
			continue
		}
		f.defs = append(f.defs, c)
	}
	return f
}

func (s *Set) inspectSymbol(ctx context.Context, symbol, prefer string) (string, error) {
	if lastPart(symbol) == "" {
		return "", fail("argument 'symbol' is %s: want a name", printable(symbol))
	}
	mentions, err := s.mentions(ctx, symbol)
	if err != nil {
		return "", err
	}
	defs := s.definitions(mentions, symbol, prefer)
	if len(defs) > 0 {
		return s.inspected(ctx, defs[0], defs[1:])
	}
	text := "Symbol not found: " + printable(symbol)
	for i, m := range mentions[:min(len(mentions), maxMentions)] {
		text += []string{". Mentioned in ", ", "}[min(i, 1)] + fmt.Sprintf("%s:%d", m.Path, m.Line)
	}
	return "", failure(text)
}

// mentions are the lines that have the last part of a symbol as a word.
func (s *Set) mentions(ctx context.Context, symbol string) ([]search.Match, error) {
	return s.grep(ctx, named(symbol))
}

func named(symbol string) search.Query {
	return search.Query{Pattern: lastPart(symbol), Literal: true, Word: true}
}

// users are mentions of what d defines, those that d.mentioned shows among them. The
// index, where a search has opened it, knows which files have a name, so that not
// all of them are read. The most telling lines have the name of d's package or file
// beside it; where these are enough, files without are not read either.
func (s *Set) users(ctx context.Context, d definition) ([]search.Match, error) {
	s.mu.Lock()
	x := s.index
	s.mu.Unlock()
	if x == nil {
		return s.mentions(ctx, d.Symbols[0])
	}
	name := lastPart(d.Symbols[0])
	var files []search.File
	for _, home := range slices.Compact(d.homes()) {
		more, err := x.Having(ctx, home+" "+name)
		if err != nil {
			return s.mentions(ctx, d.Symbols[0])
		}
		files = append(files, more...)
	}
	slices.SortFunc(files, func(a, b search.File) int { return strings.Compare(a.Path, b.Path) })
	found, err := search.Exact(ctx, s.root, slices.CompactFunc(files, func(a, b search.File) bool { return a.Path == b.Path }), named(name))
	best := d.best(found)
	if err != nil || len(best) == maxMentions && d.use(best[maxMentions-1], d.homes()) >= homeUse {
		return found, err
	}
	if files, err = x.Having(ctx, name); err != nil {
		return s.mentions(ctx, d.Symbols[0])
	}
	return search.Exact(ctx, s.root, files, named(name))
}

func lastPart(symbol string) string {
	symbol = strings.TrimRight(symbol, ".:")
	return symbol[strings.LastIndexAny(symbol, ".:")+1:]
}

// definitions finds where a symbol is defined among the files that mention it:
// those that fit the name best first, then those of the preferred file, then
// those of the package or module that the symbol names, tests last.
func (s *Set) definitions(mentions []search.Match, symbol, prefer string) (out []definition) {
	for _, name := range files(mentions) {
		src, err := search.Read(s.root, name, search.DefaultMaxSize)
		if err != nil {
			continue
		}
		f := cutSource(name, src)
		for _, c := range f.defs {
			if fits(c, symbol) > 0 {
				out = append(out, definition{f, c})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b definition) int {
		return cmp.Or(fits(b.Chunk, symbol)-fits(a.Chunk, symbol), one(b.path == prefer)-one(a.path == prefer),
			one(b.in(symbol))-one(a.in(symbol)), one(search.IsTest(a.path))-one(search.IsTest(b.path)))
	})
	return out
}

// files lists the paths of matches, those with a definition first.
func files(ms []search.Match) (out []string) {
	for _, def := range []bool{true, false} {
		for _, m := range ms {
			if m.Def == def && !slices.Contains(out, m.Path) && len(out) < maxScanned {
				out = append(out, m.Path)
			}
		}
	}
	return out
}

// in reports whether the directory or the file has the name that stands before
// the symbol's last part: parse.New is in parse/.
func (d definition) in(symbol string) bool {
	front := lastPart(strings.TrimSuffix(symbol, lastPart(symbol)))
	file, _, _ := strings.Cut(path.Base(d.path), ".")
	return front != "" && (front == file || front == path.Base(path.Dir(d.path)))
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fits is 3 if a chunk defines the symbol, 2 if the symbol lacks the front of
// the name, 1 if only the last parts are equal, else 0.
func fits(c search.Chunk, symbol string) (best int) {
	for _, name := range c.Symbols {
		switch {
		case name == symbol:
			return 3
		case strings.HasSuffix(name, "."+symbol) || strings.HasSuffix(name, "::"+symbol):
			best = max(best, 2)
		case lastPart(name) == lastPart(symbol):
			best = max(best, 1)
		}
	}
	return best
}

// inspected shows a definition and what is around it.
func (s *Set) inspected(ctx context.Context, d definition, also []definition) (string, error) {
	tail := d.neighbours()
	if len(d.Symbols) > 0 {
		mentions, err := s.users(ctx, d)
		if err != nil {
			return "", err
		}
		tail += d.mentioned(mentions)
	}
	tail += alsoIn(also)
	head := fmt.Sprintf("%s:%d-%d %s (%s)\n\n", d.path, d.Start, d.End, strings.Join(d.Symbols, " "), te.ContentType(d.path, ""))
	return head + d.body(s.config.MaxResult-len(head)-len(tail)-100) + tail, nil
}

func (d definition) body(room int) string {
	var b strings.Builder
	for n := d.Start; n <= d.End; n++ {
		line := fmt.Sprintf("%d: %s\n", n, printableLine(d.lines[n-1]))
		if b.Len()+len(line) > room && n > d.Start {
			fmt.Fprintf(&b, "[...truncated, %d more lines...] read_file with start_line=%d reads on\n", d.End-n+1, n)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// maxShown is the longest line that is shown, in bytes.
const maxShown = 500

func printableLine(l string) string {
	l = strings.ToValidUTF8(strings.TrimRight(l, "\r"), "\uFFFD")
	if len(l) > maxShown {
		return cutText(l, maxShown) + "…"
	}
	return l
}

// neighbours names the definitions nearest to d in its file.
func (d definition) neighbours() string {
	i := slices.IndexFunc(d.defs, func(c search.Chunk) bool { return c.Start == d.Start })
	from := max(0, min(i-maxNeighbours/2, len(d.defs)-maxNeighbours-1))
	var names []string
	for k, c := range d.defs[from:min(from+maxNeighbours+1, len(d.defs))] {
		if from+k != i && len(c.Symbols) > 0 {
			names = append(names, fmt.Sprintf("%s (%d-%d)", c.Symbols[0], c.Start, c.End))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "\nIn the same file: " + strings.Join(names, ", ") + "\n"
}

// mentioned shows lines outside of d, the most telling first.
func (d definition) mentioned(ms []search.Match) string {
	var b strings.Builder
	for i, m := range d.best(ms) {
		if i == 0 {
			b.WriteString("\nMentioned in:\n")
		}
		fmt.Fprintf(&b, "%s:%d: %s\n", printable(m.Path), m.Line, printableLine(strings.TrimSpace(m.Text)))
	}
	return b.String()
}

// best are the lines of programs outside of d that tell most, at most maxMentions.
func (d definition) best(ms []search.Match) []search.Match {
	out := slices.DeleteFunc(slices.Clone(ms), func(m search.Match) bool {
		return m.Path == d.path && d.Start <= m.Line && m.Line <= d.End || search.KindOf(m.Path) != search.Code
	})
	homes := d.homes()
	slices.SortStableFunc(out, func(a, b search.Match) int { return d.use(b, homes) - d.use(a, homes) })
	return out[:min(len(out), maxMentions)]
}

// homes are the names of d's package and file.
func (d definition) homes() []string {
	file, _, _ := strings.Cut(path.Base(d.path), ".")
	return []string{path.Base(path.Dir(d.path)), file}
}

// homeUse is the least grade of a line with the name of d's package or file.
const homeUse = 4

// use grades how likely a line uses d: by the name of its package or file, as
// a call, outside of tests.
func (d definition) use(m search.Match, homes []string) (grade int) {
	name := lastPart(d.Symbols[0])
	if slices.ContainsFunc(homes, func(home string) bool { return strings.Contains(m.Text, home+"."+name) }) {
		grade += homeUse
	}
	if !m.Def && strings.Contains(m.Text, name+"(") {
		grade += 2
	}
	return grade + one(!m.Test)
}

func alsoIn(ds []definition) string {
	var at []string
	for _, d := range ds[:min(len(ds), maxAlso)] {
		at = append(at, fmt.Sprintf("%s:%d", printable(d.path), d.Line))
	}
	if len(at) == 0 {
		return ""
	}
	text := "\nAlso defined in: " + strings.Join(at, ", ")
	if more := len(ds) - len(at); more > 0 {
		text += fmt.Sprintf(" and %d more places", more)
	}
	return text + "\n"
}

// outline lists the definitions of a file.
func (f *source) outline(room int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d lines (%s)\n", f.path, len(f.lines), te.ContentType(f.path, ""))
	named := slices.DeleteFunc(slices.Clone(f.defs), func(c search.Chunk) bool { return len(c.Symbols) == 0 })
	if len(named) == 0 {
		b.WriteString("no definitions; read_file shows the lines\n")
	}
	for i, c := range named {
		line := fmt.Sprintf("%d-%d %s\n", c.Start, c.End, cutText(strings.Join(c.Symbols, " "), maxShown))
		if b.Len()+len(line) > room-100 {
			fmt.Fprintf(&b, "[...truncated, %d more definitions...]\n", len(named)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
