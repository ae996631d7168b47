package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Change is what files held before they were written, and what became of them.
type Change []changedFile

type changedFile struct {
	Name   string `json:"name"`
	There  bool   `json:"there"` // it was there before
	Before []byte `json:"before,omitempty"`
	After  []byte `json:"after,omitempty"`
}

// ErrNothing is the error of TakeBack where nothing is kept.
var ErrNothing = errors.New("nothing was written that could be taken back")

// Remember reads files before they are written.
func Remember(names ...string) (out Change, err error) {
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = append(out, changedFile{Name: name, There: err == nil, Before: text})
	}
	return out, nil
}

// kept are the changes in a folder, the oldest first.
func kept(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	slices.Sort(names)
	return names
}

// Keep notes in a folder what became of the files, for TakeBack. Without a change
// there is nothing to keep.
func (c Change) Keep(dir string) error {
	var changed Change
	for _, f := range c {
		text, err := os.ReadFile(f.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if f.After = text; !bytes.Equal(f.Before, f.After) {
			changed = append(changed, f)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	text, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.json", len(kept(dir))+1)), text, 0o600)
}

// TakeBack gives the files of the last change in a folder their former content.
// Nothing is done where one of them has changed since: changed names those.
func TakeBack(dir string) (files, changed []string, err error) {
	all := kept(dir)
	if len(all) == 0 {
		return nil, nil, ErrNothing
	}
	last := all[len(all)-1]
	text, err := os.ReadFile(last)
	if err != nil {
		return nil, nil, err
	}
	var c Change
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", last, err)
	}
	for _, f := range c {
		files = append(files, f.Name)
		if now, err := os.ReadFile(f.Name); err != nil || !bytes.Equal(now, f.After) {
			changed = append(changed, f.Name)
		}
	}
	if len(changed) > 0 {
		return nil, changed, nil
	}
	for _, f := range c {
		if !f.There {
			err = os.Remove(f.Name)
		} else {
			err = Replace(f.Name, f.Before)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return files, nil, os.Remove(last)
}
