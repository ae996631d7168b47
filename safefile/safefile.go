// Package safefile replaces files whole or not at all and locks them against
// other processes, below an os.Root, so that nothing outside is touched.
package safefile

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// What TryLock says instead of locking.
var (
	ErrLocked  = errors.New("locked by another process")
	ErrNoLocks = errors.New("this file system has no locks")
)

// Lock locks an open file until it is closed. It waits until ctx ends; a file
// system without locks locks nothing.
func Lock(ctx context.Context, f *os.File) error {
	for {
		err := TryLock(f)
		switch {
		case err == nil, errors.Is(err, ErrNoLocks):
			return nil
		case !errors.Is(err, ErrLocked):
			return err
		}
		select {
		case <-ctx.Done():
			return ErrLocked
		case <-time.After(time.Millisecond):
		}
	}
}

// Temp is a new name beside a file, for Replace.
func Temp(name string) string { return path.Join(path.Dir(name), ".bx-"+rand.Text()+".tmp") }

// Replace writes a file whole or not at all: to temp, which then takes its name.
// Directories are made. The file has the permissions mode, or those of a new
// file where that is 0.
func Replace(root *os.Root, name, temp string, data []byte, mode fs.FileMode) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return fmt.Errorf("make the directory: %w", bare(err))
	}
	err := create(root, temp, data, mode)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(bare(err), Discard(root, temp))
	}
	return nil
}

func create(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	_, failed := io.Copy(f, bytes.NewReader(data))
	return errors.Join(err, failed, f.Sync(), f.Close())
}

// Discard removes a file that is no longer wanted; that it is not there is fine.
func Discard(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bare(err)
	}
	return nil
}

// Missing lists the directories above a file that are not there, outermost first.
func Missing(root *os.Root, name string) (dirs []string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(dir); err == nil {
			break
		}
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// bare is an error without the path that the system knows it by.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
