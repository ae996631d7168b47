package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/git"
)

//go:embed git.md
var gitText string

var readGit = builtin{
	Tool: utp.Tool{
		Name: "git", Tier: utp.TierWalk, Description: gitText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","description":"What to show","enum":["status","diff","log","show","blame"]},` +
			`"path":{"type":"string","description":"Only this file or directory; blame needs a file","default":"."},` +
			`"revision":{"type":"string","description":"A commit, branch or tag, as HEAD~2; for diff and log also a range, as main..HEAD"},` +
			`"staged":{"type":"boolean","description":"For diff: what will be committed","default":false},` +
			`"start_line":{"type":"integer","description":"For blame: the first line","default":1},` +
			`"limit":{"type":"integer","description":"Commits of log (20), lines of blame (100)"}},` +
			`"required":["command"]}`),
	},
	run: with((*Set).readGit), sensitive: sensitiveReads,
}

type gitArgs struct {
	Command   string `json:"command"`
	Path      string `json:"path"`
	Revision  string `json:"revision"`
	Staged    bool   `json:"staged"`
	StartLine int    `json:"start_line"`
	Limit     int    `json:"limit"`
}

const (
	defaultCommits = 20
	defaultBlamed  = 100
	mostShown      = 1000 // commits or lines
)

func (s *Set) readGit(ctx context.Context, a gitArgs) (string, error) {
	at, err := s.find(orTop(a.Path))
	if err != nil {
		return "", err
	}
	if at.real != at.name {
		return "", fail("%s is a symbolic link, or lies behind one: name what it leads to", at.given)
	}
	repo, err := git.Open(ctx, s.real, s.config.Path)
	switch {
	case errors.Is(err, git.ErrNone):
		return "", fail("this repository is not under git")
	case errors.Is(err, git.ErrForeign):
		return "", escapes(".git")
	case err != nil:
		return "", err
	}
	text, err := s.gitCommand(ctx, repo, at, a)
	if text = strings.TrimRight(text, "\n"); err == nil && text == "" {
		text = "git " + a.Command + ": nothing to show"
	}
	return text, err
}

func (s *Set) gitCommand(ctx context.Context, repo *git.Repo, at place, a gitArgs) (string, error) {
	limit := func(d int) int {
		if a.Limit <= 0 {
			return d
		}
		return min(a.Limit, mostShown)
	}
	switch a.Command {
	case "status":
		return repo.Status(ctx, at.name)
	case "diff":
		return repo.Diff(ctx, a.Revision, a.Staged, at.name)
	case "log":
		return repo.Log(ctx, a.Revision, limit(defaultCommits), at.name)
	case "show":
		return repo.Show(ctx, a.Revision, at.name)
	case "blame":
		if at.name == "." {
			return "", fail("blame needs a file: set path")
		}
		if _, err := s.toRead(ctx, a.Path); err != nil {
			return "", err
		}
		from := max(a.StartLine, 1)
		return repo.Blame(ctx, a.Revision, at.name, from, from+limit(defaultBlamed)-1)
	case "":
		return "", missing("command")
	}
	return "", fail("argument 'command' is %s: want status, diff, log, show or blame", printable(a.Command))
}
