package tool

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed write_file.md
var writeFileText string

var writeFile = builtin{
	Tool: utp.Tool{
		Name: "write_file", Tier: utp.Run, Confirm: true, Description: writeFileText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The file, relative to the top of the repository"},` +
			`"content":{"type":"string","description":"The text to write"},` +
			`"mode":{"type":"string","description":"Whether to replace the whole file or to add to its end","enum":["rewrite","append"],"default":"rewrite"}},` +
			`"required":["path","content"]}`),
	},
	run: with((*Set).writeFile),
}

// maxFile is the size in bytes above which no file is written or edited.
const maxFile = 10 << 20

type writeArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
	Mode    string  `json:"mode"`
}

// written is the answer of write_file.
type written struct {
	Success bool   `json:"success"`
	Path    string `json:"path"`
	Bytes   int    `json:"bytes_written"`
}

func (s *Set) writeFile(ctx context.Context, a writeArgs) (string, error) {
	switch {
	case a.Path == "":
		return "", missing("path")
	case a.Content == nil:
		return "", missing("content")
	case a.Mode != "" && a.Mode != "rewrite" && a.Mode != "append":
		return "", fail("argument 'mode' is %s: want rewrite or append", printable(a.Mode))
	}
	at, err := s.toWrite(a.Path)
	if err != nil {
		return "", err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	data := []byte(*a.Content)
	if a.Mode == "append" {
		old, err := s.read(ctx, at, maxFile)
		if err != nil && !s.absent(at) {
			return "", err
		}
		data = append(old, data...)
	}
	if err := s.replace(at, data); err != nil {
		return "", s.explain(ctx, at, err)
	}
	return object(written{true, at.name, len(*a.Content)}), nil
}

func (s *Set) absent(at place) bool {
	_, err := s.root.Lstat(at.real)
	return errors.Is(err, fs.ErrNotExist)
}

// replace writes a file whole or not at all: to a new file beside it, which
// then takes its name and has its permissions. Directories are made. What is
// there must be a regular file.
func (s *Set) replace(at place, data []byte) error {
	if len(data) > maxFile {
		return fail("Content too large: %d > %d", len(data), maxFile)
	}
	old, err := s.target(at)
	if err != nil {
		return err
	}
	if err := s.root.MkdirAll(path.Dir(at.real), 0o777); err != nil {
		return fmt.Errorf("make the directory: %w", bare(err))
	}
	temp := path.Join(path.Dir(at.real), ".bx-"+rand.Text()+".tmp")
	if err := s.create(temp, old, data); err != nil {
		return errors.Join(bare(err), s.discard(temp))
	}
	if err := s.root.Rename(temp, at.real); err != nil {
		return errors.Join(bare(err), s.discard(temp))
	}
	return nil
}

// target looks at the file to be replaced; nil if there is none.
func (s *Set) target(at place) (fs.FileInfo, error) {
	info, err := s.root.Lstat(at.real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fail("Not a directory: %s", path.Dir(at.given))
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, s.notRegular(at)
	case info.Mode().Perm()&0o200 == 0:
		return nil, fs.ErrPermission
	}
	return info, nil
}

// create writes a new file with the permissions of the old one.
func (s *Set) create(name string, old fs.FileInfo, data []byte) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	_, failed := f.Write(data)
	return errors.Join(err, failed, f.Sync(), f.Close())
}

// discard removes a file that is no longer wanted; that it is not there is fine.
func (s *Set) discard(name string) error {
	if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bare(err)
	}
	return nil
}
