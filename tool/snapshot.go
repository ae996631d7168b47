package tool

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/undo"
)

// maxTree is the size in bytes of all files above which a command's changes are
// not kept.
const maxTree = 50 << 20

// Unkept says why what a call changes cannot be undone; "" where it can, or where
// the call changes nothing.
func (s *Set) Unkept(ctx context.Context, c utp.Call) string {
	if c.Name != ShellName || s.config.Shell == nil || s.store == nil {
		return ""
	}
	_, note := s.keepable(ctx)
	return note
}

// snapshot is the files that git does not ignore, as they are before a command.
// Of too much there is none, and note says what that means.
func (s *Set) snapshot(ctx context.Context) (files map[string]*undo.File, note string) {
	if s.turn == nil {
		return nil, ""
	}
	list, note := s.keepable(ctx)
	if note != "" {
		return nil, note
	}
	return s.contents(list), ""
}

// keepable lists the files that are kept before a command, or says why they are not.
func (s *Set) keepable(ctx context.Context) (list []search.File, note string) {
	const no = "what the command changes cannot be undone: "
	list, err := search.List(ctx, s.root, search.Options{All: true, MaxSize: -1})
	if err != nil {
		return nil, no + "the files cannot be listed"
	}
	var total int64
	for _, f := range list {
		total += f.Size
	}
	if total > maxTree {
		return nil, no + "the files of the repository have more than " + size(maxTree)
	}
	return list, ""
}

func (s *Set) contents(list []search.File) map[string]*undo.File {
	out := make(map[string]*undo.File, len(list))
	for _, f := range list {
		if b, info, err := s.whole(f.Path); err == nil {
			out[f.Path] = &undo.File{Data: b, Mode: info}
		}
	}
	return out
}

// noteChanges keeps what a command changed. note is not "" where that failed.
func (s *Set) noteChanges(ctx context.Context, before map[string]*undo.File) (note string) {
	if before == nil {
		return ""
	}
	const no = "what the command changed cannot be undone: "
	list, err := search.List(ctx, s.root, search.Options{All: true, MaxSize: undo.MaxFile})
	if err != nil {
		return no + "the files cannot be listed"
	}
	after, dirs := s.contents(list), map[string]bool{}
	for name := range before {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for name, now := range after {
		was := before[name]
		if was != nil && was.Mode == now.Mode && bytes.Equal(was.Data, now.Data) {
			continue
		}
		var made []string
		for dir := path.Dir(name); was == nil && dir != "." && !dirs[dir]; dir = path.Dir(dir) {
			made = append(made, dir)
		}
		if err := s.turn.Changed(name, was, now, made); err != nil {
			return no + err.Error()
		}
	}
	for name, was := range before {
		if after[name] != nil || slices.ContainsFunc(list, func(f search.File) bool { return f.Path == name }) || !s.absent(place{real: name}) {
			continue
		}
		if err := s.turn.Changed(name, was, nil, nil); err != nil {
			return no + err.Error()
		}
	}
	return ""
}

// whole reads a file of any size that is kept.
func (s *Set) whole(name string) ([]byte, fs.FileMode, error) {
	f, info, err := search.Open(s.root, name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, undo.MaxFile+1))
	if err == nil && len(b) > undo.MaxFile {
		err = search.ErrTooLarge
	}
	return b, info.Mode().Perm(), err
}
