package anthropic

import "strings"

// traits is what a family of models takes. Others than Claude are taken for
// servers that copy the API as it was with Claude 4.5.
type traits struct {
	models    []string // parts of the model's name
	thinks    bool
	adaptive  bool // thinking is "adaptive" with an effort; a budget is refused
	sampling  bool // temperature, top_p and top_k are taken
	either    bool // but not temperature beside top_p
	prefill   bool // the last message may be the assistant's
	maxTokens int  // the longest output; sent where the request names none
}

// families are looked through in order; the first that fits counts.
// Source: Anthropic, "Models overview", "Extended thinking", "Adaptive
// thinking", "Errors: prefill not supported", "Migrating to Claude 4.5".
var families = []traits{
	{[]string{"claude-2", "claude-instant", "claude-3-haiku", "claude-3-opus", "claude-3-sonnet"}, false, false, true, false, true, 4096},
	{[]string{"claude-3-5", "claude-3.5"}, false, false, true, false, true, 8192},
	{[]string{"claude-3-7", "claude-3.7"}, true, false, true, false, true, 64000},
	{[]string{"opus-4-1", "opus-4.1"}, true, false, true, true, true, 32000},
	{[]string{"opus-4-0", "opus-4-2025"}, true, false, true, false, true, 32000},
	{[]string{"sonnet-4-0", "sonnet-4-2025"}, true, false, true, false, true, 64000},
	{[]string{"opus-4-5", "opus-4.5", "sonnet-4-5", "sonnet-4.5", "haiku-4-5", "haiku-4.5"}, true, false, true, true, true, 64000},
	{[]string{"opus-4-6", "opus-4.6", "sonnet-4-6", "sonnet-4.6"}, true, true, true, true, false, 64000},
	{[]string{"claude-"}, true, true, false, false, false, 64000},
	{[]string{""}, true, false, true, false, true, 32768},
}

func traitsOf(model string) traits {
	model = strings.ToLower(model)
	for _, f := range families {
		for _, m := range f.models {
			if strings.Contains(model, m) {
				return f
			}
		}
	}
	return families[len(families)-1]
}
