package client

import "strings"

// Prefix is what the name of every tool of a server begins with.
const Prefix = "mcp__"

// maxName is how long a tool's name may be for every provider.
const maxName = 64

// ToolName is what a tool of a server is called here: letters, digits and "_"
// alone, which every provider takes. A name that would be too long ends in a
// digest of the whole.
func ToolName(server, tool string) string {
	name := Prefix + word(server) + "__" + word(tool)
	if len(name) <= maxName {
		return name
	}
	mark := "_" + digest([]byte(server + "\x00" + tool))[:8]
	return name[:maxName-len(mark)] + mark
}

func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// OfServer reports whether a name may be that of a server's tool.
func OfServer(name, server string) bool { return strings.HasPrefix(name, Prefix+word(server)+"__") }
