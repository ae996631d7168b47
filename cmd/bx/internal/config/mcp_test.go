package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/mcp/client"
)

const twoServers = `# mine
[mcp_servers.fs]
command = "npx"
args = ["-y", "server", "."]
env = { TOKEN = "${TOKEN}" }
tier = "WALK"
tiers = { write_file = "RUN" }
tools = ["read_file"]
timeout = 5

[mcp_servers.web]
url = "https://example.org/mcp"
headers = { Authorization = "Bearer ${KEY}" }
client_id = "me"
enabled = false

[session] # the last
keep_days = 3
`

func TestMCPServers(t *testing.T) {
	s, err := mustLoad(t, twoServers).Resolve(config.Flags{}, vars())
	if err != nil {
		t.Fatal(err)
	}
	walk := utp.TierWalk
	want := []config.Server{
		{Server: client.Server{Name: "fs", Command: "npx", Args: []string{"-y", "server", "."}, Env: map[string]string{"TOKEN": "${TOKEN}"},
			Tier: &walk, Tiers: map[string]utp.Tier{"write_file": utp.TierRun}, Only: []string{"read_file"}, Timeout: 5 * time.Second}},
		{Server: client.Server{Name: "web", URL: "https://example.org/mcp", Headers: map[string]string{"Authorization": "Bearer ${KEY}"}, OAuth: &client.OAuth{ClientID: "me"}}, Off: true},
	}
	if !reflect.DeepEqual(s.Servers, want) {
		t.Errorf("%+v\nwant %+v", s.Servers, want)
	}
	for text, want := range map[string]string{
		"[mcp_servers.a]\nargs = [\"b\"]\n":                   "mcp_servers.a: want a command, or the url of a server",
		"[mcp_servers.\"a b\"]\ncommand = \"b\"\n":            "want a name of letters",
		"[mcp_servers.a]\ncommand = \"b\"\ntier = \"high\"\n": "want crawl, walk or run",
		"[mcp_servers.a]\ncomand = \"b\"\n":                   `unknown key "comand" in [mcp_servers.a]: want command, args`,
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A repository's file may name a server; it cannot lower what asks, nor touch a
// server of the user's.
//
// contract: X-07
func TestARepositoryCannotGrantWithAnMCPServer(t *testing.T) {
	user, repo := t.TempDir(), t.TempDir()
	write := func(dir, text string) {
		if err := os.WriteFile(filepath.Join(dir, "bx.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(user, "[mcp_servers.fs]\ncommand = \"mine\"\n")
	write(repo, "[mcp_servers.fs]\nargs = [\"evil\"]\ntier = \"CRAWL\"\n[mcp_servers.own]\ncommand = \"./server\"\ntier = \"CRAWL\"\ntiers = { a = \"WALK\" }\n[mcp_servers.none]\nargs = [\"b\"]\n")
	c, err := config.Load(config.Places{User: user, Repo: repo})
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Server{{Server: client.Server{Name: "fs", Command: "mine"}}, {Server: client.Server{Name: "own", Command: "./server"}, Theirs: true}}
	if got := c.Servers(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	told := strings.Join(c.Warnings, "\n")
	for _, want := range []string{"your own file has an MCP server of this name", "mcp_servers.own.tier: what its tools may do is yours to say", "mcp_servers.none of the repository: want a command"} {
		if !strings.Contains(told, want) {
			t.Errorf("%s: no %s", told, want)
		}
	}
}

// What is written is read back as the same, beside what was there.
func TestPutServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bx.toml")
	if err := os.WriteFile(file, []byte(twoServers), 0o600); err != nil {
		t.Fatal(err)
	}
	s := client.Server{Name: "fs", Command: "a \"b\"\t", Args: []string{"x\\y", "ü"}, Env: map[string]string{"A B": "1"}, Tiers: map[string]utp.Tier{"x.y": utp.TierWalk}, StartTimeout: 90 * time.Second}
	if err := config.PutServer(file, "fs", config.FromServer(s), nil); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Places{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Servers()[0].Server; !reflect.DeepEqual(got, s) {
		t.Errorf("%+v\nwant %+v", got, s)
	}
	if was, err := config.RemoveServer(file, "fs", nil); err != nil || !was {
		t.Errorf("%v %v", was, err)
	}
	left, _ := os.ReadFile(file)
	_, rest, _ := strings.Cut(twoServers, "\n\n")
	if got := strings.TrimRight(string(left), "\n"); got != "# mine\n"+strings.TrimRight(rest, "\n") {
		t.Errorf("left:\n%s", got)
	}
	if was, err := config.RemoveServer(file, "fs", nil); err != nil || was {
		t.Errorf("%v %v", was, err)
	}
	if err := config.PutServer(file, "bad", config.MCPServer{}, nil); err == nil {
		t.Error("a server without a command is written")
	}
}
