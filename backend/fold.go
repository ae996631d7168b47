package backend

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// fold makes a conversation of user and assistant in turn: a system message
// goes in front of the user message behind it, or becomes one itself, and
// neighbours of one role become one message. ms stays as it is.
func fold(ms []utp.Message) (out []utp.Message) {
	for _, m := range ms {
		if m.Role == utp.RoleSystem {
			m.Role = utp.RoleUser
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role && m.Role != utp.RoleTool {
			out[n-1].Parts = joined(out[n-1].Parts, m.Parts)
			continue
		}
		out = append(out, m)
	}
	return out
}

// joined is the parts of two messages as those of one, with an empty line
// between their texts.
func joined(a, b []utp.Part) []utp.Part {
	out := slices.Clone(a)
	if len(a) == 0 || len(b) == 0 {
		return append(out, b...)
	}
	last, ok := a[len(a)-1].(utp.Text)
	next, isText := b[0].(utp.Text)
	if !ok || !isText || last.Extra != nil || next.Extra != nil {
		return append(out, b...)
	}
	out[len(a)-1] = utp.Text{Text: last.Text + "\n\n" + next.Text}
	return append(out, b[1:]...)
}
