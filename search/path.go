package search

import (
	"path"
	"regexp"
	"strings"
)

// Kind sorts files by who reads them.
type Kind string

const (
	Code Kind = "code" // programs
	Doc  Kind = "doc"  // prose
	Data Kind = "data" // configuration, records, anything else
)

var kinds = byKind(map[Kind]string{
	Code: `.go .py .pyi .js .jsx .mjs .cjs .ts .tsx .mts .cts .java .kt .kts .scala .c .h .cc .cpp .cxx .hpp .hh .hxx
		.m .mm .cs .fs .rs .rb .php .pl .pm .lua .swift .dart .ex .exs .erl .hs .ml .mli .clj .cljs .r .jl .zig .nim .v
		.sh .bash .zsh .fish .ps1 .sql .proto .graphql .vue .svelte .tf .groovy .gradle .el .vim .s .asm .cu .sol`,
	Doc: `.md .markdown .mdx .rst .txt .adoc .org .tex .html .htm .1 .5 .7 .8`,
})

func byKind(lists map[Kind]string) map[string]Kind {
	out := map[string]Kind{}
	for kind, list := range lists {
		for _, ext := range strings.Fields(list) {
			out[ext] = kind
		}
	}
	return out
}

// KindOf sorts a file by its extension; one without is Code, as Makefile and
// Dockerfile are, but for LICENSE and its like.
func KindOf(name string) Kind {
	ext := strings.ToLower(path.Ext(name))
	if k := kinds[ext]; k != "" {
		return k
	}
	if ext != "" {
		return Data
	}
	if prose.MatchString(path.Base(name)) {
		return Doc
	}
	return Code
}

var prose = regexp.MustCompile(`^(?i:license|licence|copying|notice|authors|contributors|changelog|changes|readme|todo|news)$`)

// Source: the naming rules of go test, pytest, jest, rspec, JUnit and xUnit.
var testPath = regexp.MustCompile(`(?:^|/)(?:tests?|__tests__|__mocks__|testdata|specs?|e2e|fixtures?)/` +
	`|(?:^|/)test_[^/]*$|(?:^|/)conftest\.py$|[._-](?:test|tests|spec|e2e)\.[^/]+$` +
	`|[a-z0-9](?:Test|Tests|Spec)\.(?:java|kt|cs|swift|scala|php|groovy)$`)

// IsTest reports whether a path is that of a test or of its data.
func IsTest(name string) bool { return testPath.MatchString(name) }
