package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/settings"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
	"github.com/unifiedtoolprotocol/utp/record"
)

// patience is how long after a command the next one tells something of it.
const patience = 10 * time.Minute

// The score of a way of showing results, by what comes next. Source: Tool Envelope
// v1.2, 4.7. That an agent asks its user (−2) is nothing that te sees.
const (
	proceeds = +2 // another command follows
	fetches  = +1 // the rest is fetched by its handle
	repeats  = -1 // about the same is looked for again
)

// served is how well a way of showing results served.
type served struct {
	Shown   string      `json:"way"` // "grep enriched cut"
	Way     *record.Way `json:"settings,omitempty"`
	InUse   bool        `json:"in_use,omitempty"` // Way is what is set
	Count   int         `json:"count"`
	Proceed int         `json:"proceeded"`
	Fetch   int         `json:"fetched"`
	Repeat  int         `json:"repeated"`
	Score   float64     `json:"score"` // on average, from -1 to 2
}

// follow counts a use by the next one of the same agent.
func (s *served) follow(c, next *record.Command) {
	s.Count++
	switch {
	case next.Cmd == "handle" && next.Handle == c.Handle && c.Handle != "":
		s.Fetch, s.Score = s.Fetch+1, s.Score+fetches
	case next.Cmd == c.Cmd && next.Query == c.Query && c.Query != "":
		s.Repeat, s.Score = s.Repeat+1, s.Score+repeats
	default:
		s.Proceed, s.Score = s.Proceed+1, s.Score+proceeds
	}
}

// share is the average score as one of what is possible.
func (s *served) share() record.Share {
	return record.Share{Good: float64(s.Count) * (s.Score - repeats) / (proceeds - repeats), Of: float64(s.Count)}
}

// scored adds up what came after each command, in the order of time: by how
// results were shown, and those of te grep that were cut by the settings, too.
func scored(all []*record.Command) (shown, ways []*served) {
	byShown, byWay := map[string]*served{}, map[record.Way]*served{}
	for i, c := range all {
		if c.Cmd == "handle" || c.Mode == record.Failed {
			continue
		}
		next := slices.IndexFunc(all[i+1:], func(n *record.Command) bool { return n.Agent == c.Agent && n.Session == c.Session })
		if next < 0 || all[i+1+next].Time.Sub(c.Time) > patience {
			continue
		}
		name := c.Cmd + " " + string(c.Mode)
		if c.Truncated {
			name += " cut"
		}
		if byShown[name] == nil {
			byShown[name] = &served{Shown: name}
		}
		byShown[name].follow(c, all[i+1+next])
		if c.Way == (record.Way{}) {
			continue
		}
		if byWay[c.Way] == nil {
			byWay[c.Way] = &served{Shown: wayWords(c.Way), Way: &c.Way}
		}
		byWay[c.Way].follow(c, all[i+1+next])
	}
	for _, s := range byShown {
		shown = append(shown, s)
	}
	for _, s := range byWay {
		ways = append(ways, s)
	}
	return ranked(shown), ranked(ways)
}

// ranked averages the scores and puts the best first.
func ranked(rows []*served) []*served {
	for _, s := range rows {
		s.Score /= float64(s.Count)
	}
	slices.SortStableFunc(rows, func(a, b *served) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Shown, b.Shown)) })
	return rows
}

// way is how te grep shows what does not fit, as it is set.
func (a *app) way() record.Way { return wayOf(&a.table) }

func wayOf(t *toolenvelope.Table) record.Way {
	g := &t.Grep
	return record.Way{Matches: int(g.PreviewMatches), Percent: int(g.PreviewPercent), Crumbs: int(g.Breadcrumbs), Zone: g.HotZone}
}

func wayWords(w record.Way) string {
	zone := "hot zone"
	if !w.Zone {
		zone = "no hot zone"
	}
	return fmt.Sprintf("%s or %d %%, %s, %s", matches(w.Matches), w.Percent, plural(w.Crumbs, "breadcrumb"), zone)
}

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}

// What makes the coach of te speak. The certainty is that of the coach of bx.
const (
	minUses     = 15   // of a way, before it is judged
	fellShort   = 0.25 // share of uses after which more was wanted
	certainty   = 2.7  // in standard deviations
	mostMatches = 160
	mostPercent = 80
	mostCrumbs  = 40
)

// counsel is the way that would serve better than the one in use, and why: one
// that has been in use and scored higher, else, if what was shown falls short too
// often, one that shows more of what was missed and has not been in use.
func counsel(ways []*served, now record.Way) (to record.Way, why string, ok bool) {
	i := slices.IndexFunc(ways, func(s *served) bool { return *s.Way == now })
	if i < 0 || ways[i].Count < minUses {
		return now, "", false
	}
	s := ways[i]
	for _, o := range ways {
		if o.Count >= minUses && o.share().Above(s.share(), certainty) {
			return *o.Way, fmt.Sprintf("it scored %+.2f in %d uses, what is set scores %+.2f in %d", o.Score, o.Count, s.Score, s.Count), true
		}
	}
	short := record.Share{Good: float64(s.Fetch + s.Repeat), Of: float64(s.Count)}
	if short.Within(certainty).Low <= fellShort {
		return now, "", false
	}
	more, clearer := now, now
	more.Matches, more.Percent = min(2*now.Matches, max(mostMatches, now.Matches)), min(2*now.Percent, max(mostPercent, now.Percent))
	clearer.Crumbs, clearer.Zone = min(2*now.Crumbs, max(mostCrumbs, now.Crumbs)), true
	order := []record.Way{more, clearer}
	if s.Repeat > s.Fetch {
		slices.Reverse(order)
	}
	why = fmt.Sprintf("after %s of the uses the rest was fetched (%d) or about the same was looked for again (%d)", short, s.Fetch, s.Repeat)
	for _, w := range order {
		if !slices.ContainsFunc(ways, func(o *served) bool { return *o.Way == w && o.Count >= minUses }) {
			return w, why, true
		}
	}
	return now, "", false
}

// coach is te coach: which way of showing results served best, and how to set it.
func (a *app) coach(context.Context) (int, error) {
	words, err := options{a.sharedOptions()}.all(a.args)
	if err != nil {
		return 0, err
	}
	switch {
	case len(words) == 1 && words[0] == "report":
		return a.coachReport()
	case len(words) > 0 && words[0] == "apply":
		return a.coachApply(words[1:])
	case len(words) == 1 && words[0] == "undo":
		return a.coachUndo()
	}
	return 0, usage("te coach wants: te coach report, te coach apply [KEY=VALUE…] or te coach undo")
}

// coached is what te coach report says.
type coached struct {
	Shown   []*served   `json:"shown"`
	Ways    []*served   `json:"ways"`
	Propose *record.Way `json:"propose,omitempty"`
	Why     string      `json:"why,omitempty"`
}

// coached reads what was kept and judges it.
func (a *app) coached() (coached, error) {
	all, _, err := uses()
	if err != nil {
		return coached{}, fail("internal", exitNone, "%v", err)
	}
	shown, ways := scored(all)
	c := coached{Shown: append([]*served{}, shown...), Ways: append([]*served{}, ways...)}
	for _, s := range ways {
		s.InUse = *s.Way == a.way()
	}
	if to, why, ok := counsel(ways, a.way()); ok {
		c.Propose, c.Why = &to, why
	}
	return c, nil
}

func (a *app) coachReport() (int, error) {
	c, err := a.coached()
	if err != nil {
		return 0, err
	}
	if a.json {
		a.value(c)
		return exitOK, nil
	}
	if len(c.Shown) == 0 {
		fmt.Fprintln(a.out, "there is nothing to say yet: no command of te was followed by another")
		return exitOK, nil
	}
	a.scores("SHOWN AS", c.Shown)
	if len(c.Ways) > 0 {
		a.out.WriteString("\n")
		a.scores("TE GREP, CUT, SHOWS", c.Ways)
	}
	if c.Propose != nil {
		fmt.Fprintf(a.out, "\nte coach apply would set: %s\n  %s\n", wayWords(*c.Propose), c.Why)
	}
	return exitOK, nil
}

// scores prints a table.
func (a *app) scores(head string, rows []*served) {
	fmt.Fprintf(a.out, "%-48s %6s %9s %8s %9s %6s\n", head, "USES", "PROCEEDED", "FETCHED", "REPEATED", "SCORE")
	for _, s := range rows {
		now := ""
		if s.InUse {
			now = "  (in use)"
		}
		fmt.Fprintf(a.out, "%-48.48s %6d %9d %8d %9d %+6.2f%s\n", printable(s.Shown), s.Count, s.Proceed, s.Fetch, s.Repeat, s.Score, now)
	}
}

// coachFile is te's own file of settings, and coachNotes where it is kept what it
// held before.
func coachFile() string  { return filepath.Join(dirs.User(), toolenvelope.Own) }
func coachNotes() string { return filepath.Join(dirs.Data(), "te-coach") }

// coachApply is te coach apply: it writes what the report proposes, or what is
// said.
func (a *app) coachApply(words []string) (int, error) {
	if dirs.User() == "" || dirs.Data() == "" {
		return 0, fail("internal", exitNone, "there is no home directory, so that nothing can be set")
	}
	own, _, err := toolenvelope.Load(dirs.User(), "") // what a repository sets is not the user's
	if err != nil {
		return 0, fail("usage", exitUsage, "%v", err)
	}
	to := wayOf(&own)
	if len(words) == 0 {
		c, err := a.coached()
		if err != nil {
			return 0, err
		}
		if c.Propose == nil {
			fmt.Fprintln(a.out, "nothing to set: te coach report says what was seen")
			return exitOK, nil
		}
		to = *c.Propose
		fmt.Fprintln(a.out, c.Why)
	}
	text := wayTOML(to)
	if len(words) > 0 {
		if text, err = said(to, words); err != nil {
			return 0, err
		}
	}
	before, err := settings.Remember(coachFile())
	if err == nil {
		err = settings.Replace(coachFile(), []byte(text))
	}
	if err = errors.Join(err, before.Keep(coachNotes())); err != nil {
		return 0, fail("internal", exitNone, "%v", err)
	}
	wanted, err := toolenvelope.Default().With(coachFile(), []byte(text))
	if err != nil {
		return 0, fail("internal", exitNone, "%v", err)
	}
	fmt.Fprintf(a.out, "%s: te grep shows %s\n", coachFile(), wayWords(wayOf(&wanted)))
	now, _, err := toolenvelope.Load(dirs.User(), a.root.given)
	if err == nil && wayOf(&now) != wayOf(&wanted) {
		fmt.Fprintf(a.err, "te: in this repository its own bx.toml or llmc.toml says otherwise: %s\n", wayWords(wayOf(&now)))
	}
	return exitOK, nil
}

// wayTOML is te's own file of settings.
func wayTOML(w record.Way) string {
	return fmt.Sprintf("# te coach apply writes this file, all of it; te coach undo takes it back.\n[tool_envelope.grep]\npreview_matches = %d\npreview_percent = %d\nbreadcrumbs = %d\nhot_zone = %t\n", w.Matches, w.Percent, w.Crumbs, w.Zone)
}

// said is the file with what the words set.
func said(w record.Way, words []string) (string, error) {
	text := wayTOML(w)
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		at := strings.Index(text, "\n"+key+" = ")
		if !slices.Contains([]string{"preview_matches", "preview_percent", "breadcrumbs", "hot_zone"}, key) || value == "" || strings.ContainsAny(value, "\r\n") || at < 0 {
			return "", usage("te coach apply %s: want preview_matches=N, preview_percent=N, breadcrumbs=N or hot_zone=true or false", word)
		}
		line, rest, _ := strings.Cut(text[at+1:], "\n")
		text = text[:at+1] + line[:strings.Index(line, "=")+2] + value + "\n" + rest
	}
	if _, err := toolenvelope.Default().With(strings.Join(words, " "), []byte(text)); err != nil {
		return "", usage("te coach apply %v", err)
	}
	return text, nil
}

// coachUndo is te coach undo.
func (a *app) coachUndo() (int, error) {
	files, changed, err := settings.TakeBack(coachNotes())
	switch {
	case errors.Is(err, settings.ErrNothing):
		return 0, fail("usage", exitNone, "te coach apply has set nothing that could be taken back")
	case err != nil:
		return 0, fail("internal", exitNone, "%v", err)
	case len(changed) > 0:
		return 0, fail("usage", exitNone, "%s has changed since te coach apply wrote it: take the lines out by hand", strings.Join(changed, ", "))
	}
	for _, f := range files {
		fmt.Fprintf(a.out, "%s is as it was\n", f)
	}
	return exitOK, nil
}
