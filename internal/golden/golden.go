// Package golden runs tests whose cases are txtar files. One file is one case:
// a comment that says where it comes from, then sections, some of them input,
// some the expected output.
//
//	Trailing comma is mended.
//	contract: R-01
//	-- in --
//	{"a": 1,}
//	-- out --
//	{"a": 1}
//
// With "go test ./PACKAGE -update" every section that a test compares is
// rewritten with what the test got; the comment, the other sections and their
// order stay. Read the diff before you commit it.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

var update = flag.Bool("update", false, "rewrite the compared sections of golden files with what the tests got")

// Update reports whether the test was started with -update.
func Update() bool { return *update }

// Case is one txtar file.
type Case struct {
	Path    string // the file, as found
	Name    string // its path below testdata, without the extension; also the subtest's name
	Comment string // what stands above the first section

	archive *txtar.Archive
}

// Run runs f as a subtest of every file that the pattern matches (as in
// filepath.Glob: "testdata/*/*.txtar"). A pattern that matches nothing fails.
func Run(t *testing.T, pattern string, f func(t *testing.T, c *Case)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("golden: %q: %v", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("golden: no file matches %q", pattern)
	}
	for _, file := range files {
		t.Run(name(file), func(t *testing.T) {
			c, err := Read(file)
			if err != nil {
				t.Fatal(err)
			}
			f(t, c)
		})
	}
}

// Read reads one case, for a caller that walks the files itself.
func Read(file string) (*Case, error) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	return &Case{Path: file, Name: name(file), Comment: string(a.Comment), archive: a}, nil
}

func name(file string) string {
	s := filepath.ToSlash(strings.TrimSuffix(file, filepath.Ext(file)))
	if i := strings.LastIndex("/"+s, "/testdata/"); i >= 0 {
		s = s[i+len("testdata/"):]
	}
	return s
}

// Contract lists the ids in the comment's "contract:" lines.
func (c *Case) Contract() []string { return contract.Tags(c.Comment) }

// Names lists the sections in the file's order.
func (c *Case) Names() []string {
	names := make([]string, len(c.archive.Files))
	for i, f := range c.archive.Files {
		names[i] = f.Name
	}
	return names
}

// Has reports whether the section is there, empty or not.
func (c *Case) Has(section string) bool { return c.find(section) != nil }

// Get is the section's text without its final newline (a text that ends in a
// newline is followed by an empty line), or "" if there is no such section.
// Carriage returns stay.
func (c *Case) Get(section string) string {
	f := c.find(section)
	if f == nil {
		return ""
	}
	return strings.TrimSuffix(string(f.Data), "\n")
}

// Want compares got with the section's text, with or without the section's
// final newline: a test need not care. With -update it writes got to the
// section, and adds the section if it is missing.
func (c *Case) Want(t testing.TB, section, got string) {
	t.Helper()
	if want := c.Get(section); c.Has(section) && (got == want || got == want+"\n") {
		return
	}
	if *update {
		c.set(t, section, got)
		return
	}
	if !c.Has(section) {
		t.Errorf("%s: section %q is missing; got:\n%s\n(go test -update writes it)", c.Path, section, got)
		return
	}
	t.Errorf("%s: %s", c.Path, diff.Diff("want "+section, lines(c.Get(section)), "got "+section, lines(got)))
}

// lines is text as a section holds it: with a final newline, unless empty.
func lines(text string) []byte {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return []byte(text)
}

func (c *Case) find(section string) *txtar.File {
	for i := range c.archive.Files {
		if c.archive.Files[i].Name == section {
			return &c.archive.Files[i]
		}
	}
	return nil
}

func (c *Case) set(t testing.TB, section, got string) {
	t.Helper()
	data := lines(got)
	if txtar.NeedsQuote(data) {
		t.Errorf("%s: section %q cannot hold the line %q that reads as a section's start", c.Path, section, "-- NAME --")
		return
	}
	f := c.find(section)
	if f == nil {
		c.archive.Files = append(c.archive.Files, txtar.File{Name: section})
		f = c.find(section)
	}
	f.Data = data
	if err := writeIfNew(c.Path, txtar.Format(c.archive)); err != nil {
		t.Errorf("golden: %v", err)
	}
}

func writeIfNew(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return os.WriteFile(path, data, 0o666)
}
