package main

import (
	"bytes"
	"crypto/sha256"
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
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

var (
	inBrowser = flag.Bool("browser", false, "drive the dashboard in a real browser; make dash prepares it")
	shots     = flag.String("shots", "", "write screenshots to this `DIR`")
)

// The dashboard shows in a real browser what segments and the index of SQLite hold.
func TestBrowserOverTheStore(t *testing.T) {
	if !*inBrowser {
		t.Skip("the page is not driven in a browser here: make dash does it")
	}
	drive, err := filepath.Abs("../../sdktest/dash/drive.mjs")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var events []record.Event
	for i := range 3000 {
		r := record.Reply{ID: fmt.Sprint("r", i), Time: now.Add(-time.Duration(i) * 20 * time.Minute), By: record.ByBx, Asked: []string{"qwen3", "llama3"}[i%2], Form: "hermes", Tools: 3, Status: 200,
			Took: record.Micros(400_000 + i), First: 1000, Usage: utp.Usage{Input: 100, Output: 20}, Stop: utp.StopTool,
			Calls: []record.Call{{Name: "shell", Source: "hermes", Fixes: []string{"trailing comma"}, Outcome: utp.StatusOK, Took: record.Micros(1000 * (i%50 + 1))}}}
		if i%7 == 0 {
			r.Calls, r.Problems = nil, []record.Problem{{Kind: utp.ProblemMalformed, Name: "shell", Dialect: "hermes", Why: "JSON"}}
		}
		events = append(events, r)
	}
	f, _ := kept(t, events...)
	c := journal.New(journal.Options{Dir: f.content, Program: "bx"})
	c.Append(record.Content{ID: "r1", Time: now, Request: `{"model":"llama3"}`, Raw: "<tool_call>\n{\"name\": \"shell\", \"arguments\": {\"command\": \"ls\",}}\n</tool_call>"})
	const key = "bx-key-of-the-test"
	d := dash.New(dash.Config{Key: sha256.Sum256([]byte(key)), Source: f, Reader: explainer(reading.Options{}), Now: time.Now})
	server := httptest.NewServer(d)
	defer server.Close()
	defer d.Close()
	args, err := json.Marshal(map[string]any{"urls": map[string]string{"store": server.URL}, "key": key, "shots": *shots, "sample": "r1"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", drive)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(args), os.Stderr
	out, err := cmd.Output()
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "FAIL") {
			t.Error(line)
		} else {
			t.Log(line)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
