package view

import (
	"fmt"
	"io"

	"github.com/unifiedtoolprotocol/utp/store"
)

// Sessions lists sessions, one a line.
func Sessions(w io.Writer, list []store.Info) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no sessions yet")
		return
	}
	for _, s := range list {
		fmt.Fprintf(w, "%s  %s  %3d messages  %s\n", s.ID, s.Updated.Local().Format("2006-01-02 15:04"), s.Count, short(Clean(s.First), 60))
	}
}
