// Package dashtest drives the dashboard in a real browser, for tests.
package dashtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	browser = flag.Bool("browser", false, "drive the dashboard in a real browser; make dash prepares it")
	shots   = flag.String("shots", "", "write screenshots to this `DIR`")
)

// Wanted skips a test unless a browser is to be driven.
func Wanted(t *testing.T) {
	t.Helper()
	if !*browser {
		t.Skip("the page is not driven in a browser here: make dash does it")
	}
}

// Drive runs sdktest/dash/drive.mjs below root, the folder of the module, which says what
// the arguments are. Its Failures are errors of the test.
func Drive(t *testing.T, root string, args map[string]any) {
	t.Helper()
	drive, err := filepath.Abs(filepath.Join(root, "sdktest/dash/drive.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	args = maps.Clone(args)
	args["shots"] = *shots
	in, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", drive)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	t.Logf("%s", out)
	for _, line := range Failures(string(out)) {
		t.Error(line)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Failures are the lines of what drive.mjs printed that say what does not hold.
func Failures(printed string) (lines []string) {
	for line := range strings.Lines(printed) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "FAIL") {
			lines = append(lines, line)
		}
	}
	return lines
}
