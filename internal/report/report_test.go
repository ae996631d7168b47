package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/internal/arch"
	"github.com/unifiedtoolprotocol/utp/internal/contract"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// The sign-off of made-up outcomes: a line of "outcomes" is an id and how its
// one test ended.
func TestSignOff(t *testing.T) {
	page, err := os.ReadFile("../../" + requirements)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := contract.Rows(string(page))
	if err != nil {
		t.Fatal(err)
	}
	golden.Run(t, "testdata/signoff/*.txtar", func(t *testing.T, c *golden.Case) {
		var carriers []contract.Carrier
		var events strings.Builder
		for line := range strings.Lines(c.Get("outcomes")) {
			f := strings.Fields(line)
			carriers = append(carriers, contract.Carrier{IDs: f[:1], Dir: "x", Func: "Test" + f[0]})
			if len(f) > 1 {
				events.WriteString(`{"Action":"` + f[1] + `","Package":"m/x","Test":"Test` + f[0] + "\"}\n")
			}
		}
		outcomes, err := contract.ReadOutcomes("m", strings.NewReader(events.String()))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		accepted := signOff(&got, contract.Join(rows, carriers, outcomes), time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
		c.Want(t, "sign-off", got.String())
		if accepted != strings.HasPrefix(filepath.Base(c.Path), "accepted") {
			t.Errorf("accepted = %v", accepted)
		}
	})
}

func TestAcceptancePackages(t *testing.T) {
	rows := []contract.Row{{ID: "P-01"}, {ID: "Q-02"}, {ID: "UAT-N2", ShownBy: []string{"Q-02"}}, {ID: "UAT-4.1"}}
	carriers := []contract.Carrier{
		{IDs: []string{"P-01"}, Dir: "schema"},
		{IDs: []string{"P-01", "Q-02"}, Dir: "parse"},
		{IDs: []string{"UAT-4.1"}, Dir: "cmd/bx"},
		{IDs: []string{"UAT-4.1"}, Dir: "cmd/bx"},
	}
	if got := strings.Join(acceptancePackages(rows, carriers), " "); got != "./cmd/bx ./parse" {
		t.Errorf("packages = %s", got)
	}
}

func TestMark(t *testing.T) {
	for b, want := range map[arch.Budget]string{{OK: true}: "ok", {Hard: true}: "FAIL", {}: "over"} {
		if got := mark(b); got != want {
			t.Errorf("mark(%+v) = %s, want %s", b, got, want)
		}
	}
}

// Each command says what it wants when it is asked in vain.
func TestCommandsFail(t *testing.T) {
	t.Chdir(t.TempDir())
	for command, want := range map[string]string{
		"":                            "want one of: contract",
		"nonsense":                    "want one of: contract",
		"fuzz":                        "want a duration",
		"fuzz soon":                   "invalid duration",
		"fuzz 1s":                     "go list",
		"contract":                    "run this in the module's root",
		"uat":                         "run this in the module's root",
		"release":                     "want a version and a folder",
		"release 1.x d":               `the version is "1.x"`,
		"release 1.2.3 d plan9/amd64": "not plan9/amd64",
		"size":                        "go list",
		"contract X-1":                "run this in the module's root",
	} {
		err := run(io.Discard, strings.Fields(command))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", command, err, want)
		}
	}
}

// TestFuzzTimeEnds: the end of go test's own time is no failure of a target; a failing input is.
func TestFuzzTimeEnds(t *testing.T) {
	const ended = "fuzz: elapsed: 6s, execs: 141641 (0/sec)\n--- FAIL: FuzzScanner (6.02s)\n    context deadline exceeded\nFAIL\n"
	for _, c := range []struct {
		out  string
		want bool
	}{
		{ended, true},
		{"--- FAIL: FuzzScanner (0.02s)\n    --- FAIL: FuzzScanner (0.00s)\n        scan_test.go:9: lost\n    \n    Failing input written to testdata/fuzz/FuzzScanner/1\n", false},
		{"    --- FAIL: FuzzAsk (0.00s)\n    context deadline exceeded\n    Failing input written to testdata/fuzz/FuzzAsk/1\n", false},
		{"# build failed\n", false},
	} {
		if got := onlyTimeEnded(c.out); got != c.want {
			t.Errorf("onlyTimeEnded = %v, want %v, of:\n%s", got, c.want, c.out)
		}
	}
}
