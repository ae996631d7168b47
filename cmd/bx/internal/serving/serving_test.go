package serving_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
)

const issuer = "[oidc]\nissuer = \"https://login.example.com\"\n"

const local = "[backends.local]\nprovider = \"ollama\"\nurl = \"http://127.0.0.1:11434\"\n"

func TestMistakesAreFound(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"syntax", "listen = \n", "serve.toml:1:"},
		{"unknown key in a table", local + "keey_env = \"X\"\n", `serve.toml:4:1: unknown key "backends.local.keey_env"`},
		{"wrong type", "hosts = 3\n", "serve.toml:1:"},
		{"a time that is none", "[limits]\nheartbeat = \"soon\"\n", "want a time such as"},
		{"provider", "[backends.x]\nurl = \"http://x\"\n", "[backends.x]: provider is missing"},
		{"url", "[backends.x]\nprovider = \"openai\"\n", "[backends.x]: url is missing"},
		{"two keys", local + "key_env = \"A\"\nkey_file = \"b\"\n", "want key_env or key_file, not both"},
		{"keys beside a key", local + "key_env = \"A\"\nkeys_env = [\"B\", \"C\"]\n", "keys_env stands in place of key_env and key_file"},
		{"a key twice", local + "keys_env = [\"B\", \"B\"]\n", "keys_env: \"B\": want each variable once"},
		{"an issuer without a ledger", issuer + "audience = \"bx\"\nclaim = \"groups\"\n[[oidc.teams]]\nvalue = \"a\"\nteam = \"b\"\n", "serve.toml:2:1: [oidc]: issuer: there is no [ledger]"},
		{"an issuer without TLS", "[oidc]\nissuer = \"http://login.example.com\"\n", "want https (http only on this machine)"},
		{"no audience", issuer, "[oidc]: audience is missing"},
		{"no claim", issuer + "audience = \"bx\"\n", "[oidc]: claim is missing"},
		{"no teams", issuer + "audience = \"bx\"\nclaim = \"groups\"\n", "[oidc]: teams is missing"},
		{"an algorithm of secrets", issuer + "audience = \"bx\"\nclaim = \"groups\"\nalgorithms = [\"HS256\"]\n[[oidc.teams]]\nvalue = \"a\"\nteam = \"b\"\n", "algorithms: \"HS256\": want some of RS256, ES256, EdDSA"},
		{"half a team", issuer + "audience = \"bx\"\nclaim = \"groups\"\n[[oidc.teams]]\nvalue = \"a\"\n", "want value and team in each [[oidc.teams]]"},
		{"choose", local + "[[routes]]\nto = [\"local/a\", \"local/b\"]\nchoose = \"least-bsy\"\n", "choose = \"least-bsy\": want weight, least-busy, latency"},
		{"nothing to choose", local + "[[routes]]\nto = [\"local/a\"]\nchoose = \"latency\"\n", "there is one target in to, and nothing to choose from"},
		{"slash in a name", "[backends.\"a/b\"]\nprovider = \"openai\"\nurl = \"http://x\"\n", "want a name without a slash"},
		{"no target", local + "[[routes]]\nmatch = [\"*\"]\n", "[[routes]] 1: to is missing"},
		{"unknown target", local + "[[routes]]\nto = [\"cloud/x\"]\n", "there is no [backends.cloud]: want one of local"},
		{"unknown fallback", local + "[[routes]]\nto = [\"local\"]\nelse = [\"cloud\"]\n", "there is no [backends.cloud]"},
		{"weights", local + "[[routes]]\nto = [\"local\"]\nweights = [1, 2]\n", "weights has 2 numbers for 1 targets"},
		{"a weight below 0", local + "[[routes]]\nto = [\"local\"]\nweights = [-1]\n", "weights holds -1: want 0 or more"},
		{"a limit below 0", "[limits]\nbody_mb = -1\n", "[limits]: body_mb = -1: want 0 or more"},
		{"a window below 0", local + "num_ctx = -1\n", "[backends.local]: num_ctx = -1: want 0 or more"},
		{"a client's limit below 0", "[[clients]]\nname = \"a\"\nkey_sha256 = \"" + strings.Repeat("00", 32) + "\"\ntokens = -5\n", "[[clients]] a: tokens = -5: want 0 or more"},
		{"a key in clear", local + "api_key = \"sk-secret123456\"\n", `unknown key "backends.local.api_key"`},
		{"tools", local + "[[routes]]\nto = [\"local\"]\ntools = \"yes\"\n", `tools = "yes": want auto, native, prompted, none`},
		{"grammar", local + "[[routes]]\nto = [\"local\"]\ngrammar = \"klingon\"\n", `grammar = "klingon": no dialect is called so: bx grammar list names them`},
		{"a dialect that is not there", "[dialects]\nfiles = [\"gone.json\"]\n", "serve.toml:2:1: [dialects]: files: gone.json: cannot be read"},
		{"a dashboard without a key", "[ui]\nlisten = \"127.0.0.1:4142\"\n", "serve.toml:1:2: [ui]: key_sha256: want the 64 digits that bx serve --new-operator-key prints"},
		{"a dashboard without an address", "[ui]\nkey_sha256 = \"" + strings.Repeat("00", 32) + "\"\n", "[ui]: listen is missing: want an address of its own"},
		{"a client's key for the dashboard", "[ui]\nlisten = \"127.0.0.1:4142\"\nkey_sha256 = \"" + strings.Repeat("0A", 32) + "\"\n[[clients]]\nname = \"a\"\nkey_sha256 = \"" + strings.Repeat("0a", 32) + "\"\n", "[ui]: key_sha256 is the key of the client a"},
		{"client without a name", "[[clients]]\nkey_sha256 = \"00\"\n", "[[clients]] 1: want a name of its own"},
		{"client's key in clear", "[[clients]]\nname = \"a\"\nkey_sha256 = \"secret\"\n", "[[clients]] a: key_sha256: want the 64 digits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := serving.Parse("serve.toml", []byte(tt.text), nil, nil)
			var bad *config.Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if bad != nil && strings.Contains(bad.Excerpt+bad.Message, "secret") {
				t.Errorf("the error shows a key: %v", bad)
			}
		})
	}
}

// Every mistake points at its line, in words that know nothing of Go.
func TestMistakesPointAtTheirLines(t *testing.T) {
	for text, want := range map[string]string{
		"listen = 3\n":                       `serve.toml:1:10: listen: want a text in quotes, not an integer`,
		"hosts = 3\n":                        `serve.toml:1:9: hosts: want a list of texts, such as ["a", "b"], not an integer`,
		"[limits]\nbody_mb = \"x\"\n":        `serve.toml:2:11: limits.body_mb: want a whole number, not a string`,
		"[limits]\ndrain = 30\n":             `serve.toml:2:1: [limits]: drain = 30: want a time such as "90s" or "10m"`,
		"explain = \"yes\"\n":                `serve.toml:1:11: explain: want true or false, not a string`,
		"backends = 3\n":                     `serve.toml:1:12: backends: want a table, not an integer`,
		"socket_mode = \"9\"\n":              `serve.toml:1:1: socket_mode = "9": want three or four octal digits, such as "0660"`,
		"[tls]\ncert = \"a\"\n":              `serve.toml:1:2: [tls]: want both cert and key`,
		"[backends.x]\nurl = \"http://x\"\n": `serve.toml:1:2: [backends.x]: provider is missing`,
		local + "idle = 5\n":                 `serve.toml:4:1: [backends.local]: idle = 5: want a time such as "90s" or "10m"`,
		local + "[[routes]]\nto = [\"local\"]\n[[routes]]\nto = [\"local\"]\ntools = \"yes\"\n": `serve.toml:8:1: [[routes]] 2: tools = "yes": want auto, native, prompted, none`,
		"[[clients]]\nname = \"a\"\nkey_sha256 = \"00\"\n":                                      `serve.toml:3:1: [[clients]] a: key_sha256: want the 64 digits`,
	} {
		_, err := serving.Parse("serve.toml", []byte(text), nil, nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "serving.") {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestKeysAreReadFromTheirPlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		return map[string]string{"KEY": "from-env", "OTHER": "other", "SAME": "from-env"}[name]
	}
	for _, tt := range []struct {
		b          serving.Backend
		want, fail string
	}{
		{serving.Backend{}, "", ""},
		{serving.Backend{KeyEnv: "KEY"}, "from-env", ""},
		{serving.Backend{KeysEnv: []string{"KEY", "OTHER"}}, "from-env other", ""},
		{serving.Backend{KeysEnv: []string{"KEY", "GONE"}}, "", "keys_env: the variable GONE is not set"},
		{serving.Backend{KeysEnv: []string{"KEY", "SAME"}}, "", "the variables KEY and SAME hold the same key"},
		{serving.Backend{KeyFile: file}, "from-file", ""},
		{serving.Backend{KeyEnv: "GONE"}, "", "the variable GONE is not set"},
		{serving.Backend{KeyFile: file + "x"}, "", "key_file"},
	} {
		all, err := tt.b.Secrets(env)
		var texts []string
		for _, k := range all {
			texts = append(texts, k.Key)
		}
		got := strings.Join(texts, " ")
		if got != tt.want || (err == nil) != (tt.fail == "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
			t.Errorf("%+v: got %q, %v; want %q, %q", tt.b, got, err, tt.want, tt.fail)
		}
	}
}
