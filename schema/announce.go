package schema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
)

var (
	fences   = expression("(?s)```.*?(?:```|$)")
	clauses  = expression(`[^.!?\n]+(?:\.\w[^.!?\n]*)*[.!?]?`) // a point inside a word ends nothing
	intended = expression(`(?i)\b(?:I(?:'ll| will|'m going to| am going to| need to| should| would)|let me|let's|we(?:'ll| will| need to| should))\b(.*)`)
	using    = expression(`(?i)\b(?:use|using|call|calling|run|running|invoke|try|execute|query)\b(.*)`)
	negated  = expression(`(?i)\b(?:not|never|without|instead of|rather than)\b|n't\b`)
)

// expression is compiled when it is first needed: that takes longer than to start
// without it.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Announces finds the first sentence by which the model says of itself that it
// will use a tool: "I'll use the search_code tool." Words are no call: nothing may
// run for them. Code, and what is denied, announces nothing.
func Announces(text string, tools []utp.Tool) (tool utp.Tool, sentence string, ok bool) {
	text = strings.ReplaceAll(text, "’", "'")
	if !anyIn(text, tools) { // what follows costs 100 ns a byte
		return utp.Tool{}, "", false
	}
	for _, clause := range clauses().FindAllString(fences().ReplaceAllString(text, "\n"), -1) {
		if !anyIn(clause, tools) {
			continue
		}
		will := intended().FindStringSubmatch(clause)
		if will == nil || negated().MatchString(clause) {
			continue
		}
		use := using().FindStringSubmatch(will[1])
		if use == nil {
			continue
		}
		for _, t := range tools {
			if mentions(use[1], t.Name) {
				return t, strings.TrimSpace(clause), true
			}
		}
	}
	return utp.Tool{}, "", false
}

// anyIn reports whether a text has the name of a tool, alone or in a longer word.
func anyIn(text string, tools []utp.Tool) bool {
	return slices.ContainsFunc(tools, func(t utp.Tool) bool { return strings.Contains(text, t.Name) })
}

// mentions reports whether a text has a tool's name as a word of its own. Of a name
// that is an ordinary word ("search") it wants the mark of code or the word tool.
func mentions(text, tool string) bool {
	name := regexp.QuoteMeta(tool)
	if strings.ContainsAny(tool, "_-.") || strings.ToLower(tool) != tool {
		return regexp.MustCompile(`(?:^|[^\w.-])` + name + `(?:[^\w-]|$)`).MatchString(text)
	}
	return regexp.MustCompile("[`\"'*]" + name + "[`\"'*(]|\\b" + name + `\s+(?:tool|function)\b`).MatchString(text)
}
