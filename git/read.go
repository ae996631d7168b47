package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// hidden are the paths whose content is never shown: they may hold secrets.
var hidden = []string{".env", ".env.*", ".envrc", "*.pem", "*.key", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".npmrc", ".netrc", ".pypirc", ".git-credentials"}

// paths are arguments that choose a path and leave out what is hidden.
func paths(name string) []string {
	out := []string{"--", spec(name)}
	for _, h := range hidden {
		out = append(out, ":(top,exclude,glob,icase)**/"+h)
	}
	return out
}

// Status lists what differs from the last commit, below a path.
func (r *Repo) Status(ctx context.Context, path string) (string, error) {
	return r.run(ctx, "status", "--porcelain=v1", "--branch", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames", "--", spec(path))
}

// Diff shows what changed below a path: in the files since the index, in the
// index since the last commit (staged), since a revision, or in a range "A..B".
func (r *Repo) Diff(ctx context.Context, revision string, staged bool, path string) (string, error) {
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"}
	if staged {
		args = append(args, "--cached")
	}
	revs, err := r.revisions(ctx, revision)
	if err != nil {
		return "", err
	}
	return r.run(ctx, append(append(args, revs...), paths(path)...)...)
}

// Log lists at most n commits, the latest first, of a revision or range.
func (r *Repo) Log(ctx context.Context, revision string, n int, path string) (string, error) {
	args := []string{"log", "--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature", "--no-decorate",
		"--date=iso-strict", "--format=%h %ad %an%n    %s", "-n", strconv.Itoa(n)}
	revs, err := r.revisions(ctx, revision)
	if err != nil {
		return "", err
	}
	return r.run(ctx, append(append(args, revs...), "--", spec(path))...)
}

// Show shows one commit with what it changed below a path.
func (r *Repo) Show(ctx context.Context, revision, path string) (string, error) {
	if revision == "" {
		revision = "HEAD"
	}
	rev, err := r.revision(ctx, revision)
	if err != nil {
		return "", err
	}
	head, err := r.run(ctx, "show", "--no-patch", "--no-color", "--no-show-signature", "--no-decorate", "--date=iso-strict",
		"--format=%h %ad %an%n    %s%n%w(0,4,4)%b", rev)
	if err != nil {
		return "", err
	}
	patch, err := r.run(ctx, append([]string{"show", "--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature",
		"--ignore-submodules=all", "--format=", rev}, paths(path)...)...)
	return head + patch, err
}

// Blame says who last changed each of the lines from and to of a file.
func (r *Repo) Blame(ctx context.Context, revision, path string, from, to int) (string, error) {
	args := []string{"blame", "--no-textconv", "--date=short", "-L", fmt.Sprintf("%d,%d", from, to)}
	if revision != "" {
		rev, err := r.revision(ctx, revision)
		if err != nil {
			return "", err
		}
		args = append(args, rev)
	}
	return r.run(ctx, append(args, "--", path)...)
}

// revisions are the commits of a revision or a range, in the form that a
// command takes them; none of "".
func (r *Repo) revisions(ctx context.Context, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	for _, dots := range []string{"...", ".."} {
		a, b, ok := strings.Cut(text, dots)
		if !ok {
			continue
		}
		from, err := r.revision(ctx, orHead(a))
		if err != nil {
			return nil, err
		}
		to, err := r.revision(ctx, orHead(b))
		return []string{from + dots + to}, err
	}
	rev, err := r.revision(ctx, text)
	return []string{rev}, err
}

func orHead(s string) string {
	if s == "" {
		return "HEAD"
	}
	return s
}

// revision is the commit that a text names, as its full hash.
func (r *Repo) revision(ctx context.Context, text string) (string, error) {
	bad := fmt.Errorf("unknown revision %q: want a commit, branch or tag, as HEAD~2 or main", text)
	if strings.HasPrefix(text, "-") || strings.ContainsAny(text, "\x00\n") {
		return "", bad
	}
	out, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", text+"^{commit}")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	lines := strings.Fields(out)
	if err != nil || len(lines) == 0 {
		return "", bad
	}
	return lines[len(lines)-1], nil
}
