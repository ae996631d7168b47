package parse_test

import "strings"

// broken are the words by which a row's notes name a malformation or a
// truncation, or say that its expectation is none of the format: that engines
// answer differently, that only a crash is looked for, that calls were not asked
// for. docs/conformance.md repeats the rule.
var broken = []string{
	"malformed", "truncat", "missing", "mismatch", "garbage", "invalid", "not valid json", "incomplete", "partial", "unfinished",
	"unterminated", "stream terminates", "without matching", "without the required", "without name", "duplicated", "orphan", "skipped",
	"no closing", "no end tag", "no explicit end", "no call:name", "no to=functions", "no tool_sep", "no fenced json", "no argument body",
	"no <|message|> body", "no <function> body", "no function name", "no body", "no delimiters", "no tags", "emitted as an xml tag",
	"recover", "repair", "raw text", "engine drops", "strict mode", "test only asserts that nothing crashes", "must not crash", "must not raise",
	"peers disagree", "result differs", "parse_tool_calls=false",
}

// wellFormed reports whether a row holds what a format means: its notes name no
// malformation, and engines that were asked agree.
func (r row) wellFormed() bool {
	notes := strings.ReplaceAll(strings.ToLower(r.Notes), "malformed-looking but valid", "")
	for _, word := range broken {
		if strings.Contains(notes, word) {
			return false
		}
	}
	return true
}
