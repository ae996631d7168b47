package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/tool"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

var long = flag.Bool("long", false, "try every combination and every point, as make long does")

// A task as people have it, an edit between two runs of the tests: a Go test fails,
// the model reads, mends by edit_block, and runs it again; each command and the
// edit run after a yes. Calls come natively and in six dialects, with tools
// offered natively and in the prompt, over each provider's API.
func TestEditTestEdit(t *testing.T) {
	caches := sharedCache(t)
	ways := []task{{}} // natively
	for _, dialect := range []string{"hermes", "qwen3-coder", "react", "mistral", "pythonic", "deepseek-v3.2"} {
		ways = append(ways, task{dialect: dialect}, task{dialect: dialect, prompted: true})
	}
	apis := []task{{provider: backend.Ollama, front: ollama.Front{}, framing: wire.NDJSON}, {provider: backend.OpenAI, front: openai.Front{}},
		{provider: backend.Responses, front: responses.Front{}}, {provider: backend.Anthropic, front: anthropic.Front{}}, {provider: backend.Gemini, front: gemini.Front{}}}
	for i, way := range ways {
		for j, api := range apis {
			if !*long && ((i+j)%len(apis) != 0 || i%4 > 1) { // each dialect once, each API
				continue
			}
			api.dialect, api.prompted, api.cache = way.dialect, way.prompted, caches
			t.Run(fmt.Sprintf("%s/%s/prompted=%v", api.provider, api.dialect, api.prompted), func(t *testing.T) {
				t.Parallel()
				api.play(t)
			})
		}
	}
}

// task is a way in which a model does its work.
type task struct {
	provider string
	front    wire.Front
	framing  wire.Framing
	dialect  string // in which calls are written; "" is natively
	prompted bool   // tools are told in the prompt
	cache    string
}

// sharedCache is a cache folder whose Go cache is that of this machine.
func sharedCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Skipf("go is not installed: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "shell"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(strings.TrimSpace(string(out)), filepath.Join(dir, "shell", "go-build")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// steps are what the model calls, and what it must have read before.
var steps = []struct{ read, name, args string }{
	{"Mend the failing test", "shell", `{"command":"go test ./..."}`},
	{"Add(2, 3) = -1, want 5", "read_file", `{"path":"add.go"}`},
	{"return a - b", "edit_block", `{"path":"add.go","old_text":"return a - b","new_text":"return a + b"}`},
	{`"replacements":1`, "shell", `{"command":"go test ./..."}`},
	{"exit code 0", "", "Mended add.go:3; the tests pass."},
}

func (k task) play(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/sum\n\ngo 1.22\n", "add.go": "package sum\n\nfunc Add(a, b int) int { return a - b }\n",
		"add_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(2, 3); got != 5 {\n\t\tt.Fatalf(\"Add(2, 3) = %d, want 5\", got)\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	goCache, err := filepath.EvalSymlinks(filepath.Join(k.cache, "shell", "go-build"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.New(tool.Config{Root: root, UndoDir: t.TempDir(), Shell: &tool.Shell{Self: os.Args[0], Home: t.TempDir(), Cache: k.cache, Write: []string{goCache},
		Env: append(os.Environ(), "GOFLAGS=-trimpath -vet=off", "GOTOOLCHAIN=local")}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()

	server := httptest.NewServer(&fake.API{Front: k.front, Framing: k.framing, Say: func(turn int, q *utp.Request) []utp.Event { return k.step(t, turn, q) }})
	defer server.Close()
	conf := backend.Config{Provider: k.provider, URL: server.URL, Model: "m", APIKey: "k", Backoff: time.Millisecond}
	if k.prompted {
		conf.Formats = []format.Layer{{From: "told", Tools: k.dialect}}
	}
	client, err := backend.New(conf)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	gate := &agent.Gate{Tools: schema.Compile(set.Tools()), Tier: utp.TierRun, Named: []string{tool.ShellName}, Sensitive: set.Sensitive,
		Confirm: func(context.Context, utp.Call, utp.Tool) (bool, string) { asked++; return true, "" },
		Runner: agent.RunnerFunc(func(ctx context.Context, c utp.Call) utp.Result {
			if agent.Consented(ctx) {
				ctx = tool.Approve(ctx)
			}
			return set.Run(ctx, c)
		})}
	r := &utp.Request{Stream: true, Messages: []utp.Message{utp.NewText(utp.RoleSystem, "You mend code."), utp.NewText(utp.RoleUser, "Mend the failing test")}}
	a, err := agent.Ask(t.Context(), agent.Config{Model: client, Gate: gate}, r)
	if err != nil {
		t.Fatal(err)
	}
	if a.Text != steps[4].args || asked != 3 || len(a.Calls) != 4 || len(a.Problems) > 0 {
		t.Errorf("%q, %d questions, %d calls, %v", a.Text, asked, len(a.Calls), a.Problems)
	}
	if text, err := os.ReadFile(filepath.Join(root, "add.go")); err != nil || !strings.Contains(string(text), "a + b") {
		t.Errorf("%s, %v", text, err)
	}
}

// step is what the model says to a request, which must bring what it waits for.
func (k task) step(t *testing.T, turn int, q *utp.Request) []utp.Event {
	if turn > len(steps) {
		t.Errorf("request %d comes after the last step", turn)
		return nil
	}
	s := steps[turn-1]
	if (len(q.Tools) == 0) != k.prompted {
		t.Errorf("request %d has %d tools", turn, len(q.Tools))
	}
	if said := lastSaid(q); !strings.Contains(said, s.read) {
		t.Errorf("request %d: %q is missing in %s", turn, s.read, said)
	}
	return k.say(t, turn, s.name, s.args)
}

// lastSaid is what the last message brings, results too.
func lastSaid(q *utp.Request) (out string) {
	m := q.Messages[len(q.Messages)-1]
	for _, r := range m.Results() {
		out += r.Text()
	}
	return out + m.Text()
}

// say is a reply: words, a native call, or a call in the dialect.
func (k task) say(t *testing.T, turn int, name, args string) []utp.Event {
	end := utp.Event{Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopEnd, Usage: utp.Usage{Input: 7, Output: 3}}}
	text := func(s string) []utp.Event { return []utp.Event{{Kind: utp.EventText, Text: s}, end} }
	c := utp.Call{ID: fmt.Sprintf("call_%05d", turn), Name: name, Args: json.RawMessage(args), Source: utp.SourceNative}
	switch {
	case name == "":
		return text(args)
	case k.dialect == "":
		end.End.Stop = utp.StopTool
		return []utp.Event{{Kind: utp.EventCallStart, Call: &utp.Call{ID: c.ID, Name: name, Source: utp.SourceNative}}, {Kind: utp.EventCallDelta, Text: args}, {Kind: utp.EventCallEnd, Call: &c}, end}
	}
	for _, g := range grammar.All() {
		if g.Name == k.dialect {
			words, err := prompt.Call(g, c)
			if err != nil {
				t.Errorf("%s: %v", k.dialect, err)
			}
			return text(words)
		}
	}
	t.Errorf("there is no dialect %s", k.dialect)
	return text("?")
}
