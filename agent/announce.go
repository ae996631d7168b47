package agent

import (
	"regexp"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

var (
	fences   = regexp.MustCompile("(?s)```.*?(?:```|$)")
	clauses  = regexp.MustCompile(`[^.!?\n]+(?:\.\w[^.!?\n]*)*[.!?]?`) // a point inside a word ends nothing
	intended = regexp.MustCompile(`(?i)\b(?:I(?:'ll| will|'m going to| am going to| need to| should| would)|let me|let's|we(?:'ll| will| need to| should))\b(.*)`)
	usage    = regexp.MustCompile(`(?i)\b(?:use|using|call|calling|run|running|invoke|try|execute|query)\b(.*)`)
	denied   = regexp.MustCompile(`(?i)\b(?:not|never|without|instead of|rather than)\b|n't\b`)
)

// suggest tells of a tool that the answer announces.
func (t *turn) suggest(rep reply) {
	if !t.Suggest || len(rep.calls) > 0 || rep.broken() {
		return
	}
	if tool, sentence, ok := announced(t.answer.Text, t.Gate.Offered()); ok {
		t.emit(Event{Kind: Suggestion, Tool: &tool, Text: sentence})
	}
}

// announced finds the first sentence by which the model says of itself that it
// will use a tool: "I'll use the search_code tool." Words are no call: nothing may
// run for them. Code, and what is denied, announces nothing.
func announced(text string, tools []utp.Tool) (tool utp.Tool, sentence string, ok bool) {
	text = strings.ReplaceAll(fences.ReplaceAllString(text, "\n"), "’", "'")
	for _, clause := range clauses.FindAllString(text, -1) {
		will := intended.FindStringSubmatch(clause)
		if will == nil || denied.MatchString(clause) {
			continue
		}
		use := usage.FindStringSubmatch(will[1])
		if use == nil {
			continue
		}
		for _, t := range tools {
			if names(use[1], t.Name) {
				return t, strings.TrimSpace(clause), true
			}
		}
	}
	return utp.Tool{}, "", false
}

// names reports whether a text has a tool's name as a word of its own. Of a name
// that is an ordinary word ("search") it wants the mark of code or the word tool.
func names(text, tool string) bool {
	name := regexp.QuoteMeta(tool)
	if strings.ContainsAny(tool, "_-.") || strings.ToLower(tool) != tool {
		return regexp.MustCompile(`(?:^|[^\w.-])` + name + `(?:[^\w-]|$)`).MatchString(text)
	}
	return regexp.MustCompile("[`\"'*]" + name + "[`\"'*(]|\\b" + name + `\s+(?:tool|function)\b`).MatchString(text)
}
