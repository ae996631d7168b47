package stats_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/stats"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

func Example() {
	dir, err := os.MkdirTemp("", "stats")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	w := journal.New(journal.Options{Dir: dir, Program: "serve"})
	w.Append(record.Reply{ID: "1", Time: time.Now(), Asked: "qwen3", Form: "native", Tools: 2, Status: 200, Stop: utp.StopTool, Calls: []record.Call{{Name: "search", Source: "hermes"}}})

	ctx := context.Background()
	x, err := stats.Open(ctx, filepath.Join(dir, "stats.db"), dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = x.Close() }()
	if _, err := x.Sync(ctx); err != nil {
		fmt.Println(err)
	}
	free := func(string, int, int, int) (float64, bool) { return 0, false }
	rows, err := x.Rows(ctx, stats.ByModel, stats.Filter{}, free)
	fmt.Println(rows[0].Key, rows[0].Form, rows[0].Good, rows[0].Seen, err)
	words, err := x.Words(ctx, stats.Mismatches, stats.Filter{})
	fmt.Println(words, err)
	// Output:
	// qwen3 native 1 map[hermes:1] <nil>
	// [{qwen3 native → hermes 1}] <nil>
}
