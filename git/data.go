package git

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// data finds the directory that holds the data of the repository, and refuses
// one that shows another repository's: a repository that was unpacked from an
// archive may bring any file along.
func data(root string) (string, error) {
	dir := filepath.Join(root, ".git")
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrNone
	case err != nil:
		return "", err
	case info.Mode().IsRegular():
		return worktree(root, dir)
	case !info.IsDir():
		return "", ErrForeign
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return dir, ownData(r)
}

// ownData refuses links, and the file by which a worktree names its repository.
func ownData(r *os.Root) error {
	if _, err := r.Lstat("commondir"); err == nil {
		return ErrForeign
	}
	for _, name := range []string{"HEAD", "config", "config.worktree", "index", "packed-refs", "objects", "logs", "info", "objects/pack", "objects/info", "reftable"} {
		if info, err := r.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return ErrForeign
		}
	}
	err := fs.WalkDir(r.FS(), "refs", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			return ErrForeign
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	}
	return err
}

// worktree follows a .git that is a file, as `git worktree add` writes it. The
// directory that it names must lie elsewhere and name root in turn.
func worktree(root, file string) (string, error) {
	text, err := small(file)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return "", ErrNone
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil || within(root, dir) {
		return "", ErrForeign
	}
	back, err := small(filepath.Join(dir, "gitdir"))
	if err != nil {
		return "", ErrForeign
	}
	if !filepath.IsAbs(back) {
		back = filepath.Join(dir, back)
	}
	if !sameFile(back, file) {
		return "", ErrForeign
	}
	return dir, nil
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// small reads a file of one line.
func small(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, ErrForeign)
	}
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	return strings.TrimSpace(string(b)), err
}

// spec is a path of the repository as git takes it literally.
func spec(name string) string {
	if name = path.Clean(name); name == "." {
		return ":(top)"
	}
	return ":(top,literal)" + name
}
