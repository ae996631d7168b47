package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/release"
)

// notices prints the licences of what the programs link, for an image that is not
// made by make release.
func notices(w io.Writer, args []string) error {
	if len(args) > 0 {
		return errors.New("notices: want no arguments")
	}
	text, err := release.Notices(context.Background(), ".")
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// makeRelease makes everything that users install into a folder: VERSION, the folder,
// and the platforms if not all are wanted (linux/amd64).
func makeRelease(w io.Writer, args []string) error {
	if len(args) < 2 {
		return errors.New("want a version and a folder: make release VERSION=1.2.3")
	}
	job := release.Job{Root: ".", Version: args[0], Platforms: release.Platforms, Epoch: os.Getenv("SOURCE_DATE_EPOCH"),
		Say: func(format string, a ...any) { fmt.Fprintf(w, format+"\n", a...) }}
	if len(args) > 2 {
		job.Platforms = slices.DeleteFunc(slices.Clone(release.Platforms), func(p release.Platform) bool { return !slices.Contains(args[2:], p.String()) })
		if len(job.Platforms) != len(args)-2 {
			return fmt.Errorf("platforms are %v, not %s", release.Platforms, strings.Join(args[2:], " "))
		}
	}
	if _, err := release.New(args[0], "", time.Time{}); err != nil { // before the long work
		return err
	}
	if err := wasm(w, []string{"typescript/dist"}); err != nil {
		return err
	}
	files, err := release.Make(context.Background(), job)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(args[1]); err != nil {
		return err
	}
	if err := os.MkdirAll(args[1], 0o755); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(w, "%6.1f MB  %s\n", float64(len(f.Body))/1e6, f.Name)
		if err := os.WriteFile(filepath.Join(args[1], f.Name), f.Body, f.Mode); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%d files in %s\n", len(files), args[1])
	return nil
}
