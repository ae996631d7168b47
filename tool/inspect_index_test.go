package tool

import (
	"fmt"
	"strings"
	"testing"
)

// What mentions a definition is the same whether the index of a search knows the
// files or all of them are read; what the index no longer knows is not shown.
func TestMentionsByTheIndexOfASearch(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go", "package a\n\n// readFile reads.\nfunc readFile() {}\n")
	write(t, dir, "b.go", "package a\n\nfunc use() { readFile() }\n")
	write(t, dir, "c.go", "package a\n\nfunc read() { file() }\n")
	const inspect = `{"path":"a.go","line":4}`
	want := run(open(t, Config{Root: dir}), "inspect_code", inspect).Text()
	if !strings.Contains(want, "b.go:3: func use() { readFile() }") {
		t.Fatalf("without an index: %s", want)
	}
	s := open(t, Config{Root: dir, IndexDir: t.TempDir()})
	run(s, "search_code", `{"query":"read file"}`)
	if got := run(s, "inspect_code", inspect).Text(); got != want {
		t.Errorf("after a search: %s\nwant: %s", got, want)
	}
	write(t, dir, "b.go", "package a\n\nfunc use() {}\n")
	if got := run(s, "inspect_code", inspect).Text(); strings.Contains(got, "b.go") {
		t.Errorf("a mention that is gone is shown: %s", got)
	}
}

// Where enough lines have the package's name too, files that have the name alone
// are not read, and where they are not enough they are: the answer is the same.
func TestMentionsOfACommonName(t *testing.T) {
	for _, near := range []int{0, 2, 3, 5} {
		dir := t.TempDir()
		write(t, dir, "page/read.go", "package page\n\n// Text reads.\nfunc Text() {}\n")
		for i := range 5 {
			write(t, dir, fmt.Sprintf("a%d.go", i), "package a\n\nfunc one() { m.Text() }\n")
		}
		for i := range near {
			write(t, dir, fmt.Sprintf("b%d.go", i), "package a\n\nfunc two() { page.Text() }\n")
		}
		const inspect = `{"path":"page/read.go","line":4}`
		want := run(open(t, Config{Root: dir}), "inspect_code", inspect).Text()
		s := open(t, Config{Root: dir, IndexDir: t.TempDir()})
		run(s, "search_code", `{"query":"text"}`)
		if got := run(s, "inspect_code", inspect).Text(); got != want || strings.Count(got, "Text()") != 1+maxMentions {
			t.Errorf("with %d near lines, after a search: %s\nwithout an index: %s", near, got, want)
		}
	}
}
