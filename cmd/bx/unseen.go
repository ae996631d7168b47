package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/search"
)

// seen is what search_code reads of a repository, and what it passes over.
type seen struct {
	Files  int      `json:"files"`
	Bytes  int64    `json:"bytes"`
	Unseen []unseen `json:"unseen"`
}

// unseen is files that search_code never finds.
type unseen struct {
	Why     string `json:"why"` // "larger than 1 MB", "hidden", "installed" or "not text"
	Files   int    `json:"files"`
	Example string `json:"example"`
}

// Why a file is not seen, in the order of the list.
var unseenWhys = []string{"larger than 1 MB", "not text", "hidden", "installed"}

// look lists the files below root as search_code does, and those beside them that
// no ignore file leaves out.
func look(ctx context.Context, dir string) (*seen, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	read, err := search.List(ctx, root, search.Options{})
	if err != nil {
		return nil, err
	}
	all, err := search.List(ctx, root, search.Options{All: true, MaxSize: -1})
	if err != nil {
		return nil, err
	}
	s, next := &seen{Unseen: []unseen{}}, 0
	for _, f := range all {
		listed := next < len(read) && read[next].Path == f.Path
		if listed {
			next++
		}
		if why := whyUnseen(root, f, listed); why != "" {
			s.pass(why, f.Path)
			continue
		}
		s.Files++
		s.Bytes += f.Size
	}
	slices.SortFunc(s.Unseen, func(a, b unseen) int { return slices.Index(unseenWhys, a.Why) - slices.Index(unseenWhys, b.Why) })
	return s, nil
}

// whyUnseen says why a file is not searched; "" is that it is.
func whyUnseen(root *os.Root, f search.File, listed bool) string {
	switch {
	case listed && binary(root, f.Path):
		return "not text"
	case listed:
		return ""
	case strings.HasPrefix(f.Path, ".") || strings.Contains(f.Path, "/."):
		return "hidden"
	case f.Size > search.DefaultMaxSize:
		return "larger than 1 MB"
	}
	return "installed"
}

func binary(root *os.Root, path string) bool {
	f, _, err := search.Open(root, path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 8000))
	return err == nil && search.Binary(head)
}

func (s *seen) pass(why, path string) {
	at := slices.IndexFunc(s.Unseen, func(u unseen) bool { return u.Why == why })
	if at < 0 {
		s.Unseen = append(s.Unseen, unseen{Why: why, Example: path})
		at = len(s.Unseen) - 1
	}
	s.Unseen[at].Files++
}

func (s *seen) String() string {
	text := fmt.Sprintf("%s, %.1f MB", view.Count(s.Files, "file"), float64(s.Bytes)/1e6)
	var words []string
	for _, u := range s.Unseen {
		words = append(words, fmt.Sprintf("%d %s (%s)", u.Files, u.Why, u.Example))
	}
	if len(words) > 0 {
		text += "; search does not see " + strings.Join(words, ", ")
	}
	return text
}
