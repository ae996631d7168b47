package codec

import (
	"regexp"
	"strings"
)

// build is what tells the builds and the hosts of a model apart.
var build = regexp.MustCompile(`(-latest|[-@]\d{8}|-\d{4}-\d{2}-\d{2})?(-v\d+(:\d+)?)?$`)

// Family is a model's name without its build and its host:
// "us.anthropic.claude-opus-4-1-20250805-v1:0" is "claude-opus-4-1". What a model
// signed is good for its family.
func Family(model string) string {
	model = strings.ToLower(model)
	if i := strings.Index(model, "claude-"); i > 0 {
		model = model[i:]
	}
	return build.ReplaceAllString(model, "")
}
