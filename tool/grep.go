package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/te"
)

//go:embed grep.md
var grepText string

var grep = builtin{
	Tool: utp.Tool{
		Name: "grep", Tier: utp.TierCrawl, Description: grepText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"A regular expression (RE2), matched line by line"},` +
			`"path":{"type":"string","description":"The directory or file to search","default":"."},` +
			`"glob":{"type":"string","description":"Only files that match it, as *.go or src/**/*.ts"},` +
			`"literal":{"type":"boolean","description":"Whether pattern is plain text","default":false},` +
			`"ignore_case":{"type":"boolean","description":"Whether upper and lower case are the same","default":false},` +
			`"hidden":{"type":"boolean","description":"Whether to search hidden and ignored files too","default":false}},` +
			`"required":["pattern"]}`),
	},
	run: with((*Set).grepFiles),
}

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	Literal    bool   `json:"literal"`
	IgnoreCase bool   `json:"ignore_case"`
	Hidden     bool   `json:"hidden"`
}

func (s *Set) grepFiles(ctx context.Context, a grepArgs) (string, error) {
	if a.Pattern == "" {
		return "", missing("pattern")
	}
	files, err := s.files(ctx, a.Path, a.Glob, a.Hidden)
	if err != nil {
		return "", err
	}
	q := search.Query{Pattern: a.Pattern, Literal: a.Literal, IgnoreCase: a.IgnoreCase}
	meta := te.Meta{Cmd: "grep"}
	found, err := search.Exact(ctx, s.root, files, q)
	if err != nil && !q.Literal && ctx.Err() == nil {
		q.Literal, meta.Hint = true, "the pattern is no regular expression and was looked for as plain text"
		found, err = search.Exact(ctx, s.root, files, q)
	}
	if err != nil {
		return "", err
	}
	matches := make([]te.Match, len(found))
	for i, m := range found {
		matches[i] = match(m)
	}
	te.Rank(matches)
	if s.config.Plain {
		return finding{matches: matches, hint: meta.Hint}.lines(), nil
	}
	r := te.Result{Meta: meta, Matches: matches}
	return s.rendered("grep "+a.Pattern, r, func() te.Result { return r }), nil
}

// lines are matches without the tool envelope.
func (f finding) lines() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d lines match", len(f.matches))
	if f.hint != "" {
		b.WriteString("; " + f.hint)
	}
	for _, m := range f.matches {
		fmt.Fprintf(&b, "\n%s:%d: %s", printable(m.Path), m.N, m.Text)
	}
	return b.String()
}

// files lists what a call may search: the file or the files below a directory
// that match a glob. What may hold secrets is left out.
func (s *Set) files(ctx context.Context, below, glob string, hidden bool) ([]search.File, error) {
	at, err := s.find(orTop(below))
	if err != nil {
		return nil, err
	}
	info, err := s.root.Stat(at.real)
	if err != nil {
		return nil, s.explain(ctx, at, err)
	}
	o := search.Options{All: hidden, Ignored: hidden}
	if glob != "" {
		o.Globs = []string{glob}
	}
	all, err := search.List(ctx, s.root, o)
	if err != nil && ctx.Err() == nil && glob != "" {
		return nil, fail("argument 'glob' is %s: want a pattern such as **/*.go", printable(glob))
	}
	if err != nil {
		return nil, bare(err)
	}
	var out []search.File
	for _, f := range all {
		in := at.real == "." || f.Path == at.real || info.IsDir() && strings.HasPrefix(f.Path, at.real+"/")
		if in && !secret(f.Path) && !keys(f.Path) {
			out = append(out, f)
		}
	}
	return out, nil
}

func orTop(p string) string {
	if p == "" {
		return "."
	}
	return path.Clean(p)
}
