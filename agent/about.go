package agent

import (
	"regexp"
	"slices"
	"strings"
)

// identifier is a name as code writes it: parse_call, parseCall, parse().
var identifier = regexp.MustCompile("`[^`\n]+`|\\w_\\w|[a-z][A-Z]|\\w\\(\\)")

var (
	// places ask where something stands.
	places = []string{"where", "where's", "wo", "où", "dónde", "donde", "onde"}
	// things are what a repository is made of.
	things = []string{"repo", "repository", "codebase", "code", "source", "project", "file", "files", "function", "functions", "method", "methods",
		"class", "classes", "struct", "type", "package", "packages", "module", "modules", "test", "tests", "handler", "endpoint", "parser",
		"config", "configuration", "bug", "error", "build", "script", "folder", "directory", "readme", "implementation", "api",
		"datei", "dateien", "quelltext", "funktion", "klasse", "projekt", "fichier", "fichiers", "fonction", "dépôt", "projet",
		"archivo", "archivos", "función", "clase", "repositorio", "proyecto", "arquivo", "função", "classe", "repositório", "projeto"}
	// pointers say that a certain one is meant.
	pointers = []string{"the", "this", "that", "these", "our", "my", "here", "which", "search", "find", "look", "list", "show", "review", "explain",
		"der", "die", "das", "den", "diese", "dieser", "hier", "welche", "welcher", "le", "la", "les", "ce", "cette", "ici", "quel", "quelle",
		"el", "los", "las", "este", "esta", "aquí", "qué", "o", "os", "as", "esse", "essa", "aqui", "qual"}
	// signs are words of languages that put no blanks between them.
	signs = []string{"代码", "文件", "函数", "哪里", "仓库", "コード", "ファイル", "関数", "どこ", "リポジトリ"}
)

// AboutCode reports whether a question seems to be about the code at hand, so
// that an answer without a look at it is worth a reminder. A wrong guess costs
// one request.
func AboutCode(question string) bool {
	question = gist(question)
	if identifier.MatchString(question) || slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(question, s) }) {
		return true
	}
	thing, pointer := false, false
	for _, s := range sentences(question) {
		for i, w := range s.words {
			if i == 0 && slices.Contains(places, w.text) || w.file && w.text != "\x00" && strings.ContainsAny(w.text, "/.") {
				return true
			}
			thing = thing || slices.Contains(things, w.text)
			pointer = pointer || slices.Contains(pointers, w.text)
		}
	}
	return thing && pointer
}
