package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
)

// rootDir is --root, or the nearest directory above that has a mark, or the
// current one.
func (a *app) rootDir() (string, error) {
	if a.root != "" {
		info, err := os.Stat(a.root)
		if err != nil {
			return "", fail(exitUsage, "--root: %w", err)
		}
		if !info.IsDir() {
			return "", fail(exitUsage, "--root: %s is not a directory", a.root)
		}
		return filepath.Abs(a.root)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the current directory cannot be read: %w", err)
	}
	root, ok := dirs.Root(wd)
	if !ok {
		return wd, tooWide(wd)
	}
	return root, nil
}

var errNoRepository = errors.New("is no repository")

// tooWide refuses to take a whole home or disk for a repository.
func tooWide(dir string) error {
	home, err := os.UserHomeDir()
	if dir != filepath.Dir(dir) && (err != nil || dir != filepath.Clean(home)) {
		return nil
	}
	return fail(exitUsage, "%s %w: go into one, or name it with --root", dir, errNoRepository)
}

// dataDir holds the sessions, unless [session] storage names another place.
func (a *app) dataDir(storage string) (string, error) {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(storage, "~/"); ok && err == nil {
		return filepath.Join(home, rest), nil
	}
	if storage != "" {
		return filepath.Abs(storage)
	}
	if dir := dirs.Data(); dir != "" {
		return dir, nil
	}
	return "", errors.New("there is no home directory for sessions: set [session] storage, or use --no-session")
}
