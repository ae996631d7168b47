package commands

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/git"
	"github.com/unifiedtoolprotocol/utp/te"
)

// defaultCommits is how many commits te log shows.
const defaultCommits = 20

type gitFlags struct {
	staged bool
	most   int
}

// git is te diff, te log and te status.
func (a *app) git(ctx context.Context) (int, error) {
	f := gitFlags{most: defaultCommits}
	words, err := options{a.sharedOptions(), {
		toggle("--staged --cached", &f.staged), number("-n --max-count", &f.most, 1), {names: "--oneline --stat -s --short -p --no-pager --porcelain", on: func() {}},
	}}.all(digits(a.args))
	if err != nil {
		return 0, err
	}
	revision, below, err := a.revision(words)
	if err != nil {
		return 0, err
	}
	repo, err := git.Open(ctx, a.root.real, a.env("PATH"))
	if errors.Is(err, git.ErrNone) {
		return 0, fail("not_found", exitNone, "%v: te %s works at the top of a repository", err, a.command)
	}
	if err != nil {
		return 0, fail("internal", exitNone, "%v", err)
	}
	out, err := a.ask(ctx, repo, f, revision, below)
	if err != nil {
		return 0, fail("not_found", exitNone, "git %s: %v", a.command, err)
	}
	return a.show(result{meta: te.Meta{Cmd: a.command}, text: out})
}

func (a *app) ask(ctx context.Context, repo *git.Repo, f gitFlags, revision, below string) (string, error) {
	switch a.command {
	case "diff":
		return repo.Diff(ctx, revision, f.staged, below)
	case "log":
		return repo.Log(ctx, revision, f.most, below)
	}
	return repo.Status(ctx, below)
}

// digits makes "-5" of git log "-n5".
func digits(args []string) (out []string) {
	for _, s := range args {
		if n, err := strconv.Atoi(strings.TrimPrefix(s, "-")); err == nil && n > 0 && s[0] == '-' {
			s = "-n" + strconv.Itoa(n)
		}
		out = append(out, s)
	}
	return out
}

// revision tells a revision from a path: a word that names a file is a path.
func (a *app) revision(words []string) (revision, below string, err error) {
	below = "."
	for _, w := range words {
		t, err := a.toRead(w)
		var f *failure
		switch {
		case err == nil && below == ".":
			below = t.name
		case err == nil:
			return "", "", usage("te %s takes one path", a.command)
		case errors.As(err, &f) && f.code == "outside_root" && (filepath.IsAbs(w) || strings.HasPrefix(w, "../")):
			return "", "", err
		case err != nil && f == nil: // it must not be shown
			return "", "", err
		case revision == "":
			revision = w
		default:
			return "", "", err
		}
	}
	return revision, below, nil
}
