package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/store"
)

// Sessions lists sessions, one a line, of a root or, with "", of all.
func Sessions(w io.Writer, list []store.Info, root string) {
	if len(list) == 0 {
		where := ""
		if root != "" {
			where = " for " + root + " (--all lists those of every repository)"
		}
		fmt.Fprintf(w, "no sessions yet%s\n", where)
		return
	}
	for _, s := range list {
		where, broken := "", ""
		if root == "" {
			where = "  " + s.Root
		}
		if s.Broken {
			broken = "  [broken off]"
		}
		fmt.Fprintf(w, "%s  %s  %12s  %s%s  %s%s\n", s.ID, s.Updated.Local().Format("2006-01-02 15:04"), Count(s.Count, "message"), Clean(s.Model), where,
			short(Clean(s.First), 60), broken)
	}
}

// Hits lists sessions in which a text was found, with the words around it.
func Hits(w io.Writer, hits []store.Hit, text string) {
	if len(hits) == 0 {
		fmt.Fprintln(w, "found in no session (--all searches those of every repository)")
		return
	}
	for _, h := range hits {
		fmt.Fprintf(w, "%s  %s  %s\n    %s %d: %s\n", h.ID, h.Updated.Local().Format("2006-01-02 15:04"), short(Clean(h.First), 60), h.Kind, h.N, around(Clean(h.Text), text))
	}
}

// around is the part of s about the first place of text.
func around(s, text string) string {
	at := max(strings.Index(strings.ToLower(s), strings.ToLower(text)), 0)
	from := min(max(at-40, 0), len(s))
	return short(strings.ToValidUTF8(s[from:], ""), 120)
}

// Count is a number of things in words.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Age is a time span in its largest unit.
func Age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return Count(int(d.Hours()/24), "day")
	case d >= time.Hour:
		return Count(int(d.Hours()), "hour")
	case d >= time.Minute:
		return Count(int(d.Minutes()), "minute")
	}
	return Count(max(int(d.Seconds()), 0), "second")
}

// Short is a text on one line, cut to the length of a title.
func Short(s string) string { return short(Clean(s), 60) }
