package main

import (
	"path/filepath"
	"slices"

	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// eventsDir is where events are kept.
func (j *job) eventsDir() (string, error) {
	dir, err := j.app.dataDir("")
	return filepath.Join(dir, "events"), err
}

// replies gives every reply that was kept, the oldest first.
func (j *job) replies(each func(record.Reply)) error {
	dir, err := j.eventsDir()
	if err != nil {
		return err
	}
	segments, err := journal.List(dir)
	if err != nil {
		return err
	}
	var all []record.Reply
	for _, s := range segments {
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
