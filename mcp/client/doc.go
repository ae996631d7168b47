// Package client calls the tools of MCP servers: programs that it starts, or
// servers at a URL.
//
// What a server says is the text of a stranger. Names, descriptions and schemas
// are cleaned and cut before a model gets them; how harmless a server calls its
// tools counts for nothing. What a tool said of itself when it was first run is
// remembered: one that says something else now is told by Sensitive, so that the
// user is asked again.
//
// A Pool starts a server when a call needs it, or to learn its tools, and never
// makes its caller wait for one that no call needs. Who may run which tool is
// decided elsewhere (see agent.Gate).
package client
