package commands

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// told keeps what te was used for, on this machine alone. What cannot be kept is
// not: te is there for its command.
func (a *app) told(began time.Time, code int, err error) {
	if a.root == nil || a.inner != nil || a.stats || a.list || a.command == "coach" || !a.table.Telemetry.Enabled || !dirs.Tracked() || dirs.Data() == "" {
		return
	}
	c := &a.use
	c.Time, c.Agent, c.Session = began, a.agent(), cmp.Or(a.env("LLMC_TE_SESSION_ID"), a.env("TE_SESSION_ID"))
	c.Cmd, c.Exit, c.Took = a.name(), code, record.MicrosOf(a.now().Sub(began))
	if _, own := commands[c.Cmd]; !own && a.handle == "" {
		c.Mode = cmp.Or(c.Mode, record.Passthrough)
	}
	c.Mode = cmp.Or(c.Mode, record.Enriched)
	if a.handle != "" {
		c.Handle = a.handle
	}
	if err != nil {
		c.Mode, c.Error = record.Failed, "internal"
		if f, ok := err.(*failure); ok {
			c.Error = f.code
		}
	}
	c.Query = queryOf(a.name(), a.args)
	if a.table.Telemetry.CaptureOutput {
		c.ID = fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
		text, most := utp.Redact(a.text), int(a.table.Telemetry.OutputMaxBytes)
		line := strings.Join(append([]string{"te", a.name()}, a.args...), " ")
		keep(dirs.Content(), journal.Content, record.Content{ID: c.ID, Time: began, Request: utp.Redact(line), Raw: text[:min(len(text), most)], Cut: len(text) > most})
	}
	keep(dirs.Events(), journal.Events, *c)
}

func keep(dir string, most journal.Keep, e record.Event) {
	w := journal.New(journal.Options{Dir: dir, Program: "te", Keep: most})
	w.Append(e)
	_ = w.Close()
}

// shown notes how a result of te's own was shown.
func (a *app) shown(mode record.Mode, whole, out, handle string) {
	a.text = out
	c := &a.use
	c.Mode, c.Input, c.Output, c.Tokens = mode, len(whole), len(out), utp.Tokens(out)
	if c.Handle = handle; handle != "" {
		c.Truncated = true
		if a.command == "grep" && mode == record.Enriched {
			c.Way = a.way()
		}
	}
	if mode == record.Enriched && len(out) > 0 && len(whole) > len(out) {
		c.Saved = int(int64(c.Tokens) * int64(len(whole)-len(out)) / int64(len(out)))
	}
}

// agent is who asks, as it says.
func (a *app) agent() string { return cmp.Or(a.env("LLMC_TE_AGENT_ID"), a.env("TE_AGENT_ID")) }

// queryOf is a short hash of what a command looks for, equal for two that look for
// about the same: by the letters of its words, without flags, case and marks.
func queryOf(command string, args []string) string {
	var words []string
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		words = append(words, strings.FieldsFunc(strings.ToLower(arg), func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 128
		})...)
	}
	if len(words) == 0 {
		return ""
	}
	slices.Sort(words)
	sum := sha256.Sum256([]byte(command + "\x00" + strings.Join(slices.Compact(words), " ")))
	return hex.EncodeToString(sum[:6])
}

// uses are all that were kept, the oldest first, and how many lines could not be
// read.
func uses() (all []*record.Command, skipped int, err error) {
	segments, err := journal.List(dirs.Events())
	if err != nil {
		return nil, 0, err
	}
	for _, s := range segments {
		if s.Program != "te" {
			continue
		}
		_, sk, err := journal.Read(dirs.Events(), s.Name, 0, func(_ int64, e record.Event) bool {
			if c, ok := e.(record.Command); ok {
				all = append(all, &c)
			}
			return true
		})
		if err != nil {
			return nil, 0, err
		}
		skipped += sk.Lines()
	}
	slices.SortStableFunc(all, func(a, b *record.Command) int { return a.Time.Compare(b.Time) })
	return all, skipped, nil
}

// tally are the uses of one command in one way.
type tally struct {
	Cmd       string      `json:"cmd"`
	Mode      record.Mode `json:"mode"`
	Count     int         `json:"count"`
	Tokens    int         `json:"tokens"`
	Saved     int         `json:"saved"`
	Truncated int         `json:"truncated,omitempty"`
	Seconds   float64     `json:"seconds"` // on average
}

// statistics is te --stats.
func (a *app) statistics() (int, error) {
	all, skipped, err := uses()
	if err != nil {
		return 0, fail("internal", exitNone, "%v", err)
	}
	type key struct {
		cmd  string
		mode record.Mode
	}
	sums := map[key]*tally{}
	for _, c := range all {
		k := key{c.Cmd, c.Mode}
		if sums[k] == nil {
			sums[k] = &tally{Cmd: c.Cmd, Mode: c.Mode}
		}
		t := sums[k]
		t.Count, t.Tokens, t.Saved, t.Seconds = t.Count+1, t.Tokens+c.Tokens, t.Saved+c.Saved, t.Seconds+c.Took.Duration().Seconds()
		if c.Truncated {
			t.Truncated++
		}
	}
	rows := make([]*tally, 0, len(sums))
	for _, t := range sums {
		t.Seconds /= float64(t.Count)
		rows = append(rows, t)
	}
	slices.SortStableFunc(rows, func(a, b *tally) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Cmd, b.Cmd), cmp.Compare(a.Mode, b.Mode))
	})
	if a.json {
		a.value(rows)
		return exitOK, nil
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.out, "te has not been used yet, or keeps no figures (docs/te.md)")
		return exitOK, nil
	}
	fmt.Fprintf(a.out, "%-10s %-12s %6s %9s %9s %7s %8s\n", "COMMAND", "MODE", "USES", "TOKENS", "SAVED", "CUT", "TIME")
	for _, t := range rows {
		fmt.Fprintf(a.out, "%-10.10s %-12s %6d %9d %9d %7d %7.3fs\n", printable(t.Cmd), t.Mode, t.Count, t.Tokens, t.Saved, t.Truncated, t.Seconds)
	}
	if skipped > 0 {
		fmt.Fprintf(a.out, "%s could not be read and are not counted\n", plural(skipped, "line"))
	}
	return exitOK, nil
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
