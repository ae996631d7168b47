package search

import (
	"regexp"
	"strings"
)

// definition finds the name on a line that begins a definition, in any
// language, at an indent of at most four. Groups: a name after a keyword, a
// function bound to a name, a table of SQL, a header that opens a block, a C
// function whose block opens on the next line.
var definition = regexp.MustCompile(`^[ \t]{0,4}(?:` +
	`(?:(?:export|default|declare|pub(?:\([\w: ]+\))?|public|private|protected|internal|static|final|abstract|async|override|virtual|inline|extern|unsafe|const|open|sealed|data|partial|suspend|local)\s+)*` +
	`(?:func|function\*?|fun|fn|def(?:p|module|macro)?|class|struct|interface|trait|enum|union|impl|type|module|mod|namespace|object|record|protocol|extension|macro_rules!|sub|proc|message|service|rpc)` +
	`(?:<[^>]*>)?\s+(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?([A-Za-z_$][\w$.:]*)` +
	`|(?:export\s+)?(?:default\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*(?:async\b|function\b|class\b|\(|[\w$]+\s*=>)` +
	`|(?i:create\s+(?:or\s+replace\s+)?(?:temp\w*\s+|virtual\s+|unique\s+)?(?:table|view|function|procedure|trigger|index|type)\s+(?:if\s+not\s+exists\s+)?)["` + "`" + `]?([\w.]+)` +
	`|(?:[\w$<>\[\],*&:?~@.]+[ \t]+)*[*&~#]*([A-Za-z_$][\w$:~]*)[ \t]*\([^;=]*\)[^;=(){}]*\{[ \t]*$` +
	`)|^(?:[\w*&<>:,]+[ \t]+)+[*&]*([A-Za-z_][\w:~]*)[ \t]*\([^;{}=]*\)[ \t]*$`)

// statements look like a header that opens a block.
var statements = set(`if else for while switch catch return do try with foreach lock using synchronized
	match when unless until elif select go defer await new throw yield import from print raise assert not and or in case`)

// openers are the words that a definition can begin with: those before a name
// and those that go before them.
var openers = set(`export default declare pub public private protected internal static final abstract async override
	virtual inline extern unsafe const open sealed data partial suspend local func function fun fn def defp defmodule
	defmacro class struct interface trait enum union impl type module mod namespace object record protocol extension
	macro_rules! sub proc message service rpc let var create`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// possible is false for most lines that begin no definition, and cheap.
func possible(line string) bool {
	text := strings.TrimLeft(line, " \t")
	indent := len(line) - len(text)
	end := strings.TrimRight(text, " \t\r")
	switch {
	case len(line) > 500 || indent > 4 || end == "":
		return false
	case end[len(end)-1] == '{' || indent == 0 && end[len(end)-1] == ')':
		return strings.Contains(end, "(") || openers[firstWord(text)]
	}
	return openers[firstWord(text)]
}

// firstWord is the word that a text begins with, in lower case if it is all
// upper case.
func firstWord(s string) string {
	n := strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '!' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z')
	})
	if n < 0 {
		n = len(s)
	}
	if w := s[:n]; strings.ToUpper(w) != w {
		return w
	}
	return strings.ToLower(s[:n])
}

// Definition gives the name that a line defines, if it begins a definition.
func Definition(line string) (name string, ok bool) {
	if !possible(line) {
		return "", false
	}
	m := definition.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	for _, name := range m[1:3] {
		if name != "" {
			return strings.TrimRight(name, ".:"), true
		}
	}
	first, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	name = m[3] + m[4] + m[5]
	if statements[name] || statements[first] {
		return "", false
	}
	return name, true
}

// comment is a line that belongs to the definition below it: a comment, an
// annotation, a decorator or an attribute.
var comment = regexp.MustCompile(`^\s*(?://|#|/\*|\*|--|;;|@|\[[A-Z])`)
