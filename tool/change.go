package tool

import (
	"context"

	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"path"
	"syscall"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/safefile"
	"github.com/unifiedtoolprotocol/utp/search"
)

// maxFile is the size in bytes above which no file is written, edited or removed.
const maxFile = 10 << 20

// plan is what a call would make of the files, and its answer once it has.
type plan struct {
	changes []change
	answer  any
}

// change is what a plan makes of one file.
type change struct {
	at   place
	old  *original // nil: there is no such file
	data []byte    // what the file then holds
	gone bool      // the file is removed
	adds bool      // data is old and more: what others added meanwhile is in it
	mode fs.FileMode
}

// original is a file before a change.
type original struct {
	data []byte
	mode fs.FileMode
}

// text refuses an original that is no text.
func (o *original) text(at place) error {
	if search.Binary(o.data) {
		return fail("File is not UTF-8 text: %s", at.given)
	}
	return nil
}

// planning reads the arguments of a call into an A for f.
func planning[A any](f func(*Set, context.Context, A) (plan, error)) func(*Set, context.Context, json.RawMessage) (plan, error) {
	return func(s *Set, ctx context.Context, args json.RawMessage) (plan, error) {
		a, err := arguments[A](args)
		if err != nil {
			return plan{}, err
		}
		return f(s, ctx, a)
	}
}

// Change is what a call would make of a file. Before and After are "" where
// Binary says that there is no text to show.
type Change struct {
	Path             string
	Before, After    string
	Created, Removed bool
	Binary           bool
}

// Foresee says what a call of a tool that writes files would change, and
// changes nothing. The failure is the one that the call would end in. What was
// foreseen is what is written: the call fails if a file changes in between.
// A call of another tool changes nothing that is known before.
func (s *Set) Foresee(ctx context.Context, c utp.Call) (changes []Change, failure *utp.Result) {
	b, ok := byName(c.Name)
	if !ok || b.plan == nil {
		return nil, nil
	}
	no := func(err error) *utp.Result {
		r := failed(c, err)
		return &r
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, no(err)
	}
	defer unlock()
	p, err := b.plan(s, Approve(ctx), c.Args)
	if err == nil {
		err = s.ready(ctx, p)
	}
	if err != nil {
		return nil, no(err)
	}
	for _, c := range p.changes {
		s.seen.first(c.at.real, c.old)
		changes = append(changes, c.shown())
	}
	return changes, nil
}

func (c change) shown() Change {
	out := Change{Path: c.at.name, Created: c.old == nil, Removed: c.gone, Binary: search.Binary(c.data)}
	if c.old != nil {
		out.Binary = out.Binary || search.Binary(c.old.data)
	}
	if out.Binary {
		return out
	}
	if out.After = string(c.data); c.old != nil {
		out.Before = string(c.old.data)
	}
	return out
}

// write does what a call plans, all of it or nothing.
func (s *Set) write(ctx context.Context, b builtin, args json.RawMessage) (string, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.beginTurn(); err != nil {
		return "", err
	}
	if !s.together {
		defer s.endTurn()
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	p, err := b.plan(s, ctx, args)
	if err == nil {
		err = s.ready(ctx, p)
	}
	if err != nil {
		return "", err
	}
	if err := s.apply(ctx, p); err != nil {
		return "", err
	}
	return object(p.answer), nil
}

// ready refuses a plan that cannot be carried out, or for files that changed
// since a call read them.
func (s *Set) ready(ctx context.Context, p plan) error {
	for _, c := range p.changes {
		if _, err := s.target(c.at); err != nil {
			return s.explain(ctx, c.at, err)
		}
		if !c.adds && !s.seen.same(c.at.real, c.old) {
			return fail("File changed since it was read: %s. Read it again", c.at.given)
		}
		if len(c.data) > maxFile {
			return fail("Content too large: %d > %d", len(c.data), maxFile)
		}
	}
	return nil
}

// apply makes the changes of a plan. When one fails those before it are undone.
func (s *Set) apply(ctx context.Context, p plan) error {
	for i, c := range p.changes {
		err := s.make(c)
		if err == nil {
			continue
		}
		err = s.explain(ctx, c.at, err)
		for _, done := range p.changes[:i] {
			if back := s.make(done.reverse()); back != nil {
				err = fmt.Errorf("%w; %s was changed and stays so: %w", err, done.at.given, bare(back))
			}
		}
		return err
	}
	for _, c := range p.changes {
		s.seen.note(c.at.real, c.after())
	}
	return nil
}

func (c change) after() *original {
	if c.gone {
		return nil
	}
	return &original{data: c.data}
}

// reverse is the change that undoes c.
func (c change) reverse() change {
	if c.old == nil {
		return change{at: c.at, old: c.after(), gone: true}
	}
	return change{at: c.at, old: c.after(), data: c.old.data, mode: c.old.mode}
}

func (s *Set) make(c change) error {
	temp := safefile.Temp(c.at.real)
	if err := s.note(c, temp); err != nil {
		return err
	}
	if c.gone {
		return bare(s.root.Remove(c.at.real))
	}
	return s.replace(c.at, c.data, c.newMode(), temp)
}

// newMode is the permissions that the file has after the change; 0 leaves them
// to the system.
func (c change) newMode() fs.FileMode {
	if c.old != nil {
		return c.old.mode
	}
	return c.mode
}

// original is a text file before a change.
func (s *Set) original(ctx context.Context, at place) (*original, error) {
	o, err := s.originalBytes(ctx, at)
	if err == nil {
		err = o.text(at)
	}
	return o, err
}

// originalBytes is any regular file before a change.
func (s *Set) originalBytes(ctx context.Context, at place) (*original, error) {
	f, info, err := s.open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, s.explain(ctx, at, err)
	case len(data) > maxFile:
		return nil, fail("File is too large: %s", at.given)
	}
	return &original{data, info.Mode().Perm()}, nil
}

func (s *Set) absent(at place) bool {
	_, err := s.root.Lstat(at.real)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// replace writes a file whole or not at all. What is there must be a regular file.
func (s *Set) replace(at place, data []byte, mode fs.FileMode, temp string) error {
	if _, err := s.target(at); err != nil {
		return err
	}
	return safefile.Replace(s.root, at.real, temp, data, mode)
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
