package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
)

// written is what files held before bx coach apply, and what it made of them.
type written []writtenFile

type writtenFile struct {
	Name   string `json:"name"`
	There  bool   `json:"there"` // it was there before
	Before []byte `json:"before,omitempty"`
	After  []byte `json:"after,omitempty"`
}

// remember reads files before they are written.
func remember(names ...string) (out written, err error) {
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = append(out, writtenFile{Name: name, There: err == nil, Before: text})
	}
	return out, nil
}

// undoFiles are the records of what was applied, the oldest first.
func undoFiles(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "coach", "*.json"))
	slices.Sort(names)
	return names
}

// keep notes what became of the files, so that undo can take it back. Without a
// change there is nothing to keep.
func (w written) keep(dir string) error {
	var changed written
	for _, f := range w {
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
	if err := os.MkdirAll(filepath.Join(dir, "coach"), 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, "coach", fmt.Sprintf("%06d.json", len(undoFiles(dir))+1))
	return os.WriteFile(name, text, 0o600)
}

// takeBack gives the files of the last record their former content. Nothing is
// done where one of them has changed since.
func takeBack(dir string) (files, changed []string, err error) {
	records := undoFiles(dir)
	if len(records) == 0 {
		return nil, nil, fail(exitError, "bx coach apply has written nothing that could be taken back")
	}
	last := records[len(records)-1]
	text, err := os.ReadFile(last)
	if err != nil {
		return nil, nil, err
	}
	var w written
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", last, err)
	}
	for _, f := range w {
		files = append(files, f.Name)
		if now, err := os.ReadFile(f.Name); err != nil || !bytes.Equal(now, f.After) {
			changed = append(changed, f.Name)
		}
	}
	if len(changed) > 0 {
		return nil, changed, nil
	}
	for _, f := range w {
		if !f.There {
			err = os.Remove(f.Name)
		} else {
			err = config.Replace(f.Name, f.Before)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return files, nil, os.Remove(last)
}
