package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/unifiedtoolprotocol/utp/search"
)

// place is a path that a call names, found to lie below the root.
type place struct {
	given string // as the model wrote it, fit for a message
	name  string // relative, cleaned, with slashes
	real  string // name without links
}

// escapes is the refusal of a path that leads out of the root. It says what
// was asked for and never where that would have led.
func escapes(given string) error { return denied("Path escapes repository boundary: " + given) }

// find places a path below the root. It looks at the path only; whether there
// is such a file is for the caller to see. Everything that is done with the
// result goes through the os.Root, which checks again while it opens.
func (s *Set) find(p string) (place, error) {
	given := printable(p)
	if strings.ContainsRune(p, 0) {
		return place{}, denied("Path contains null bytes: " + given)
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		return place{}, escapes(given)
	}
	local := filepath.FromSlash(p)
	if filepath.IsAbs(local) {
		var ok bool
		if local, ok = s.inside(local); !ok {
			return place{}, escapes(given)
		}
	}
	local = filepath.Clean(local)
	if !filepath.IsLocal(local) {
		return place{}, escapes(given)
	}
	name := filepath.ToSlash(local)
	real, ok := s.follow(name)
	if !ok {
		return place{}, escapes(given)
	}
	return place{given, name, real}, nil
}

// inside makes an absolute path below the root relative to it.
func (s *Set) inside(abs string) (string, bool) {
	for _, root := range []string{s.given, s.real} {
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// maxLinks is how many links a path may go through.
const maxLinks = 40

// follow resolves the links of a path below the root, as far as it exists. A
// link to an absolute path, or out of the root, is not ok.
func (s *Set) follow(name string) (real string, ok bool) {
	real = "."
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && real == ".":
			return "", false
		case part == "..":
			real = path.Dir(real)
			continue
		}
		target, err := s.root.Readlink(path.Join(real, part))
		if err != nil {
			real = path.Join(real, part)
			continue
		}
		if links++; links > maxLinks || filepath.IsAbs(target) {
			return "", false
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return real, true
}

// toRead places a path for reading.
func (s *Set) toRead(ctx context.Context, p string) (place, error) {
	at, err := s.find(p)
	if err != nil {
		return at, err
	}
	if secret(at.name) || secret(at.real) {
		return at, denied(fmt.Sprintf("Reading %s is not allowed: it may hold secrets", at.given))
	}
	return at, needsYes(ctx, at.given, readingAsks(at))
}

// toWrite places a path for writing. It refuses links: what is approved must
// be what is written.
func (s *Set) toWrite(ctx context.Context, p string) (place, error) {
	at, err := s.find(p)
	switch {
	case err != nil:
		return at, err
	case at.real != at.name:
		return at, denied(fmt.Sprintf("Writing to %s is not allowed: it is a symbolic link, or lies behind one", at.given))
	case guarded(at.name):
		return at, denied(fmt.Sprintf("Writing to %s is not allowed: it is a protected file", at.given))
	}
	return at, needsYes(ctx, at.given, writingAsks(at.name))
}

// secret reports a file of environment variables. Names are compared without
// case, as some file systems do.
func secret(name string) bool {
	base := strings.ToLower(path.Base(name))
	if slices.Contains([]string{".env.example", ".env.sample", ".env.template", ".env.dist"}, base) {
		return false
	}
	return base == ".env" || strings.HasPrefix(base, ".env.") || base == ".envrc"
}

// guarded reports a file that a model must not change: those of version
// control and of bx itself, secrets and keys.
func guarded(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		if slices.Contains([]string{".git", "git~1", ".hg", ".svn", ".bx"}, strings.TrimRight(part, ". ")) {
			return true
		}
	}
	return secret(name) || strings.EqualFold(path.Ext(name), ".pem")
}

// printable is a path as it may stand in a message: short and on one line.
func printable(p string) string {
	if len(p) > 200 {
		p = cutText(p, 200) + "…"
	}
	if strings.IndexFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		return strconv.Quote(p)
	}
	return p
}

// open opens a file for reading.
func (s *Set) open(ctx context.Context, at place) (*os.File, fs.FileInfo, error) {
	f, info, err := search.Open(s.root, at.real)
	return f, info, s.explain(ctx, at, err)
}

// read reads a whole text file of at most limit bytes.
func (s *Set) read(ctx context.Context, at place, limit int64) ([]byte, error) {
	src, err := search.Read(s.root, at.real, limit)
	return src, s.explain(ctx, at, err)
}

// explain words an error of the file system for a model.
func (s *Set) explain(ctx context.Context, at place, err error) error {
	var worded failure
	var no denied
	switch {
	case err == nil, errors.As(err, &worded), errors.As(err, &no):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return s.notFound(ctx, at)
	case errors.Is(err, fs.ErrPermission):
		return fail("Permission denied: %s", at.given)
	case errors.Is(err, search.ErrBinary):
		return fail("File is not UTF-8 text: %s", at.given)
	case errors.Is(err, search.ErrTooLarge):
		return fail("File is too large: %s", at.given)
	case errors.Is(err, search.ErrNotRegular):
		return s.notRegular(at)
	case leaves(err):
		return escapes(at.given)
	}
	return fmt.Errorf("%s: %w", at.given, bare(err))
}

// leaves reports the error of os.Root for a path out of the root, which has no
// name of its own.
func leaves(err error) bool {
	return strings.Contains(bare(err).Error(), "path escapes from parent")
}

// bare is an error without the path that the system knows it by.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (s *Set) notRegular(at place) error {
	if info, err := s.root.Stat(at.real); err == nil && info.IsDir() {
		return fail("Not a file: %s is a directory", at.given)
	}
	return denied("Cannot access device file: " + at.given)
}

// notFound names files whose paths end alike, if there are.
func (s *Set) notFound(ctx context.Context, at place) error {
	text := "File not found: " + at.given
	if near := s.near(ctx, at.name); len(near) > 0 {
		text += ". Did you mean " + strings.Join(near, " or ") + "?"
	}
	return failure(text)
}

// near lists at most three files of the same base name, those with most of the
// path in common first, then the shortest.
func (s *Set) near(ctx context.Context, name string) (out []string) {
	files, err := search.List(ctx, s.root, search.Options{})
	if err != nil {
		return nil
	}
	for _, f := range files {
		if strings.EqualFold(path.Base(f.Path), path.Base(name)) {
			out = append(out, f.Path)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		if c := tail(b, name) - tail(a, name); c != 0 {
			return c
		}
		return len(a) - len(b)
	})
	return out[:min(len(out), 3)]
}

// tail counts the components that two paths share at their ends.
func tail(a, b string) (n int) {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for n < len(as) && n < len(bs) && strings.EqualFold(as[len(as)-1-n], bs[len(bs)-1-n]) {
		n++
	}
	return n
}
