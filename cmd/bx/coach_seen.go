package main

import (
	"slices"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// replies gives every reply that was kept since a time, the oldest first.
func (j *job) replies(since time.Time, each func(record.Reply)) error {
	dir := dirs.Events()
	segments, err := journal.List(dir)
	if err != nil {
		return err
	}
	var all []record.Reply
	for _, s := range segments {
		if s.Day < since.UTC().Format(time.DateOnly) {
			continue
		}
		_, _, err := journal.Read(dir, s.Name, 0, func(_ int64, e record.Event) bool {
			if r, ok := e.(record.Reply); ok {
				all = append(all, r)
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b record.Reply) int { return a.Time.Compare(b.Time) })
	for _, r := range all {
		each(r)
	}
	return nil
}
