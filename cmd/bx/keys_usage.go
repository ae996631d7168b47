package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/keys"
	"github.com/unifiedtoolprotocol/utp/fleet"
)

// span is a range of time. Dates are in UTC, as for budgets.
type span struct{ since, before string }

func (s *span) add(to *pflag.FlagSet, since string) {
	to.StringVar(&s.since, "since", since, "from this `TIME` on: 12h, 30d or a date, which begins by UTC")
	to.StringVar(&s.before, "before", "", "only what is before this `TIME`")
}

func (s *span) bounds() (since, before time.Time, err error) {
	now := time.Now().UTC()
	for _, of := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", s.since, &since}, {"before", s.before, &before}} {
		if of.text == "" {
			continue
		}
		if *of.to, err = sinceWhen(of.text, now); err != nil {
			return since, before, fail(exitUsage, "--%s %s: %w", of.flag, of.text, err)
		}
	}
	return since, before, nil
}

func (a *app) keysUsage(file *string) *cobra.Command {
	var when span
	var team, model, by string
	var asCSV, unsettled bool
	cmd := &cobra.Command{Use: "usage [NAME]", Short: "Say what keys and teams have spent, by key, team, model, day or month", Args: cobra.MaximumNArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		ctx := cmd.Context()
		since, before, err := when.bounds()
		if err != nil {
			return err
		}
		sums, err := keys.Bys(by)
		if err != nil {
			return fail(exitUsage, "--%w", err)
		}
		return a.desk(ctx, *file, func(d *keys.Desk) error {
			q, of, err := d.Spender(ctx, strings.Join(names, ""), team)
			if err != nil {
				return err
			}
			if q.Since, q.Before, q.Model = since, before, model; unsettled {
				q.Endings = []fleet.Ending{fleet.Unsettled, fleet.Estimated, fleet.Open}
			}
			switch {
			case a.json:
				return d.JSON(ctx, a.out, q, sums)
			case asCSV:
				return d.CSV(ctx, a.out, q, sums)
			}
			return a.usageTable(ctx, d, q, sums, of)
		})
	}
	when.add(cmd.Flags(), "30d")
	cmd.Flags().StringVar(&team, "team", "", "only what the keys of this `TEAM` have spent")
	cmd.Flags().StringVar(&model, "model", "", "only what this `MODEL` has cost: a name or a glob")
	cmd.Flags().StringVar(&by, "by", "", "add up `BY` key, team, model, backend, day, month and ending: team,model")
	cmd.Flags().BoolVar(&asCSV, "csv", false, "as CSV: a line per request, or with --by a line per sum")
	cmd.Flags().BoolVar(&unsettled, "unsettled", false, "only what was estimated, charged in full, or is open")
	return cmd
}

// usageTable prints sums, and what is left of the budgets of one key or team. Open
// requests count with the most that they can cost.
func (a *app) usageTable(ctx context.Context, d *keys.Desk, q fleet.Query, by []fleet.By, of *fleet.Key) error {
	if len(by) == 0 {
		by = []fleet.By{fleet.ByKey, fleet.ByEnding}
	}
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, b := range by {
		fmt.Fprintf(t, "%s\t", b)
	}
	fmt.Fprintln(t, "requests\ttokens\tmoney")
	if err := d.Books.Sums(ctx, q, by, func(s fleet.Sum) error {
		for _, text := range s.Of {
			fmt.Fprintf(t, "%s\t", cmp.Or(text, "-"))
		}
		_, err := fmt.Fprintf(t, "%d\t%d\t%s\n", s.Requests, s.Amount.Tokens+s.Reserved.Tokens, s.Amount.Money+s.Reserved.Money)
		return err
	}); err != nil {
		return err
	}
	if err := t.Flush(); err != nil || of == nil {
		return err
	}
	now, err := d.Windows(ctx, of)
	for _, w := range now {
		if text := left(w); text != "" {
			fmt.Fprintf(a.out, "%s %s, this %s: %s\n", w.Subject.Kind, w.Subject.Name, w.Per, text)
		}
	}
	return err
}

// left returns how much of a budget is used, "" if there is none. It leaves out requests
// per minute, a rate that the ledger does not count.
func left(w fleet.Spent) string {
	var out []string
	say := func(unit string, bounded bool, used, limit, reserved any) {
		if bounded {
			out = append(out, fmt.Sprintf("%v of %v %s (%v reserved)", used, limit, unit, reserved))
		}
	}
	say("money", w.Limit.Money > 0, w.Settled.Money, w.Limit.Money, w.Reserved.Money)
	say("tokens", w.Limit.Tokens > 0, w.Settled.Tokens, w.Limit.Tokens, w.Reserved.Tokens)
	say("requests", w.Limit.Requests > 0 && w.Per != fleet.Minute, w.Settled.Requests, w.Limit.Requests, w.Reserved.Requests)
	return strings.Join(out, ", ")
}

func (a *app) keysAudit(file *string) *cobra.Command {
	var when span
	cmd := &cobra.Command{Use: "audit [NAME]", Short: "Say who has changed what, of a key or a team or of all", Args: cobra.MaximumNArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		since, before, err := when.bounds()
		if err != nil {
			return err
		}
		return a.desk(cmd.Context(), *file, func(d *keys.Desk) error {
			return d.Audit(cmd.Context(), strings.Join(names, ""), since, before, func(act fleet.Act) error {
				if a.json {
					return json.NewEncoder(a.out).Encode(act)
				}
				_, err := fmt.Fprintf(a.out, "%s  %s  %s  %s  %s\n", act.At.Format(time.RFC3339), act.By, act.What, act.On, act.How)
				return err
			})
		})
	}
	when.add(cmd.Flags(), "")
	return cmd
}
