package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
)

// chunks writes the definitions of programs in directories, one JSON object a
// line: what search/vector/workshop learns from.
func chunks(w io.Writer, dirs []string) error {
	if len(dirs) == 0 {
		return errors.New("chunks: want DIR…")
	}
	for _, dir := range dirs {
		if err := chunksOf(w, dir); err != nil {
			return fmt.Errorf("chunks: %s: %w", dir, err)
		}
	}
	return nil
}

func chunksOf(w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := search.List(context.Background(), root, search.Options{})
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	for _, f := range files {
		src, err := search.Read(root, f.Path, search.DefaultMaxSize)
		if err != nil || search.KindOf(f.Path) != search.Code {
			continue // no text, or no program
		}
		lines := strings.SplitAfter(string(src), "\n")
		for _, c := range search.Chunks(f.Path, src) {
			err := out.Encode(map[string]any{
				"tree": dir, "path": c.Path, "symbols": c.Symbols, "test": search.IsTest(f.Path),
				"text": strings.Join(lines[c.Start-1:c.End], ""),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
