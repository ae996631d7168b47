package search

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

func TestChunks(t *testing.T) {
	golden.Run(t, "testdata/chunk/*.txtar", func(t *testing.T, c *golden.Case) {
		var b strings.Builder
		name := c.Names()[0]
		for _, k := range Chunks(name, []byte(c.Get(name)+"\n")) {
			fmt.Fprintf(&b, "%d-%d line %d %s\n", k.Start, k.End, k.Line, strings.Join(k.Symbols, " "))
		}
		c.Want(t, "chunks", b.String())
	})
}

func TestLongChunksAreCut(t *testing.T) {
	src := "package a\n\n// F is long.\nfunc F() {\n" + strings.Repeat("\tF()\n", 200) + "}\n"
	got := fmt.Sprint(Chunks("a.go", []byte(src)))
	want := "[{a.go 1 1 1 [] code} {a.go 3 82 4 [F] code} {a.go 68 147 4 [F] code} {a.go 133 205 4 [F] code}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestProseIsCutInWindows(t *testing.T) {
	got := fmt.Sprint(Chunks("a.md", []byte(strings.Repeat("word\n", 130))))
	want := "[{a.md 1 60 1 [] doc} {a.md 61 120 61 [] doc} {a.md 121 130 121 [] doc}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Chunks are in order, stand within the file and miss no line that has text.
func TestChunksCoverTheFile(t *testing.T) {
	lines := rapid.SampledFrom([]string{"", "\t", "// c", "func f() {", "}", "x := 1", "package a", "import \"b\"", "def g(x):",
		"type T struct{}", "/*", "*/", "func (t T) m() {}; func n() {}", "`", "class A:", "    def m(self):", "var a, b = 1, 2", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a.go", "a.py", "a.md", "a.json"}).Draw(t, "name")
		src := rapid.SliceOfN(lines, 0, 300).Draw(t, "lines")
		covered, last := map[int]bool{}, 0
		for _, c := range Chunks(name, []byte(strings.Join(src, "\n"))) {
			if c.Start < 1 || c.End > len(src) || c.Line < c.Start || c.Line > c.End || c.Start <= last || c.End-c.Start >= maxChunk {
				t.Fatalf("chunk %+v of %d lines after one from %d", c, len(src), last)
			}
			for last = c.Start; last <= c.End; last++ {
				covered[last] = true
			}
			last = c.Start
		}
		for i, l := range src {
			if strings.TrimSpace(l) != "" && !covered[i+1] {
				t.Fatalf("line %d %q is in no chunk", i+1, l)
			}
		}
	})
}

func TestDefinitions(t *testing.T) {
	for line, want := range map[string]string{
		"func (p *Parser) Feed(s string) []Event {":    "Feed",
		"func New[T any](c Config) *Parser {":          "New",
		"  async def handle(self):":                    "handle",
		"class Foo(Bar):":                              "Foo",
		"    public static void main(String[] a) {":    "main",
		"fun List<Int>.sum(): Int {":                   "List",
		"  def self.call(x)":                           "self.call",
		"module Foo::Bar":                              "Foo::Bar",
		"defmodule MyApp.Repo do":                      "MyApp.Repo",
		"const useThing = (a) => {":                    "useThing",
		"local function trim(s)":                       "trim",
		"message Request {":                            "Request",
		"template <typename T> struct Box {":           "",
		"std::string Foo::name() const {":              "Foo::name",
		"if (x) {":                                     "",
		"} else if (x) {":                              "",
		"  for (int i = 0; i < n; i++) {":              "",
		"return foo(x)":                                "",
		"x = classify(y)":                              "",
		"            def deep(self):":                  "",
		"CREATE UNIQUE INDEX IF NOT EXISTS i ON t (a)": "i",
		"create table users (":                         "users",
		"Create View v AS":                             "",
		"the class of things":                          "",
		"  async #load (path) {":                       "load",
	} {
		if got, ok := Definition(line); got != want || ok != (want != "") {
			t.Errorf("Definition(%q) = %q, %v, want %q", line, got, ok, want)
		}
	}
}

func TestKindsAndTests(t *testing.T) {
	for name, want := range map[string]struct {
		kind Kind
		test bool
	}{
		"a/b.go": {Code, false}, "a/b_test.go": {Code, true}, "latest_news.md": {Doc, false}, "attest_x.py": {Code, false},
		"tests/x.py": {Code, true}, "src/test_x.py": {Code, true}, "a/x.spec.ts": {Code, true}, "src/FooTest.java": {Code, true},
		"Latest.java": {Code, false}, "conftest.py": {Code, true}, "testdata/x.json": {Data, true}, "contest/a.go": {Code, false},
		"Makefile": {Code, false}, "LICENSE": {Doc, false}, "go.sum": {Data, false}, "a/__tests__/b.js": {Code, true}, "x.MD": {Doc, false},
	} {
		if got := KindOf(name); got != want.kind {
			t.Errorf("KindOf(%q) = %s, want %s", name, got, want.kind)
		}
		if got := IsTest(name); got != want.test {
			t.Errorf("IsTest(%q) = %v, want %v", name, got, want.test)
		}
	}
}
