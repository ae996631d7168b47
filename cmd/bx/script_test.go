package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unifiedtoolprotocol/utp/backend/local"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// noWait keeps a bx that runs under the race detector from waiting a second at
// its end.
const noWait = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if handled, code := sandboxed(); handled {
		os.Exit(code)
	}
	os.Setenv("GORACE", noWait) // for the commands that are given no environment
	testscript.Main(m, map[string]func(){"bx": main, "mcp-server": mcpServer})
}

// TestScripts runs testdata/script/*.txtar. Each plays a user in $WORK/repo, a
// directory with a .git, with a home of its own; $DOCS is the folder of that
// name. Beside testscript's commands there are
//
//	fake [-openai | -anthropic | -gemini] [-chunk=N] [-write=N] FILE   start a scripted model ($WORK/FILE) and point bx at it
//	requests [N]                                print what it was sent: all requests, or the Nth
//	played                                      fail unless every turn was played as the script says
//	mcp [-yes | -no] [-http=KEY] FILE ARG…      be an MCP client of bx mcp serve
//	serve ARG…                                  start bx serve; serve-says and serve-stop go with it
//	http METHOD PATH [FILE] [NAME:VALUE]…       ask it
//	code N COMMAND …                            run a command that must exit with N
//
// A line of FILE may begin with ">", so that its sections are not taken for
// those of the script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setup, Condition: condition, UpdateScripts: golden.Update(), RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fake": cmdFake, "seen": cmdSeen, "requests": cmdRequests, "played": cmdPlayed, "code": cmdCode, "mcp": cmdMCP,
			"serve": cmdServe, "serve-says": cmdServeSays, "serve-stop": cmdServeStop, "http": cmdHTTP, "collector": cmdCollector,
		},
	})
}

func setup(e *testscript.Env) error {
	repo, home := filepath.Join(e.WorkDir, "repo"), filepath.Join(e.WorkDir, "home")
	for _, dir := range []string{filepath.Join(repo, ".git"), home} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	e.Cd = repo
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars, append(environment(home), "DOCS="+docs)...)
	e.Values[mockKey{}] = new(*fake.Server)
	e.Values[runningKey{}] = new(holder)
	e.Values[collectorKey{}] = new(collected)
	return nil
}

// environment is that of a user who has nothing but a home.
func environment(home string) []string {
	dir := func(name string) string { return filepath.Join(home, name) }
	return []string{"HOME=" + home, "USERPROFILE=" + home, "AppData=" + dir("config"), "LocalAppData=" + dir("cache"),
		"XDG_CONFIG_HOME=" + dir("config"), "XDG_DATA_HOME=" + dir("data"), "XDG_CACHE_HOME=" + dir("cache"),
		"GORACE=" + noWait}
}

// condition adds [no-server], no model server runs on this machine, and
// [sandbox], commands have one here.
func condition(cond string) (bool, error) {
	switch cond {
	case "no-server":
		found := local.Find(context.Background())
		return len(found.Servers)+len(found.Silent) == 0, nil
	case "sandbox":
		return noSandbox(context.Background()) == "", nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// mockKey finds the fake of a script.
type mockKey struct{}

func cmdFake(ts *testscript.TestScript, neg bool, args []string) {
	variable, path, script := "OLLAMA_HOST", "", (*fake.Script)(nil)
	if neg || len(args) == 0 {
		ts.Fatalf("usage: fake [-openai | -anthropic | -gemini] [-chunk=N] [-write=N] FILE")
	}
	file := args[len(args)-1]
	script, err := fake.Parse(file, unquote([]byte(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), file)))))
	ts.Check(err)
	for _, a := range args[:len(args)-1] {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "-openai":
			variable, path = "OPENAI_BASE_URL", "/v1"
		case "-anthropic":
			variable = "ANTHROPIC_BASE_URL"
		case "-gemini":
			variable = "GOOGLE_GEMINI_BASE_URL"
		case "-chunk":
			script.Chunk, err = strconv.Atoi(value)
		case "-write":
			script.Write, err = strconv.Atoi(value)
		default:
			err = errors.New("unknown option " + name)
		}
		ts.Check(err)
	}
	mock := fake.New(script)
	server := httptest.NewServer(mock)
	ts.Defer(server.Close)
	*ts.Value(mockKey{}).(**fake.Server) = mock
	ts.Setenv(variable, server.URL+path)
	ts.Setenv("FAKE_URL", server.URL)
}

// unquote takes the ">" off lines that begin with it.
func unquote(b []byte) []byte {
	return regexp.MustCompile(`(?m)^>`).ReplaceAll(b, nil)
}

func mockOf(ts *testscript.TestScript) *fake.Server {
	mock := *ts.Value(mockKey{}).(**fake.Server)
	if mock == nil {
		ts.Fatalf("no fake was started")
	}
	return mock
}

func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	all := mockOf(ts).Requests()
	if len(args) == 1 {
		n, err := strconv.Atoi(args[0])
		ts.Check(err)
		if n < 1 || n > len(all) {
			ts.Fatalf("there is no request %d of %d", n, len(all))
		}
		all = all[n-1 : n]
	}
	for _, r := range all {
		fmt.Fprintf(ts.Stdout(), "%s\n", r.Body)
	}
}

func cmdPlayed(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(mockOf(ts).Err())
}

func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND …")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// TestScriptsCheckTheirFakes keeps a script from forgetting to look whether
// the model was asked what it expects.
func TestScriptsCheckTheirFakes(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		commands, _, _ := bytes.Cut(b, []byte("\n-- "))
		if regexp.MustCompile(`(?m)^fake `).Match(commands) && !regexp.MustCompile(`(?m)^played|only asked about themselves`).Match(commands) {
			t.Errorf("%s starts a fake and does not end with played", f)
		}
	}
}
