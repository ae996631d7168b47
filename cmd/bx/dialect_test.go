package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// user is somebody with a repository, a home and bx.
type user struct{ repo, home, bx string }

func newUser(t testing.TB) user {
	t.Helper()
	dir := t.TempDir()
	u := user{filepath.Join(dir, "repo"), filepath.Join(dir, "home"), filepath.Join(dir, "bx")}
	if os.PathSeparator == '\\' {
		u.bx += ".exe"
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(u.repo, ".git"), 0o777), os.MkdirAll(u.home, 0o777), os.Link(self, u.bx),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	u.write(t, "agent/parse.go", "package agent\n\n// ParseToolCalls parses tool calls.\nfunc ParseToolCalls() {}\n")
	return u
}

func (u user) write(t testing.TB, name, text string) {
	t.Helper()
	file := filepath.Join(u.repo, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// ask runs bx --json against a model that says first, and then an answer.
func (u user) ask(t *testing.T, first, kind string, chunk int, args ...string) (view.Reply, []fake.Request) {
	t.Helper()
	script, err := fake.Parse("model", fmt.Appendf(nil, "-- turn --\n-- text --\n%s\n-- turn --\nlast %s\n-- text --\nSee agent/parse.go:4.\n", first, "tool"))
	if err != nil {
		t.Fatal(err)
	}
	script.Chunk = chunk
	mock := fake.New(script)
	server := httptest.NewServer(mock)
	defer server.Close()
	cmd := exec.Command(u.bx, append([]string{"--json", "--no-session"}, args...)...)
	cmd.Dir = u.repo
	cmd.Env = append(environment(u.home), map[string]string{"ollama": "OLLAMA_HOST=" + server.URL, "openai": "OPENAI_BASE_URL=" + server.URL + "/v1"}[kind])
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bx: %v\n%s", err, errs.String())
	}
	if err := mock.Err(); err != nil {
		t.Errorf("%v\n%s", err, errs.String())
	}
	var r view.Reply
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r, mock.Requests()
}

// TestDialects: the model writes the call into its text, in each of many
// dialects, whole and byte by byte, over both APIs. Each gives the same call;
// it runs, the result goes back, and the answer cites a file from it.
//
// contract: P-08 P-09 P-10 P-12 P-13 P-21 P-31 P-34 T-01 T-11 X-09 Z-04 Z-07 UAT-C1 UAT-C2
func TestDialects(t *testing.T) {
	files, err := filepath.Glob("testdata/dialects/*.txt")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d dialects (%v), want at least 6", len(files), err)
	}
	u := newUser(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		for _, kind := range []string{"ollama", "openai"} {
			for _, chunk := range []int{0, 1} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, kind, chunk), func(t *testing.T) {
					r, sent := u.ask(t, strings.TrimSuffix(string(text), "\n"), kind, chunk, "Where are tool calls parsed?")
					sameCall(t, r)
					if len(sent) == 2 && !strings.Contains(string(sent[1].Body), "agent/parse.go:4: func ParseToolCalls") {
						t.Errorf("the result did not go back: %s", sent[1].Body)
					}
				})
			}
		}
	}
}

func sameCall(t *testing.T, r view.Reply) {
	t.Helper()
	if len(r.ToolCalls) != 1 {
		t.Fatalf("%d calls, want 1: %+v", len(r.ToolCalls), r)
	}
	c := r.ToolCalls[0]
	var args bytes.Buffer
	if err := json.Compact(&args, c.Arguments); err != nil {
		t.Fatal(err)
	}
	if want := `{"query":"parse tool calls","limit":3}`; c.Name != "search_code" || args.String() != want || c.Status != utp.StatusOK {
		t.Errorf("call %s %s: %s, want search_code %s: ok", c.Name, &args, c.Status, want)
	}
	if !strings.HasPrefix(c.Source, "text:") {
		t.Errorf("source %q, want a text dialect", c.Source)
	}
	if want := "See agent/parse.go:4."; r.Response != want {
		t.Errorf("response %q, want %q", r.Response, want)
	}
}

// TestResultsAreTheSameInEveryDialect: what a search leaves out is counted, and
// has a handle; not a byte of that depends on the dialect of the call.
//
// contract: T-10 A-17
func TestResultsAreTheSameInEveryDialect(t *testing.T) {
	u := newUser(t)
	u.write(t, "agent/calls.go", "package agent\n\nfunc calls() {\n"+strings.Repeat("\tParseToolCalls() // with all that it was given, and more\n", 600)+"}\n")
	want := ""
	for _, g := range grammar.All() {
		text, err := prompt.Call(g, utp.Call{Name: "grep", Args: json.RawMessage(`{"pattern":"ParseToolCalls"}`)})
		if err != nil {
			t.Logf("%s cannot say it: %v", g.Name, err)
			continue
		}
		r, _ := u.ask(t, text, "ollama", 0, "--config", u.exclusive(t, g), "Go on")
		if len(r.ToolCalls) != 1 || r.ToolCalls[0].Status != utp.StatusOK {
			t.Errorf("%s: calls %+v, want one that ran", g.Name, r.ToolCalls)
			continue
		}
		got := r.ToolCalls[0].Result
		if want == "" {
			want = got
		}
		if got != want || !strings.Contains(got, `"matches":602,"truncated":true,"handle":"res_`) {
			t.Errorf("%s: %q, want %q with a handle", g.Name, got, want)
		}
	}
	if want == "" {
		t.Error("no dialect was tried")
	}
}

// Not a byte of a result depends on the dialect without the envelope either.
//
// contract: T-10
func TestResultsAreTheSameWithoutTheEnvelope(t *testing.T) {
	u := newUser(t)
	plain := filepath.Join(u.home, "plain.toml")
	if err := os.WriteFile(plain, []byte("[tool_envelope]\nenabled = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	results := map[string]string{}
	for _, name := range []string{"hermes", "react", "autobyteus", "tools-tag"} {
		g, _ := grammar.ByName(name)
		text, err := prompt.Call(g, utp.Call{Name: "search_code", Args: json.RawMessage(`{"query":"ParseToolCalls"}`)})
		if err != nil {
			t.Fatal(err)
		}
		for _, config := range []string{plain, u.exclusive(t, g)} {
			r, _ := u.ask(t, text, "ollama", 0, "--config", config, "Go on")
			if len(r.ToolCalls) != 1 || r.ToolCalls[0].Status != utp.StatusOK {
				t.Fatalf("%s: calls %+v, want one that ran", name, r.ToolCalls)
			}
			key, got := filepath.Base(config), r.ToolCalls[0].Result
			if config != plain {
				key = "with"
			}
			if results[key] == "" {
				results[key] = got
			}
			if got != results[key] || strings.Contains(got, "TE_BEGIN_META") == (config == plain) {
				t.Errorf("%s, %s: %q, want %q", name, key, got, results[key])
			}
		}
	}
}

// TestRefusals: in every grammar there is, a write at WALK and a path out of
// the repository are refused with the exact texts, nothing is written, nothing
// leaks, and the loop goes on.
//
// contract: X-04 X-05 X-12 X-14 UAT-C4 UAT-C5 CON-15 CON-17
func TestRefusals(t *testing.T) {
	u := newUser(t)
	u.write(t, "../secret.txt", "TOP SECRET")
	for _, g := range grammar.All() {
		t.Run(g.Name, func(t *testing.T) {
			u.refuses(t, g, "write_file", `{"path":"evil.txt","content":"x"}`, "Tool 'write_file' not available at current tier (WALK)")
			u.refuses(t, g, "read_file", `{"path":"../secret.txt"}`, "Path escapes repository boundary: ../secret.txt")
			if _, err := os.Stat(filepath.Join(u.repo, "evil.txt")); err == nil {
				t.Error("evil.txt was written")
			}
		})
	}
}

func (u user) refuses(t *testing.T, g *grammar.Grammar, tool, args, want string) {
	t.Helper()
	text, err := prompt.Call(g, utp.Call{Name: tool, Args: json.RawMessage(args)})
	if err != nil {
		t.Logf("%s cannot be said: %v", tool, err)
		return
	}
	r, sent := u.ask(t, text, "ollama", 1, "--config", u.exclusive(t, g), "Go on")
	if len(r.ToolCalls) != 1 || r.ToolCalls[0].Status != utp.StatusDenied || r.ToolCalls[0].Result != want {
		t.Fatalf("%q: calls %+v, want one, denied: %s", text, r.ToolCalls, want)
	}
	for _, s := range sent {
		if strings.Contains(string(s.Body), "TOP SECRET") {
			t.Errorf("the secret went to the model: %s", s.Body)
		}
	}
	if r.Response == "" {
		t.Error("the loop did not go on")
	}
}

// exclusive is a configuration that reads one grammar alone.
func (u user) exclusive(t *testing.T, g *grammar.Grammar) string {
	t.Helper()
	file := filepath.Join(u.home, "one.toml")
	text := fmt.Sprintf("[tools]\ncall_parser = %q\ndefinition_format = \"native\"\nresult_format = \"native\"\n", g.Name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}
