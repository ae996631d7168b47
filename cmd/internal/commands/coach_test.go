package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/record"
)

// way is one of te grep, and what came after it so often.
type way struct {
	record.Way
	proceeded, fetched, repeated int
}

func log(ways ...way) (out []*record.Command) {
	at := time.Unix(0, 0)
	next := func(c record.Command) {
		at = at.Add(time.Second)
		c.Time = at
		out = append(out, &c)
	}
	for _, w := range ways {
		use := record.Command{Cmd: "grep", Mode: record.Enriched, Query: "q", Handle: "res_1", Truncated: true, Way: w.Way}
		for range w.proceeded {
			next(use)
			next(record.Command{Cmd: "read", Mode: record.Enriched, Query: "other"})
		}
		for range w.fetched {
			next(use)
			next(record.Command{Cmd: "handle", Mode: record.Enriched, Handle: "res_1"})
		}
		for range w.repeated {
			next(use)
			next(record.Command{Cmd: "grep", Mode: record.Enriched, Query: "q"})
			at = at.Add(time.Hour)
		}
	}
	return out
}

// contract: TE-20
func TestTheCoachOfTeProposes(t *testing.T) {
	now, more, clear := record.Way{Matches: 10, Percent: 20, Crumbs: 5, Zone: true}, record.Way{Matches: 20, Percent: 40, Crumbs: 5, Zone: true}, record.Way{Matches: 10, Percent: 20, Crumbs: 10, Zone: true}
	other := record.Way{Matches: 40, Percent: 20, Crumbs: 2}
	for name, c := range map[string]struct {
		log  []*record.Command
		want record.Way // the zero Way: nothing
		why  string
	}{
		"too few uses":                  {log(way{now, 0, 14, 0}), record.Way{}, ""},
		"it serves":                     {log(way{now, 40, 4, 2}), record.Way{}, ""},
		"the rest is fetched":           {log(way{now, 10, 25, 2}), more, "the rest was fetched (25)"},
		"looked for again":              {log(way{now, 10, 2, 25}), clear, "again (25)"},
		"more did not serve either":     {log(way{more, 10, 25, 2}, way{now, 10, 25, 2}), clear, "fetched (25)"},
		"both did not serve either":     {log(way{more, 10, 25, 2}, way{clear, 10, 25, 2}, way{now, 10, 25, 2}), record.Way{}, ""},
		"another one served better":     {log(way{other, 60, 1, 1}, way{now, 20, 20, 20}), other, "it scored +1.9"},
		"another one, in too few uses":  {log(way{other, 14, 0, 0}, way{now, 30, 8, 8}), record.Way{}, ""},
		"what is set was not used":      {log(way{other, 0, 60, 0}), record.Way{}, ""},
		"no hot zone, looked for again": {log(way{record.Way{Matches: 10, Percent: 20, Crumbs: 40}, 0, 0, 30}), record.Way{}, ""},
	} {
		_, ways := scored(c.log)
		to, why, ok := counsel(ways, now)
		if ok != (c.want != record.Way{}) || ok && to != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %+v, %q, %v, want %+v", name, to, why, ok, c.want)
		}
	}
	bare := record.Way{Matches: 10, Percent: 20, Crumbs: 40}
	_, ways := scored(log(way{bare, 0, 0, 30}))
	if to, _, ok := counsel(ways, bare); !ok || to != (record.Way{Matches: 10, Percent: 20, Crumbs: 40, Zone: true}) {
		t.Errorf("%+v, %v", to, ok)
	}
}
