package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/unifiedtoolprotocol/utp/safefile"
)

// maxFile is how long a configuration may be.
const maxFile = 64 << 20

// Change is what was done to a file.
type Change struct {
	File          string
	Before, After []byte // nil: no file
}

// Changed reports whether anything is different.
func (c Change) Changed() bool {
	return !bytes.Equal(c.Before, c.After) || (c.Before == nil) != (c.After == nil)
}

// tries is how often a change is made anew because another program has written
// the file meanwhile.
const tries = 5

// Edit changes a file whole or not at all, unless dry. A link is followed, and
// the file that it leads to is changed.
func Edit(path string, dry bool, change func([]byte) ([]byte, error)) (Change, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		real, err = path, nil
		if _, lerr := os.Lstat(path); lerr == nil {
			err = errors.New("it is a link to a file that is not there")
		}
	}
	if err != nil {
		return Change{}, fmt.Errorf("%s: %w", path, err)
	}
	for range tries {
		c := Change{File: path}
		if c.Before, err = readFile(real); err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
		if c.After, err = change(c.Before); err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
		if dry || !c.Changed() {
			return c, nil
		}
		if now, err := readFile(real); err == nil && !bytes.Equal(now, c.Before) {
			continue
		}
		if err := c.write(real); err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
		return c, nil
	}
	return Change{}, fmt.Errorf("%s: another program writes it all the time: end that first", path)
}

// readFile reads a file; nil is none.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > maxFile:
		return nil, errors.New("it is too long for a configuration")
	}
	text, err := os.ReadFile(path)
	if text == nil && err == nil {
		text = []byte{}
	}
	return text, err
}

// write puts the new content in force. A new file is the user's alone.
func (c Change) write(path string) error {
	if c.After == nil {
		return os.Remove(path)
	}
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	mode := fs.FileMode(0o600)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return safefile.Replace(root, name, safefile.Temp(name), c.After, mode)
}
