package tool

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/search/index"
	"github.com/unifiedtoolprotocol/utp/te"
)

//go:embed search_code.md
var searchCodeText string

var searchCode = builtin{
	Tool: utp.Tool{
		Name: "search_code", Tier: utp.TierCrawl, Description: searchCodeText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What to look for: a question in plain words, or names from the code"},` +
			`"limit":{"type":"integer","description":"How many places to return","default":5}},` +
			`"required":["query"]}`),
	},
	run: with((*Set).searchCode),
}

const (
	defaultHits = 5
	maxHits     = 50
)

type searchArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// finding is what a search came to, ranked.
type finding struct {
	matches []te.Match
	places  []span     // of the matches
	totals  []te.Tally // of all matches
	hint    string
}

// span is the place of a match: its lines and what it defines.
type span struct {
	start, end int
	symbol     string
}

func (s *Set) searchCode(ctx context.Context, a searchArgs) (string, error) {
	if strings.TrimSpace(a.Query) == "" {
		return "", missing("query")
	}
	if a.Limit <= 0 {
		a.Limit = defaultHits
	}
	best, err := s.search(ctx, a.Query)
	if err != nil {
		return "", err
	}
	f := best(min(a.Limit, maxHits))
	if s.config.Plain {
		return f.plain(), nil
	}
	return s.rendered("search_code "+a.Query, f.result("search"), func() te.Result { return best(maxHits).result("search") }), nil
}

// Places are the limit best places for a question, as search_code gives them.
func (s *Set) Places(ctx context.Context, question string, limit int) ([]te.Match, error) {
	best, err := s.search(ctx, question)
	if err != nil {
		return nil, err
	}
	return best(limit).matches, nil
}

func (f finding) result(command string) te.Result {
	return te.Result{Meta: te.Meta{Cmd: command, Hint: f.hint}, Matches: f.matches, Totals: f.totals}
}

// rendered writes what a search shows. Where some is left out, its handle leads
// to all.
func (s *Set) rendered(command string, r te.Result, all func() te.Result) string {
	out := te.Render(r, s.config.MaxResult)
	if e, err := te.Parse(out); err == nil && !e.Meta.Truncated {
		return out
	}
	r.Meta.Handle = s.keep(command, te.Render(all(), 0))
	return te.Render(r, s.config.MaxResult)
}

// search asks the index, or looks for the words themselves where there is none. It
// gives the limit best places of what was found.
func (s *Set) search(ctx context.Context, query string) (best func(limit int) finding, err error) {
	x, err := s.openIndex(ctx)
	if err == nil {
		var a *index.Answer
		if a, err = x.Query(ctx, query); err == nil {
			return func(limit int) finding {
				return ranked(slices.DeleteFunc(a.Hits(limit), func(h index.Hit) bool { return secret(h.Path) || keys(h.Path) }), a.Totals)
			}, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all, err2 := s.words(ctx, query)
	if err2 != nil {
		return nil, err2
	}
	if !errors.Is(err, errNoIndex) && !errors.Is(err, index.ErrNoWords) {
		all.hint = "the search index cannot be used; these lines contain words of the query"
	}
	return all.first, nil
}

// first cuts a finding after its first matches.
func (f finding) first(limit int) finding {
	n := min(len(f.matches), limit)
	f.matches, f.places = f.matches[:n], f.places[:n]
	return f
}

// errNoIndex says that the configuration has no place for an index.
var errNoIndex = errors.New("tool: no index directory")

// openIndex opens the index once. A failure stays: a cache that cannot be
// written is not tried again with every search.
func (s *Set) openIndex(ctx context.Context) (*index.Index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil || s.indexErr != nil {
		return s.index, s.indexErr
	}
	if s.config.IndexDir == "" {
		s.indexErr = errNoIndex
		return nil, s.indexErr
	}
	x, err := index.Open(ctx, s.real, s.config.IndexDir)
	if err != nil && ctx.Err() == nil {
		s.indexErr = err
	}
	if err == nil {
		x.Progress = s.config.Progress
		s.index = x
	}
	return x, err
}

func ranked(hits []index.Hit, totals []index.Total) (f finding) {
	for _, h := range hits {
		m := match(h.Lines[0])
		for _, l := range h.Lines[1:] {
			m.More = append(m.More, te.Line{N: l.Line, Text: l.Text})
		}
		f.matches = append(f.matches, m)
		f.places = append(f.places, span{h.Start, h.End, h.Symbol})
	}
	for _, t := range totals {
		f.totals = append(f.totals, te.Tally(t))
	}
	return f
}

func match(m search.Match) te.Match {
	return te.Match{Path: m.Path, Line: te.Line{N: m.Line, Text: m.Text}, Def: m.Def, Test: m.Test}
}

// words finds the lines that have any word of the query: those with most words
// first, then definitions, tests last.
func (s *Set) words(ctx context.Context, query string) (f finding, err error) {
	terms := index.Terms(query)
	if len(terms) == 0 {
		terms = []string{strings.TrimSpace(query)}
	}
	found, err := s.grep(ctx, search.Query{Pattern: anyOf(terms), IgnoreCase: true})
	if err != nil {
		return f, err
	}
	found = slices.DeleteFunc(found, func(m search.Match) bool { return secret(m.Path) || keys(m.Path) })
	count := map[string]int{}
	all := make([]te.Match, len(found))
	for i, m := range found {
		all[i] = match(m)
		count[te.Dir(m.Path)]++
	}
	te.Rank(all)
	slices.SortStableFunc(all, func(a, b te.Match) int { return cmp.Compare(score(b, terms), score(a, terms)) })
	f.matches = all
	for _, m := range f.matches {
		f.places = append(f.places, span{m.N, m.N, ""})
	}
	for dir, n := range count {
		f.totals = append(f.totals, te.Tally{Dir: dir, N: n})
	}
	return f, nil
}

// grep searches every file that a reader of the source wants.
func (s *Set) grep(ctx context.Context, q search.Query) ([]search.Match, error) {
	files, err := search.List(ctx, s.root, search.Options{})
	if err != nil {
		return nil, fmt.Errorf("the files cannot be listed: %w", bare(err))
	}
	return search.Exact(ctx, s.root, files, q)
}

func anyOf(terms []string) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = regexp.QuoteMeta(t)
	}
	return strings.Join(quoted, "|")
}

func score(m te.Match, terms []string) (n int) {
	line := strings.ToLower(m.Text + " " + path.Base(m.Path))
	for _, t := range terms {
		if strings.Contains(line, t) {
			n++
		}
	}
	if m.Test {
		return n - 1
	}
	return n
}

// plainHit is a hit without the tool envelope.
type plainHit struct {
	Path    string `json:"path"`
	Lines   string `json:"lines"`
	Snippet string `json:"snippet"`
	Summary string `json:"summary"`
}

// maxSnippet is the size of a snippet in bytes.
const maxSnippet = 300

func (f finding) plain() string {
	out := struct {
		Results []plainHit `json:"results"`
		Hint    string     `json:"hint,omitempty"`
	}{Results: []plainHit{}, Hint: f.hint}
	for i, m := range f.matches {
		texts := []string{m.Text}
		for _, l := range m.More {
			texts = append(texts, l.Text)
		}
		at := f.places[i]
		out.Results = append(out.Results, plainHit{
			Path: m.Path, Lines: fmt.Sprintf("%d-%d", at.start, at.end),
			Snippet: cutText(strings.Join(texts, "\n"), maxSnippet), Summary: at.symbol,
		})
	}
	return object(out)
}
