package main

import (
	"crypto/sha256"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash/dashtest"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// The dashboard shows in a real browser what segments and the index of SQLite hold.
func TestBrowserOverTheStore(t *testing.T) {
	dashtest.Wanted(t)
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
	dashtest.Drive(t, "../..", map[string]any{"urls": map[string]string{"store": server.URL}, "key": key, "sample": "r1"})
}
