// Package clientfile knows the configuration files of MCP clients: where they are,
// and how a server is written into them and taken out again. What else a file
// holds stays as it is, byte for byte, and taking out what was written gives
// the file that was there before.
package clientfile

import (
	"os"
	"path/filepath"
	"slices"
)

// Server is how a client starts an MCP server.
type Server struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Client is a program that starts MCP servers.
type Client struct {
	Name    string // on the command line
	Title   string
	Folder  string // what it puts in the place of its folder in arguments; "": it starts servers there
	Nowhere bool   // it starts servers anywhere, so that arguments must say where

	form    form
	user    func(Places) []string // the user's file: the first that is there, else the last
	project []string              // below a project; nil: it has none
}

// form is how a client writes its servers.
type form struct {
	toml  bool
	under string // the object, or the table, of all servers
	entry func(Server) []field
}

// field is a key of a server and its value: a text, a list of texts, or a bool.
type field struct {
	key   string
	value any
}

// Places are where files are looked for.
type Places struct {
	Home    string
	Config  string // of the user's programs, as os.UserConfigDir says
	Project string
	Env     func(string) string
}

func stdio(s Server) []field {
	return []field{{"type", "stdio"}, {"command", s.Command}, {"args", s.Args}}
}

func plain(s Server) []field { return []field{{"command", s.Command}, {"args", s.Args}} }

func local(s Server) []field {
	return []field{{"type", "local"}, {"command", append([]string{s.Command}, s.Args...)}, {"enabled", true}}
}

// all are the clients. Sources: code.claude.com/docs/en/mcp,
// modelcontextprotocol.io/docs/develop/connect-local-servers, docs.cursor.com/context/mcp,
// code.visualstudio.com/docs/copilot/chat/mcp-servers, developers.openai.com/codex/mcp,
// geminicli.com/docs/tools/mcp-server, opencode.ai/docs/mcp-servers.
var all = []Client{
	{Name: "claude", Title: "Claude Code", form: form{under: "mcpServers", entry: stdio},
		user:    func(p Places) []string { return below(".claude.json", p.Env("CLAUDE_CONFIG_DIR"), p.Home) },
		project: []string{".mcp.json"}},
	{Name: "claude-desktop", Title: "Claude Desktop", Nowhere: true, form: form{under: "mcpServers", entry: plain},
		user: func(p Places) []string { return below("claude_desktop_config.json", filepath.Join(p.Config, "Claude")) }},
	{Name: "cursor", Title: "Cursor", Folder: "${workspaceFolder}", form: form{under: "mcpServers", entry: plain},
		user:    func(p Places) []string { return below("mcp.json", filepath.Join(p.Home, ".cursor")) },
		project: []string{".cursor/mcp.json"}},
	{Name: "vscode", Title: "VS Code", Folder: "${workspaceFolder}", form: form{under: "servers", entry: stdio},
		user:    func(p Places) []string { return below("mcp.json", filepath.Join(p.Config, "Code", "User")) },
		project: []string{".vscode/mcp.json"}},
	{Name: "codex", Title: "Codex", form: form{toml: true, under: "mcp_servers", entry: plain},
		user: func(p Places) []string {
			return below("config.toml", p.Env("CODEX_HOME"), filepath.Join(p.Home, ".codex"))
		},
		project: []string{".codex/config.toml"}},
	{Name: "gemini", Title: "Gemini CLI", form: form{under: "mcpServers", entry: plain},
		user: func(p Places) []string {
			return below(filepath.Join(".gemini", "settings.json"), p.Env("GEMINI_CLI_HOME"), p.Home)
		},
		project: []string{".gemini/settings.json"}},
	{Name: "opencode", Title: "opencode", form: form{under: "mcp", entry: local},
		user: func(p Places) []string {
			dir := below("opencode", p.Env("XDG_CONFIG_HOME"), filepath.Join(p.Home, ".config"))[0]
			return []string{filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")}
		},
		project: []string{"opencode.jsonc", "opencode.json"}},
}

// below is a name in the first directory that is known.
func below(name string, dirs ...string) []string {
	i := slices.IndexFunc(dirs, filepath.IsAbs)
	if i < 0 {
		return []string{name}
	}
	return []string{filepath.Join(dirs[i], name)}
}

// Names lists the clients.
func Names() (names []string) {
	for _, c := range all {
		names = append(names, c.Name)
	}
	return names
}

// Find finds a client by its name.
func Find(name string) (Client, bool) {
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// UserFile is the configuration of the user.
func (c Client) UserFile(p Places) string { return first(c.user(p)) }

// ProjectFile is the configuration that belongs to a project; "" where the
// client has none.
func (c Client) ProjectFile(p Places) string {
	var files []string
	for _, name := range c.project {
		files = append(files, filepath.Join(p.Project, filepath.FromSlash(name)))
	}
	return first(files)
}

// first is the first file that is there, else the last.
func first(files []string) string {
	for i, f := range files {
		if _, err := os.Stat(f); err == nil || i == len(files)-1 {
			return f
		}
	}
	return ""
}
