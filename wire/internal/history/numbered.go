package history

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// Numbered gives the calls of a history that Order has mended, and their results,
// ids by their place among all calls, counted from 0.
func Numbered(messages []Sent, id func(name string, n int) string) []Sent {
	n, now := 0, map[string]string{} // by the ids of the calls under way
	for i, m := range messages {
		if m.Role != utp.RoleTool {
			clear(now)
		}
		parts := slices.Clone(m.Parts)
		for k, p := range parts {
			switch p := p.(type) {
			case utp.Call:
				was := p.ID
				p.ID = id(p.Name, n)
				now[was], parts[k] = p.ID, p
				n++
			case utp.Result:
				p.CallID = now[p.CallID]
				parts[k] = p
			}
		}
		messages[i].Parts = parts
	}
	return messages
}
