package main

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// While places are looked for, before anything is asked, it is told how far the
// index is.
func TestTheFirstIndexIsNotSilent(t *testing.T) {
	u := newUser(t)
	var seconds atomic.Int64
	var told strings.Builder
	p := &view.Progress{Err: &told, Live: true, Columns: func() int { return 80 }, Now: func() time.Time { return time.Unix(seconds.Load(), 0) }}
	j := &job{app: &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: func(string) string { return "" }}, root: u.repo, rules: &rules{},
		view: &view.Printer{Out: &told, Err: &told, Level: view.Quiet, Progress: p}}
	set, err := tool.New(tool.Config{Root: u.repo, IndexDir: t.TempDir(), Progress: func(ctx context.Context, done, of int) {
		j.indexing(ctx, done, of)
		seconds.Add(2)
		p.Tick()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	j.tools = set
	found := j.presearch(t.Context(), &connection{client: new(backend.Client), tools: true}, set, "Where are tool calls parsed in this code?", utp.TierWalk)
	if !strings.Contains(found, "agent/parse.go:4") || !strings.Contains(told.String(), "searching for places (indexing 0 of 1 files), 2 s") {
		t.Errorf("found %q, told %q", found, told.String())
	}
	told.Reset()
	seconds.Add(2)
	if p.Tick(); told.Len() > 0 {
		t.Errorf("told when it is over: %q", told.String())
	}
}
