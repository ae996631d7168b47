// Package settings writes the user's files of settings, each whole or not at all,
// and gives them back what they held before a coach wrote them.
package settings

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace puts a file in the place of another in one step, behind a link in the
// place of what it leads to. The mode of the other stays.
func Replace(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".bx-*.toml")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if old, err := os.Stat(path); err == nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
