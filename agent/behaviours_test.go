package agent_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Twelve kinds of models are asked the same question. However each of them
// calls, the same tool runs once with the same arguments, and the answer cites
// what it found. The files are scripts of package fake; "told:" names the
// dialect that is configured, where the model's name does not say it.
//
// contract: T-11 A-01 A-20 A-21 W-01 W-05 W-06 P-31 P-33 P-34
func TestTwelveBehaviours(t *testing.T) {
	files, err := filepath.Glob("testdata/behaviours/*.txtar")
	if err != nil || len(files) != 12 {
		t.Fatalf("%d behaviours, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, provider := range []string{backend.Ollama, backend.OpenAI} {
			for way, cut := range map[string]func(*backend.Config, *fake.Script){
				"whole":         func(c *backend.Config, _ *fake.Script) { c.Whole = true },
				"streamed":      func(*backend.Config, *fake.Script) {},
				"byte by byte":  func(_ *backend.Config, s *fake.Script) { s.Chunk, s.Write = 1, 1 },
				"seven by five": func(_ *backend.Config, s *fake.Script) { s.Chunk, s.Write = 7, 5 },
			} {
				t.Run(name+"/"+provider+"/"+way, func(t *testing.T) { behave(t, file, provider, cut) })
			}
		}
	}
}

func behave(t *testing.T, file, provider string, cut func(*backend.Config, *fake.Script)) {
	s, err := fake.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	c := backend.Config{Provider: provider, Model: s.Models[0], Formats: told(s.Comment), Backoff: time.Millisecond}
	if provider == backend.OpenAI {
		s.Kind = "llamacpp" // says whether the model takes tools
	}
	cut(&c, s)
	server := fake.New(s)
	h := httptest.NewServer(server)
	defer h.Close()
	c.URL = h.URL
	client, err := backend.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	run := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		ran = append(ran, c.Name+string(c.Args))
		return utp.TextResult(c, utp.StatusOK, "net/retry.go:42: const maxTries = 5")
	})
	gate := &agent.Gate{Tools: schema.Compile([]utp.Tool{searchCode}), Tier: utp.TierWalk, Runner: run}
	q := ask("Where is the retry limit?")
	q.Model = ""
	a, err := agent.Ask(t.Context(), agent.Config{Model: client, Gate: gate, Insist: true}, q)
	if err != nil {
		t.Fatal(err)
	}
	if a.Text != "The limit is 5, see net/retry.go:42." {
		t.Errorf("answer %q", a.Text)
	}
	if got := strings.Join(ran, "; "); strings.ReplaceAll(got, " ", "") != `search_code{"query":"retrylimit"}` {
		t.Errorf("ran %s", got)
	}
	for _, m := range a.Messages {
		if strings.ContainsAny(m.Text(), "<[`#*") {
			t.Errorf("markup is kept: %q", m.Text())
		}
	}
	if err := server.Err(); err != nil {
		t.Error(err)
	}
}

var searchCode = utp.Tool{Name: "search_code", Description: "Searches the code.",
	Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)}

// told is the form that a script's comment names in a line "told: NAME".
func told(comment string) []format.Layer {
	_, rest, ok := strings.Cut(comment, "\ntold: ")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(rest, "\n")
	return []format.Layer{{From: "told", Tools: name}}
}
