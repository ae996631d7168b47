package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){"te": main})
}

// TestScripts runs testdata/script/*.txtar in $WORK/repo, a directory with a
// .git, with a home of its own. Beside testscript's commands there are
//
//	code N COMMAND …    run a command that must exit with N
//	fill NAME N TEXT    make a file of N lines TEXT, in which # is the line's number
//	handle              set $HANDLE to the handle in the last output
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setup, UpdateScripts: golden.Update(), RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": cmdCode, "fill": cmdFill, "handle": cmdHandle},
	})
}

func setup(e *testscript.Env) error {
	repo, home := filepath.Join(e.WorkDir, "repo"), filepath.Join(e.WorkDir, "home")
	for _, dir := range []string{filepath.Join(repo, ".git"), filepath.Join(home, "config", "bx")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	e.Cd = repo
	e.Vars = append(e.Vars, "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "XDG_DATA_HOME="+filepath.Join(home, "data"), "LC_ALL=C.UTF-8")
	return nil
}

func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	have := 0
	if exit, ok := err.(*exec.ExitError); ok {
		have = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if have != want {
		ts.Fatalf("exit code %d, want %d", have, want)
	}
}

func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fill NAME N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintln(&b, strings.ReplaceAll(args[2], "#", strconv.Itoa(i+1)))
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, b.Bytes(), 0o666))
}

var handles = regexp.MustCompile(`res_[0-9a-f]{12}`)

func cmdHandle(ts *testscript.TestScript, neg bool, args []string) {
	id := handles.FindString(ts.ReadFile("stdout"))
	if neg || len(args) > 0 || id == "" {
		ts.Fatalf("want a handle in the last output, and no arguments")
	}
	ts.Setenv("HANDLE", id)
}
