package clientfile_test

import (
	"reflect"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/clientfile"
)

// Each client's way to write servers, variables and headers is read as one.
func TestServersOfClients(t *testing.T) {
	for _, c := range []struct {
		client, text string
		want         []clientfile.Entry
	}{
		{"claude", `{"mcpServers": {"a": {"command": "x", "args": ["${HOME}"], "env": {"K": "${T:-none}"}}},
			"projects": {"/p": {"mcpServers": {"b": {"type": "http", "url": "https://b.example", "headers": {"X": "1"}}}}, "/q": {"mcpServers": {"c": {"command": "c"}}}}}`,
			[]clientfile.Entry{{Name: "a", Command: "x", Args: []string{"${HOME}"}, Env: map[string]string{"K": "${T:-none}"}}, {Name: "b", URL: "https://b.example", Headers: map[string]string{"X": "1"}}}},
		{"cursor", `{"mcpServers": {"a": {"command": "x", "env": {"K": "${env:T}", "N": 1}, "cwd": "${workspaceFolder}/sub"}}}`,
			[]clientfile.Entry{{Name: "a", Command: "x", Env: map[string]string{"K": "${T}", "N": "1"}, Dir: "./sub"}}},
		{"vscode", `{"servers": {"a": {"type": "sse", "url": "https://a.example"}, "b": {"command": "x", "args": ["${input:k}"]}, "c": 1}}`,
			[]clientfile.Entry{{Name: "a", URL: "https://a.example", Why: "it speaks SSE, which streamable HTTP has replaced"},
				{Name: "b", Command: "x", Args: []string{"${input:k}"}, Why: "it names ${input:k}, which only VS Code knows"}, {Name: "c", Why: "it is no object"}}},
		{"codex", "[mcp_servers.a]\nurl = \"https://a.example\"\nbearer_token_env_var = \"T\"\nhttp_headers = { X = \"1\" }\nenv_http_headers = { Y = \"U\" }\nenabled = false\n",
			[]clientfile.Entry{{Name: "a", URL: "https://a.example", Headers: map[string]string{"X": "1", "Y": "${U}", "Authorization": "Bearer ${T}"}, Off: true}}},
		{"gemini", `{"mcpServers": {"a": {"httpUrl": "https://a.example", "headers": {"K": "Bearer $T"}}, "b": {"url": "https://b.example/sse"}}}`,
			[]clientfile.Entry{{Name: "a", URL: "https://a.example", Headers: map[string]string{"K": "Bearer ${T}"}}, {Name: "b", URL: "https://b.example/sse", Why: "it speaks SSE, which streamable HTTP has replaced"}}},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"K": "{env:T}"}}, "b": {"type": "remote", "url": "https://b.example", "headers": {"K": "{file:~/k}"}}}}`,
			[]clientfile.Entry{{Name: "a", Command: "x", Args: []string{"y"}, Env: map[string]string{"K": "${T}"}},
				{Name: "b", URL: "https://b.example", Headers: map[string]string{"K": "{file:~/k}"}, Why: "it names {file:~/k}, which only opencode knows"}}},
		{"claude", "", nil},
	} {
		got, err := client(t, c.client).Servers([]byte(c.text), "/p")
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.client, got, err, c.want)
		}
	}
	if _, err := client(t, "claude").Servers([]byte("{"), "/p"); err == nil {
		t.Error("half a file is read")
	}
}
