package backend

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

//go:embed remind.md
var remindText string

// reminded is a conversation in which the first results behind each question
// say what they are for: a model that reads results as text may take them for
// the user's words. ms stays as it is.
func reminded(ms []utp.Message) []utp.Message {
	out, told := slices.Clone(ms), true
	for i, m := range out {
		switch {
		case m.Role == utp.RoleUser:
			told = false
		case m.Role == utp.RoleTool && !told && len(m.Results()) > 0:
			out[i].Parts, told = withReminder(m.Parts), true
		}
	}
	return out
}

// withReminder adds the reminder to the last result.
func withReminder(parts []utp.Part) []utp.Part {
	parts = slices.Clone(parts)
	for i, p := range slices.Backward(parts) {
		if r, ok := p.(utp.Result); ok {
			r.Parts = append(slices.Clip(r.Parts), utp.Text{Text: "\n" + strings.TrimSpace(remindText)})
			parts[i] = r
			break
		}
	}
	return parts
}
