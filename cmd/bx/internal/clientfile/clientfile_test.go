package clientfile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/clientfile"
)

var server = clientfile.Server{Name: "bx", Command: "/opt/my \"tools\"/bx", Args: []string{"mcp", "serve", "--root", "/src/a b"}}

func client(t testing.TB, name string) clientfile.Client {
	t.Helper()
	c, ok := clientfile.Find(name)
	if !ok {
		t.Fatalf("no client %s", name)
	}
	return c
}

// texts are files as people and programs have them. SERVERS is the client's key.
var texts = []string{
	"", "\n", " \n\t\n",
	"{}", "{ }", "{\n}\n", "{\r\n}\r\n", "// nothing yet\n{\n  // here\n}\n",
	`{"a":1}`, "{\"a\":1,\"SERVERS\":{}}", "{\n  \"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"b\": [1, 2]\n}\n", "{\n    \"a\": {\n        \"b\": 1\n    }\n}\n",
	"{\r\n  \"a\": 1\r\n}\r\n", "\ufeff{\n  \"a\": 1\n}\n",
	"{\n  \"a\": 1, // the first\n  \"b\": 2 // the last\n}\n", "{\n  \"a\": 1,\n  // the end\n}\n", "{\n  \"a\": 1 /* x */ /* y */\n  /* z */\n}\n",
	"{ \"a\": 1, \"b\": 2 }", "{ \"a\": 1 // one\n}",
	"{\n  \"SERVERS\": {}\n}\n", "{\n  \"SERVERS\": {\n  }\n}\n", "{\n  \"SERVERS\": { },\n  \"z\": 0\n}\n", "{\n  \"SERVERS\": {\n    // none\n  }\n}\n",
	"{\n  \"SERVERS\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"theme\": \"dark\"\n}\n",
	"{\n  \"SERVERS\": {\n    \"other\": { \"command\": \"x\" }, // mine\n  },\n}\n",
	"{\"SERVERS\":{\"other\":{\"command\":\"x\"}},\"n\":12345678901234567890}",
	"{\n  \"s\": \"// no comment, } \\\" { , \",\n  \"u\": \"\\u00e9\"\n}\n",
}

var tomls = []string{
	"", "\n", "# nothing yet\n", "model = \"x\"", "model = \"x\"\n", "model = \"x\"\n\n\n", "model = \"x\"\r\n\r\n[a]\r\nb = 1\r\n",
	"# top\nmodel = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"\nargs = [\n  \"1\", # one\n]\n# the end\n",
	"[mcp_servers]\n\n[mcp_servers.other]\ncommand = \"y\"\n", "text = '''\n[mcp_servers.bx]\n'''\n", "[[list]]\na = 1\n[[list]]\na = 2\n",
}

func files(name string, c clientfile.Client) []string {
	if name == "codex" {
		return tomls
	}
	under := map[string]string{"vscode": "servers", "opencode": "mcp"}[name]
	if under == "" {
		under = "mcpServers"
	}
	var out []string
	for _, text := range texts {
		out = append(out, strings.ReplaceAll(text, "SERVERS", under))
	}
	return out
}

func TestAddThenRemoveGivesTheFileThatWasThere(t *testing.T) {
	for _, name := range clientfile.Names() {
		c := client(t, name)
		for _, before := range append(files(name, c), "no file") {
			was := []byte(before)
			if before == "no file" {
				was = nil
			}
			with, err := c.Add(was, server)
			if err != nil {
				t.Errorf("%s: %q: %v", name, before, err)
				continue
			}
			if words, err := c.Find(with, "bx"); err != nil || !slices.Equal(words, append([]string{server.Command}, server.Args...)) {
				t.Errorf("%s: %q: found %q, %v", name, with, words, err)
			}
			if again, err := c.Add(with, server); err != nil || !bytes.Equal(again, with) {
				t.Errorf("%s: %q: added twice: %q, %v", name, with, again, err)
			}
			out, err := c.Remove(with, "bx")
			if err != nil || !bytes.Equal(out, was) || (out == nil) != (was == nil) {
				t.Errorf("%s: %q became\n%q and then\n%q, %v", name, before, with, out, err)
			}
			if same, err := c.Remove(was, "bx"); err != nil || !bytes.Equal(same, was) {
				t.Errorf("%s: removed from %q without it: %q, %v", name, before, same, err)
			}
		}
	}
}

// What a user writes beside the server, before and after it, stays.
func TestRemoveKeepsWhatCameLater(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"claude", "{\n  \"mcpServers\": {\n    \"bx\": {\"command\": \"bx\"},\n    \"b\": {}\n  }\n}\n", "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n"},
		{"claude", "{\n  \"mcpServers\": {\n    \"a\": {},\n    // search\n    \"bx\": {\"command\": \"bx\"},\n    \"b\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {},\n    // search\n    \"b\": {}\n  }\n}\n"},
		{"vscode", "{\n  \"servers\": {\n    // search\n    \"bx\": {\"command\": \"bx\"}\n  }\n}\n", "{\n  \"servers\": {\n    // search\n  }\n}\n"},
		{"claude", "{\n  \"mcpServers\": {\n    \"bx\": {\"command\": \"bx\"}\n  },\n  \"x\": 1\n}\n", "{\n  \"x\": 1\n}\n"},
		{"codex", "a = 1\n\n[mcp_servers.bx]\ncommand = \"bx\"\n[mcp_servers.bx.env]\nX = \"1\"\n\n# other\n[b]\nc = 1\n", "a = 1\n\n# other\n[b]\nc = 1\n"},
		{"codex", "[mcp_servers.bx]\ncommand = \"bx\"\n\n[b]\nc = 1\n[mcp_servers.bx.env]\nX = \"1\"\n", "\n[b]\nc = 1"},
	} {
		out, err := client(t, c.client).Remove([]byte(c.text), "bx")
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %q\ngot  %q\nwant %q, %v", c.client, c.text, out, c.want, err)
		}
	}
}

// A server that is there is changed where it differs, and nowhere else.
func TestAddChangesWhatDiffers(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"claude", `{"mcpServers":{"bx":{"type":"stdio","command":"old","args":["mcp","serve"],"env":{"A":"1"}}}}`, `"env":{"A":"1"}`},
		{"gemini", "{\n  \"mcpServers\": {\n    \"bx\": {\n      \"timeout\": 5, // s\n      \"command\": \"old\"\n    }\n  }\n}\n", "\"timeout\": 5, // s\n"},
		{"codex", "[mcp_servers.bx]\n# mine\ncommand = \"old\" # where\nenabled = false\n\n[b]\nc = 1\n", "enabled = false\n"},
	} {
		with, err := client(t, c.client).Add([]byte(c.text), server)
		if err != nil {
			t.Errorf("%s: %v", c.client, err)
			continue
		}
		words, err := client(t, c.client).Find(with, "bx")
		if err != nil || !slices.Equal(words, append([]string{server.Command}, server.Args...)) || !strings.Contains(string(with), c.want) || strings.Contains(string(with), "old") {
			t.Errorf("%s: %s: %q, %v", c.client, with, words, err)
		}
	}
}

func TestFilesThatCannotBeChangedStay(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"claude", "{", "line 1, column 2: want a key"},
		{"claude", "{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: want , or }"},
		{"claude", "[]", "want an object"},
		{"claude", "{\"mcpServers\": []}", `"mcpServers": want an object`},
		{"claude", "{\"mcpServers\": {\"bx\": 1}}", `"bx" in "mcpServers": want an object`},
		{"claude", "{\"a\": tru}", "want a value"},
		{"claude", "{\"a\": 1} x", "there is more after the end"},
		{"claude", "{\"a\": \"x", "does not end"},
		{"claude", "{/* ", "a comment does not end"},
		{"claude", strings.Repeat(`{"a":`, 1000), "too deep"},
		{"codex", "a = \n", "line 1"},
		{"codex", "mcp_servers = {}\n", "by hand"},
		{"codex", "[mcp_servers]\nbx = { command = \"x\" }\n", "by hand"},
		{"codex", "[mcp_servers]\nbx.command = \"x\"\n", "by hand"},
	} {
		if out, err := client(t, c.client).Add([]byte(c.text), server); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.60q: %q, %v; want an error with %q", c.client, c.text, out, err, c.want)
		}
	}
}

// Any file that a program writes, in any manner of blanks, is the same after.
func TestAnyFileIsTheSameAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blank := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\r\n\t", " // x\n", "/* { */", " \n // }\n "})
		var write func(depth int) string
		write = func(depth int) string {
			n := rapid.IntRange(0, 3).Draw(t, "members")
			var b strings.Builder
			b.WriteString("{")
			for i := range n {
				name := rapid.SampledFrom([]string{"mcpServers", "a", "b b", "é"}).Draw(t, "name") + strings.Repeat("'", i)
				if i == 0 && depth == 0 && rapid.Bool().Draw(t, "servers") {
					name = "mcpServers"
				}
				value := rapid.SampledFrom([]string{"1", `"x, }"`, "[1,\n2]", "null"}).Draw(t, "value")
				if depth < 3 && (name == "mcpServers" || rapid.Bool().Draw(t, "deeper")) {
					value = write(depth + 1)
				}
				b.WriteString(blank.Draw(t, "") + strconvQuote(name) + blank.Draw(t, "") + ":" + blank.Draw(t, "") + value + blank.Draw(t, ""))
				if i < n-1 || rapid.Bool().Draw(t, "spare comma") {
					b.WriteString(",")
				}
			}
			return b.String() + blank.Draw(t, "") + "}"
		}
		text := blank.Draw(t, "") + write(0) + blank.Draw(t, "")
		c, _ := clientfile.Find("claude")
		with, err := c.Add([]byte(text), server)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if out, err := c.Remove(with, "bx"); err != nil || string(out) != text {
			t.Fatalf("%q\nwith %q\ngave %q, %v", text, with, out, err)
		}
	})
}

func strconvQuote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// What is written is what each client documents.
func TestWhatIsWritten(t *testing.T) {
	want := map[string]string{
		"claude":         `{"mcpServers":{"bx":{"args":["mcp","serve"],"command":"bx","type":"stdio"}}}`,
		"claude-desktop": `{"mcpServers":{"bx":{"args":["mcp","serve"],"command":"bx"}}}`,
		"cursor":         `{"mcpServers":{"bx":{"args":["mcp","serve"],"command":"bx"}}}`,
		"vscode":         `{"servers":{"bx":{"args":["mcp","serve"],"command":"bx","type":"stdio"}}}`,
		"codex":          `{"mcp_servers":{"bx":{"args":["mcp","serve"],"command":"bx"}}}`,
		"gemini":         `{"mcpServers":{"bx":{"args":["mcp","serve"],"command":"bx"}}}`,
		"opencode":       `{"mcp":{"bx":{"command":["bx","mcp","serve"],"enabled":true,"type":"local"}}}`,
	}
	for _, name := range clientfile.Names() {
		text, err := client(t, name).Add(nil, clientfile.Server{Name: "bx", Command: "bx", Args: []string{"mcp", "serve"}})
		if err != nil {
			t.Fatal(err)
		}
		var has, wants any
		read := json.Unmarshal
		if name == "codex" {
			read = toml.Unmarshal
		}
		if err := read(text, &has); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want[name]), &wants); err != nil || !reflect.DeepEqual(has, wants) {
			t.Errorf("%s: %s, want %s (%v)", name, text, want[name], err)
		}
	}
}

func TestEditKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "config.json")
	if err := os.WriteFile(real, []byte("{}"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dotfiles.json", link); err != nil {
		t.Skip("this system makes no links:", err)
	}
	add := func(text []byte) ([]byte, error) { return client(t, "claude").Add(text, server) }
	if c, err := clientfile.Edit(link, true, add); err != nil || !c.Changed() {
		t.Errorf("%v, %v", c.Changed(), err)
	}
	if b, err := os.ReadFile(real); string(b) != "{}" {
		t.Errorf("a dry run wrote %s, %v", b, err)
	}
	if _, err := clientfile.Edit(link, false, add); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o640 || info.Size() < 10 {
		t.Errorf("%v, %v", info, err)
	}
	if to, err := os.Readlink(link); to != "dotfiles.json" {
		t.Errorf("the link is gone: %q, %v", to, err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

func TestEditMakesItsChangeAnewWhenTheFileChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "c.json")
	n := 0
	_, err := clientfile.Edit(file, false, func(text []byte) ([]byte, error) {
		if n++; n < 3 {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, fmt.Appendf(nil, `{"n": %d}`, n), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return client(t, "claude").Add(text, server)
	})
	b, rerr := os.ReadFile(file)
	if err != nil || n != 3 || !strings.Contains(string(b), `"n": 2`) || !strings.Contains(string(b), `"bx"`) {
		t.Errorf("%d tries: %s, %v, %v", n, b, err, rerr)
	}
}

func TestDiff(t *testing.T) {
	got := clientfile.Diff([]byte("a\nb\nc\n"), []byte("a\nx\ny\nc\n"))
	if want := "-b\n+x\n+y\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
