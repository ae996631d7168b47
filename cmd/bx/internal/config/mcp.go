package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/settings"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

// MCPServer is a table [mcp_servers.NAME]: a server whose tools the model gets.
type MCPServer struct {
	Command      string              `toml:"command"`
	Args         []string            `toml:"args"`
	Env          map[string]string   `toml:"env"`
	Dir          string              `toml:"cwd"`
	URL          string              `toml:"url"`
	Headers      map[string]string   `toml:"headers"`
	OAuth        bool                `toml:"oauth"`
	ClientID     string              `toml:"client_id"`
	ClientSecret string              `toml:"client_secret"`
	Scopes       []string            `toml:"scopes"`
	Tier         *utp.Tier           `toml:"tier"`
	Tiers        map[string]utp.Tier `toml:"tiers"`
	Tools        []string            `toml:"tools"`
	Timeout      Seconds             `toml:"timeout"`
	StartTimeout Seconds             `toml:"start_timeout"`
	Enabled      *bool               `toml:"enabled"`
}

// Server is an MCP server of the files.
type Server struct {
	client.Server
	Theirs bool // the repository's own file names it: it needs the user's word
	Off    bool
}

func (s MCPServer) server(name string) Server {
	out := Server{Off: s.Enabled != nil && !*s.Enabled, Server: client.Server{Name: name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir,
		URL: s.URL, Headers: s.Headers, Tier: s.Tier, Tiers: s.Tiers, Only: s.Tools, Timeout: s.Timeout.Duration(), StartTimeout: s.StartTimeout.Duration()}}
	if s.OAuth || s.ClientID != "" {
		out.OAuth = &client.OAuth{ClientID: s.ClientID, ClientSecret: s.ClientSecret, Scopes: s.Scopes}
	}
	return out
}

// FromServer is a server as a table of a file.
func FromServer(s client.Server) MCPServer {
	out := MCPServer{Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, URL: s.URL, Headers: s.Headers, Tier: s.Tier, Tiers: s.Tiers,
		Tools: s.Only, Timeout: Seconds(s.Timeout / time.Second), StartTimeout: Seconds(s.StartTimeout / time.Second)}
	if s.OAuth != nil {
		out.OAuth, out.ClientID, out.ClientSecret, out.Scopes = true, s.OAuth.ClientID, s.OAuth.ClientSecret, s.OAuth.Scopes
	}
	return out
}

// Servers lists the MCP servers of all files by name.
func (c *Config) Servers() (out []Server) {
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		s := c.MCP[name].server(name)
		s.Theirs = slices.Contains(c.theirServers, name)
		out = append(out, s)
	}
	return out
}

// checkServers refuses MCP servers that cannot be reached. One of the repository's
// is left out.
func (c *Config) checkServers() error {
	for _, s := range c.Servers() {
		err := s.Check()
		if err == nil {
			continue
		}
		if !s.Theirs {
			return &Error{File: "mcp_servers." + s.Name, Message: err.Error(), Err: err}
		}
		c.warn("mcp_servers.%s of the repository: %v; it is left out", s.Name, err)
		delete(c.MCP, s.Name)
	}
	return nil
}

// server says why a repository's file may not set a key of an MCP server.
func (l *limits) server(k key) string {
	switch {
	case len(k.path) < 2:
		return ""
	case slices.Contains(l.servers, k.path[1]):
		return "your own file has an MCP server of this name"
	case len(k.path) > 2 && slices.Contains([]string{"tier", "tiers"}, k.path[2]):
		return "what its tools may do is yours to say"
	}
	return ""
}

// TOML writes a server as [mcp_servers.NAME], with the keys that it sets.
func (s MCPServer) TOML(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[mcp_servers.%s]\n", tomlKey(name))
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, value)
		}
	}
	line("command", text(s.Command))
	line("args", texts(s.Args))
	line("env", inline(s.Env))
	line("cwd", text(s.Dir))
	line("url", text(s.URL))
	line("headers", inline(s.Headers))
	if s.OAuth {
		line("oauth", "true")
	}
	line("client_id", text(s.ClientID))
	line("client_secret", text(s.ClientSecret))
	line("scopes", texts(s.Scopes))
	if s.Tier != nil {
		line("tier", text(s.Tier.String()))
	}
	tiers := map[string]string{}
	for tool, t := range s.Tiers {
		tiers[tool] = t.String()
	}
	line("tiers", inline(tiers))
	line("tools", texts(s.Tools))
	line("timeout", seconds(s.Timeout))
	line("start_timeout", seconds(s.StartTimeout))
	line("enabled", yesNo(s.Enabled))
	return b.String()
}

func texts(list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func inline(m map[string]string) string {
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, tomlKey(k)+" = "+tomlString(m[k]))
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{ " + strings.Join(pairs, ", ") + " }"
}

func seconds(s Seconds) string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(s), 'f', -1, 64)
}

// PutServer writes an MCP server into a file of the user, in place of one of its
// name, and leaves the rest of the file as it is. The file is made if there is
// none; it is replaced whole or not at all.
func PutServer(path, name string, s MCPServer, known Own) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made := bytes.TrimRight(withoutServer(old, name), "\n")
	if len(made) > 0 {
		made = append(made, "\n\n"...)
	}
	made = append(made, s.TOML(name)...)
	return replaceChecked(path, made, known)
}

// RemoveServer takes an MCP server out of a file of the user, and reports whether
// it was there.
func RemoveServer(path, name string, known Own) (was bool, err error) {
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	made := withoutServer(old, name)
	if bytes.Equal(made, old) {
		return false, nil
	}
	return true, replaceChecked(path, made, known)
}

// replaceChecked replaces a file of the user, where what it is to hold can be read.
func replaceChecked(path string, made []byte, known Own) error {
	c := Defaults()
	c.Own = known
	err := c.apply(document{short(path), path, made, nil}, nil)
	if err = cmp.Or(err, c.checkServers()); err != nil {
		return fmt.Errorf("the server cannot be added to %s: %w", short(path), err)
	}
	return settings.Replace(path, made)
}

// withoutServer cuts the tables of a server out of a document.
func withoutServer(doc []byte, name string) []byte {
	for {
		i := slices.IndexFunc(keysOf(doc), func(k key) bool {
			return k.header() && len(k.path) > 1 && k.path[0] == "mcp_servers" && k.path[1] == name
		})
		if i < 0 {
			return doc
		}
		doc = without(doc, keysOf(doc)[i].path)
	}
}
