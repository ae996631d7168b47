// Package git reads what git knows of a repository: its state, differences,
// history and who wrote a line. It changes nothing and starts no program that
// the repository names in its configuration or its attributes, and what a
// caller passes as a revision or a path is never read as an option.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrNone says that the directory is not the top of a git repository.
var ErrNone = errors.New("no git repository begins here")

// ErrForeign says that the repository's data lie where they must not.
var ErrForeign = errors.New("the data of the git repository lie outside of it")

// Repo is a repository whose top is a directory.
type Repo struct {
	program string
	dir     string   // where git runs
	env     []string // all of it
}

// Open looks at the repository whose top is root. path is the list of
// directories to find git in.
func Open(ctx context.Context, root, path string) (*Repo, error) {
	dir, err := data(root)
	if err != nil {
		return nil, err
	}
	program, err := find(root, path)
	if err != nil {
		return nil, err
	}
	r := &Repo{program: program, dir: root, env: []string{
		"PATH=" + filepath.Dir(program), "HOME=" + os.DevNull, "LC_ALL=C", "TERM=dumb",
		"GIT_DIR=" + dir, "GIT_WORK_TREE=" + root,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_PAGER=", "GIT_EDITOR=false", "GIT_ASKPASS=false",
	}}
	settings := harmless()
	names, err := r.run(ctx, "config", "--null", "--name-only", "--list")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(names, "\x00") {
		if m := filterKey.FindStringSubmatch(name); m != nil {
			settings = append(settings, [2]string{m[1] + ".clean", ""}, [2]string{m[1] + ".smudge", ""},
				[2]string{m[1] + ".process", ""}, [2]string{m[1] + ".required", "false"})
		}
	}
	for i, s := range settings {
		r.env = append(r.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	r.env = append(r.env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	return r, nil
}

var filterKey = regexp.MustCompile(`(?is)^(filter\..+)\.(?:clean|smudge|process|required)$`)

// harmless are the settings that switch off what starts a program, reaches the
// network or reads a file elsewhere. Source: git-config(1), gitattributes(5).
func harmless() [][2]string {
	return [][2]string{
		{"core.fsmonitor", "false"}, {"core.hooksPath", os.DevNull}, {"core.pager", "cat"}, {"core.editor", "false"},
		{"core.sshCommand", "false"}, {"core.askPass", "false"}, {"core.alternateRefsCommand", "false"}, {"core.untrackedCache", "false"},
		{"gpg.program", "false"}, {"gpg.ssh.program", "false"}, {"gpg.x509.program", "false"}, {"log.showSignature", "false"},
		{"credential.helper", ""}, {"protocol.allow", "never"}, {"blame.ignoreRevsFile", ""},
		{"submodule.recurse", "false"}, {"status.submoduleSummary", "false"}, {"diff.submodule", "short"}, {"diff.ignoreSubmodules", "all"},
		{"color.ui", "false"}, {"diff.noprefix", "false"}, {"diff.mnemonicPrefix", "false"}, {"maintenance.auto", "false"}, {"gc.auto", "0"},
	}
}

// find finds git in a list of directories, but not below root.
func find(root, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		name, err := exec.LookPath(filepath.Join(dir, "git"))
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(name); err == nil && !within(root, real) {
			return name, nil
		}
	}
	return "", errors.New("git is not installed")
}

func within(root, name string) bool {
	rel, err := filepath.Rel(root, name)
	return err == nil && filepath.IsLocal(rel)
}

// maxOutput is how much of an answer is read, in bytes.
const maxOutput = 10 << 20

// run runs git and gives its output.
func (r *Repo) run(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, r.program, append([]string{"--no-pager", "--no-optional-locks"}, args...)...)
	c.Dir, c.Env, c.WaitDelay = r.dir, r.env, time.Second
	var out, say limited
	c.Stdout, c.Stderr = &out, &say
	err := c.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(say.kept.String()), "\n")
		if text = strings.TrimPrefix(text, "fatal: "); text == "" {
			text = err.Error()
		}
		return "", errors.New(text)
	}
	return out.kept.String(), nil
}

// limited keeps the first bytes of what is written to it.
type limited struct{ kept bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if room := maxOutput - l.kept.Len(); room > 0 {
		l.kept.Write(b[:min(len(b), room)])
	}
	return len(b), nil
}
