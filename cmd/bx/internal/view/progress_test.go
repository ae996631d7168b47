package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// progress is one whose clock the test moves.
func progress(live bool) (p *view.Progress, err *strings.Builder, wait func(time.Duration)) {
	at := time.Unix(0, 0)
	err = &strings.Builder{}
	p = &view.Progress{Err: err, Live: live, Columns: func() int { return 40 }, Now: func() time.Time { return at }}
	return p, err, func(d time.Duration) { at = at.Add(d); p.Tick() }
}

// On a terminal a line tells after a second what goes on, and goes away before
// anything else is printed.
func TestNoSilenceOnATerminal(t *testing.T) {
	p, err, wait := progress(true)
	w := p.Over(err, true)
	p.Busy("search_code is running")
	wait(900 * time.Millisecond)
	if err.Len() > 0 {
		t.Errorf("said at once: %q", err)
	}
	wait(200 * time.Millisecond)
	p.More("(indexing " + view.Far(12000, 100000) + " files)")
	wait(time.Second)
	fmt.Fprintln(w, "done")
	p.Busy("")
	wait(time.Minute)
	want := "\r\x1b[K\x1b[2msearch_code is running, 1 s\x1b[0m" +
		"\r\x1b[K\x1b[2msearch_code is running (indexing 12,00…\x1b[0m" + "\r\x1b[Kdone\n"
	if err.String() != want {
		t.Errorf("got  %q\nwant %q", err, want)
	}
}

// A model that thinks is no silence, also where its thoughts are not printed.
func TestThinkingIsNotSilent(t *testing.T) {
	p, err, wait := progress(true)
	printer := view.Printer{Out: err, Err: p.Over(err, true), Progress: p}
	printer.Event(agent.Event{Kind: agent.Think, Text: "Where may it be?"})
	wait(1100 * time.Millisecond)
	if err.String() != "\r\x1b[K\x1b[2mthinking, 1 s\x1b[0m" {
		t.Errorf("%q", err)
	}
	p.Busy("")
}

// A line that the model is writing is never overwritten.
func TestProgressLeavesWordsAlone(t *testing.T) {
	p, err, wait := progress(true)
	fmt.Fprint(p.Over(err, true), "Half a line")
	p.Busy("waiting for m")
	wait(5 * time.Second)
	if err.String() != "Half a line" {
		t.Errorf("%q", err)
	}
}

// Elsewhere than on a terminal there is a line each ten seconds.
func TestNoSilenceInALogFile(t *testing.T) {
	p, err, wait := progress(false)
	p.Busy("waiting for m (12,000 of 32,768 tokens)")
	for range 25 {
		wait(time.Second)
	}
	want := "waiting for m (12,000 of 32,768 tokens), 10 s\nwaiting for m (12,000 of 32,768 tokens), 20 s\n"
	if err.String() != want {
		t.Errorf("%q", err)
	}
}
