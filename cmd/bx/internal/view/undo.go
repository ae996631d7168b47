package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/undo"
)

// TurnedBack prints what bx undo or bx redo did.
func TurnedBack(w io.Writer, r undo.Report) {
	for _, f := range r.Restored {
		fmt.Fprintln(w, Clean("restored "+f))
	}
	for _, f := range r.Removed {
		fmt.Fprintln(w, Clean("removed "+f))
	}
	if len(r.Restored)+len(r.Removed) == 0 {
		fmt.Fprintln(w, "no file was changed")
	}
}

// Turns prints what bx undo could take back.
func Turns(w io.Writer, turns []undo.Listed, now time.Time) {
	if len(turns) == 0 {
		fmt.Fprintln(w, "nothing was changed in this repository")
	}
	for _, t := range turns {
		who, state := "", ""
		if t.Session != "" {
			who = "session " + t.Session + ", "
		}
		if t.Undone {
			state = "  (taken back)"
		}
		fmt.Fprintln(w, Clean(fmt.Sprintf("%s%s ago%s: %s", who, Age(now.Sub(t.At)), state, strings.Join(t.Files, ", "))))
	}
}
