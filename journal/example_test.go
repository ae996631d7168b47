package journal_test

import (
	"fmt"
	"os"

	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	w := journal.New(journal.Options{Dir: dir, Program: "te", Keep: journal.Events})
	w.Append(record.Command{Cmd: "grep", Mode: record.Enriched, Saved: 120})
	w.Append(record.Command{Cmd: "find", Mode: record.Raw})
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	segments, err := journal.List(dir)
	fmt.Println(len(segments), err)
	for _, s := range segments {
		_, _, err = journal.Read(dir, s.Name, 0, func(_ int64, e record.Event) bool {
			fmt.Println(e.(record.Command).Cmd, e.(record.Command).Saved)
			return true
		})
	}
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// grep 120
	// find 0
	// <nil>
}
