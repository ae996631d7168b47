package tool

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed list_dir.md
var listDirText string

var listDir = builtin{
	Tool: utp.Tool{
		Name: "list_dir", Tier: utp.TierWalk, Description: listDirText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The directory, relative to the top of the repository"},` +
			`"include_hidden":{"type":"boolean","description":"Whether to list names that begin with a dot","default":false}},` +
			`"required":["path"]}`),
	},
	run: with((*Set).listDir),
}

type listArgs struct {
	Path          string `json:"path"`
	IncludeHidden bool   `json:"include_hidden"`
}

func (s *Set) listDir(ctx context.Context, a listArgs) (string, error) {
	at, err := s.find(cmp.Or(a.Path, "."))
	if err != nil {
		return "", err
	}
	entries, err := s.entries(ctx, at)
	if err != nil {
		return "", err
	}
	hidden := len(entries)
	if !a.IncludeHidden {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name()[0] == '.' })
	}
	hidden -= len(entries)
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = s.entry(at, e)
	}
	return s.listing(at, lines, hidden), nil
}

// entries are those of a directory, directories first, each group by name.
func (s *Set) entries(ctx context.Context, at place) ([]fs.DirEntry, error) {
	info, err := s.root.Stat(at.real)
	if err != nil {
		return nil, s.explain(ctx, at, err)
	}
	if !info.IsDir() {
		return nil, fail("Not a directory: %s", at.given)
	}
	f, err := s.root.OpenFile(at.real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, s.explain(ctx, at, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, s.explain(ctx, at, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return entries, nil
}

// entry is the line of an entry. Where a link leads is not said.
func (s *Set) entry(dir place, e fs.DirEntry) string {
	name := printable(path.Join(dir.name, e.Name()))
	info, err := s.root.Lstat(path.Join(dir.real, e.Name()))
	switch {
	case err != nil:
		return name + "  (unreadable)"
	case info.IsDir():
		return name + "/"
	case info.Mode()&fs.ModeSymlink != 0:
		return name + "  (symlink)"
	case !info.Mode().IsRegular():
		return name + "  (device)"
	}
	return name + "  " + size(info.Size())
}

func (s *Set) listing(at place, lines []string, hidden int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d entries", at.given, len(lines))
	if hidden > 0 {
		fmt.Fprintf(&b, ", %d hidden not listed", hidden)
	}
	for i, l := range lines {
		if b.Len()+len(l) > s.config.MaxResult-100 {
			fmt.Fprintf(&b, "\n[...truncated, %d more entries...] search_code finds files by name", len(lines)-i)
			break
		}
		b.WriteString("\n" + l)
	}
	return b.String()
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f KB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1000/1000)
}
