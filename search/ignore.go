package search

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ignore is the rules of one .gitignore on top of those above it. A nil ignore
// has no rules.
type ignore struct {
	above *ignore
	dir   string // "." or the directory that the rules stand in
	rules []rule
}

// rule is a line of a .gitignore. Source: gitignore(5), PATTERN FORMAT.
type rule struct {
	glob     string // for Wild
	plain    bool   // glob stands for itself
	keep     bool   // "!": what an earlier rule left out is back
	dirs     bool   // ends in "/": directories only
	anchored bool   // has a "/" before the end: the whole path counts, else the base name
}

// enter is the rules that hold for the entries of dir.
func (l *lister) enter(dir string, above *ignore) *ignore {
	if l.options.Ignored {
		return nil
	}
	if dir == "." {
		above = l.with(above, dir, ".git/info/exclude")
	}
	return l.with(above, dir, path.Join(dir, ".gitignore"))
}

func (l *lister) with(above *ignore, dir, file string) *ignore {
	if _, err := os.Lstat(filepath.Join(l.base, filepath.FromSlash(file))); err != nil {
		return above // as most directories have none; cheaper than to open it
	}
	src, err := Read(l.root, file, DefaultMaxSize)
	if err != nil {
		return above
	}
	if rules := parseIgnore(string(src)); len(rules) > 0 {
		return &ignore{above, dir, rules}
	}
	return above
}

func parseIgnore(src string) (rules []rule) {
	for line := range strings.Lines(strings.TrimPrefix(src, "\uFEFF")) {
		if r, ok := parseRule(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(s string) (r rule, ok bool) {
	if strings.HasPrefix(s, "#") {
		return r, false
	}
	for strings.HasSuffix(s, " ") && !strings.HasSuffix(s, `\ `) {
		s = s[:len(s)-1]
	}
	s, r.keep = strings.CutPrefix(s, "!")
	s, r.dirs = strings.CutSuffix(s, "/")
	r.anchored = strings.Contains(s, "/")
	r.glob = strings.TrimPrefix(s, "/")
	r.plain = !strings.ContainsAny(r.glob, `*?[\`)
	return r, r.glob != ""
}

// ignored reports whether rel is left out: the last rule that matches decides,
// those nearest to rel first. Directories above rel are not looked at, for a
// walk does not enter one that is left out.
func (g *ignore) ignored(rel string, dir bool) bool {
	for ; g != nil; g = g.above {
		below := rel
		if g.dir != "." {
			below = strings.TrimPrefix(rel, g.dir+"/")
		}
		for i := len(g.rules) - 1; i >= 0; i-- {
			if g.rules[i].match(below, dir) {
				return !g.rules[i].keep
			}
		}
	}
	return false
}

func (r rule) match(rel string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	if !r.anchored {
		rel = path.Base(rel)
	}
	if r.plain {
		return rel == r.glob
	}
	return Wild(r.glob, rel)
}
