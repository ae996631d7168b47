package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// cmdSeen is "seen N FILE": the events of a file, a line of JSON each, happened N
// times.
func cmdSeen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: seen N FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	w := journal.New(journal.Options{Dir: filepath.Join(ts.Getenv("XDG_DATA_HOME"), "bx", "events"), Program: "bx", Warn: func(s string) { ts.Fatalf("%s", s) }})
	for range n {
		for line := range strings.Lines(ts.ReadFile(filepath.Join(ts.Getenv("WORK"), args[1]))) {
			e, err := record.Decode([]byte(strings.TrimSpace(line)))
			ts.Check(err)
			w.Append(e)
		}
	}
	ts.Check(w.Close())
}
