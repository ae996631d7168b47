package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/stats"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/record"
)

// statsFlags are the options of bx stats.
type statsFlags struct {
	since, by string
	csv       bool
}

func (a *app) statsCommand() *cobra.Command {
	f := statsFlags{}
	cmd := &cobra.Command{
		Use: "stats", Short: "Show how well models call tools, and what it costs", Args: noWords,
		Long: `Show what bx, bx serve and te have seen on this machine: for each model and each form
in which it was told of tools, how many of its replies were good, with the range in
which the true share lies; in which dialects it called, which tools it invented, what
had to be repaired; time, tokens, and money where your bx.toml has prices.

A reply is good if its calls were valid at the first try and no repair was a guess.
docs/stats.md says what is kept and how to switch it off.`,
		Example: "  bx stats\n  bx stats --by dialect --since 7d\n  bx stats --csv > models.csv",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.stats(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.since, "since", "30d", "what happened since this `TIME`: 12h, 30d, or a date as 2026-11-23")
	cmd.Flags().StringVar(&f.by, "by", string(stats.ByModel), "tell figures apart by this `THING`: "+bys())
	cmd.Flags().BoolVar(&f.csv, "csv", false, "print the table as CSV")
	cmd.AddCommand(a.purgeCommand())
	return cmd
}

func bys() string {
	var names []string
	for _, by := range stats.Bys() {
		names = append(names, string(by))
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func (a *app) stats(ctx context.Context, f statsFlags) error {
	if !slices.Contains(stats.Bys(), stats.By(f.by)) {
		return fail(exitUsage, "--by %s: want %s", f.by, bys())
	}
	since, err := sinceWhen(f.since, time.Now())
	if err != nil {
		return fail(exitUsage, "--since %s: %w", f.since, err)
	}
	j, err := a.beginAnywhere()
	if err != nil {
		return err
	}
	x, notes, err := openStats(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	r, err := x.Report(ctx, stats.By(f.by), stats.Filter{Since: since, Model: a.model}, pricesOf(j.set.Prices))
	if err != nil {
		return err
	}
	switch r.Notes = notes; {
	case a.json:
		return view.JSON(a.out, r)
	case f.csv:
		return r.CSV(a.out)
	}
	r.Text(a.out, a.width())
	return nil
}

// openStats opens the index of what happened, with all of it.
func openStats(ctx context.Context) (*stats.Index, stats.Notes, error) {
	if dirs.Data() == "" || dirs.Cache() == "" {
		return nil, stats.Notes{}, errors.New("there is no home directory, so that nothing is kept")
	}
	x, err := stats.Open(ctx, filepath.Join(dirs.Cache(), "stats.db"), dirs.Events())
	if err != nil {
		return nil, stats.Notes{}, err
	}
	notes, err := x.Sync(ctx)
	if err != nil {
		_ = x.Close()
		return nil, notes, err
	}
	return x, notes, nil
}

// replies gives every reply that was kept since a time, the oldest first.
func (j *job) replies(ctx context.Context, since time.Time, each func(record.Reply)) error {
	if dirs.Data() == "" {
		return nil
	}
	x, _, err := openStats(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	return x.Each(ctx, stats.Filter{Since: since}, func(s stats.Seen) bool {
		each(s.Reply)
		return true
	})
}

// sinceWhen reads a time before now, or a date.
func sinceWhen(s string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, errors.New("want a time as 12h or 30d, or a date as 2026-11-23")
}

// pricesOf makes the list one that the statistics ask, which know no backends.
func pricesOf(prices price.List) stats.Price {
	return func(model string, input, cached, output int) (money float64, known bool) {
		p, known := prices.Of("", model)
		return float64(p.Cost(utp.Usage{Input: input - cached, CacheRead: cached, Output: output})) / float64(price.Unit), known
	}
}

// width is how many columns a table may have: COLUMNS, else those of the terminal.
func (a *app) width() int {
	if n, err := strconv.Atoi(a.env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return columns(a.out)
}

func (a *app) purgeCommand() *cobra.Command {
	var before string
	cmd := &cobra.Command{
		Use: "purge", Short: "Remove what was kept", Args: noWords,
		Long:    "Remove the figures that bx, bx serve and te have kept, and the content, where that was kept.",
		Example: "  bx stats purge\n  bx stats purge --before 30d",
		RunE: func(*cobra.Command, []string) error {
			var until time.Time
			var err error
			if before != "" {
				if until, err = sinceWhen(before, time.Now()); err != nil {
					return fail(exitUsage, "--before %s: %w", before, err)
				}
			}
			files, size := 0, int64(0)
			for _, dir := range []string{dirs.Events(), dirs.Content()} {
				n, bytes, err := journal.Purge(dir, until)
				if files, size = files+n, size+bytes; err != nil {
					return err
				}
			}
			if a.json {
				return view.JSON(a.out, map[string]any{"files": files, "bytes": size})
			}
			fmt.Fprintf(a.out, "removed %d files, %d bytes\n", files, size)
			return nil
		},
	}
	cmd.Flags().StringVar(&before, "before", "", "only what is of days before this `TIME`: 30d, or a date as 2026-11-23")
	return cmd
}
