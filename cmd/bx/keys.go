package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/keys"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/fleet"
)

func (a *app) keysCommand() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use: "keys", Short: "Create, list, change and delete the keys of bx serve, and say what they have spent", Args: noWords,
		Long: `Administer the keys, teams and budgets in the ledger that serve.toml names. A change
is in force in every replica within 5 seconds. docs/operate.md tells more.`,
		Example: "  bx keys create ci --money day=5,month=50 --models 'qwen*'\n  bx keys list\n  bx keys rotate ci --grace 24h\n  bx keys usage --team dev --by month,model --since 2026-11-01 --csv",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.keysList(cmd.Context(), file) },
	}
	cmd.PersistentFlags().StringVar(&file, "file", "", "the `FILE` of bx serve (default: serve.toml beside the user's bx.toml)")
	one := func(use, short string, run func(ctx context.Context, d *keys.Desk, name string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: exactly(1, "the name of the key"), RunE: func(cmd *cobra.Command, names []string) error {
			return a.desk(cmd.Context(), file, func(d *keys.Desk) error { return run(cmd.Context(), d, names[0]) })
		}}
	}
	list := &cobra.Command{Use: "list", Short: "List the keys with their limits; never the keys themselves", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.keysList(cmd.Context(), file) }}
	yes, no := true, false
	set := func(use, short string, c keys.Change) *cobra.Command {
		return one(use, short, func(ctx context.Context, d *keys.Desk, name string) error { return a.keySet(ctx, d, name, c) })
	}
	cmd.AddCommand(a.keysCreate(&file), list, a.keysLimit(&file), a.keysRotate(one), a.keysExpire(&file),
		set("disable NAME", "Refuse a key until it is enabled again", keys.Change{Disabled: &yes}), set("enable NAME", "Let a disabled key in again", keys.Change{Disabled: &no}),
		a.keysDelete(one), a.keysUsage(&file), a.keysAudit(&file), a.keysTeam(&file))
	return cmd
}

// desk opens the ledger for one piece of work.
func (a *app) desk(ctx context.Context, file string, do func(*keys.Desk) error) error {
	s, err := a.books(ctx, file)
	if err != nil {
		return err
	}
	defer s.common.close()
	err = do(s.common.desk(cmp.Or(a.env("USER"), "bx keys")))
	name, input := (*keys.NameError)(nil), (*keys.InputError)(nil)
	if errors.As(err, &name) || errors.As(err, &input) {
		return fail(exitUsage, "%w", err)
	}
	return err
}

func (c common) desk(by string) *keys.Desk {
	return &keys.Desk{Books: c.ledger, State: c.state, NewID: rand.Text, NewKey: newKeyText, Now: time.Now, By: by}
}

// admin returns the handler of the administration over HTTP.
func (c common) admin(hash fleet.Hash, log *slog.Logger) http.Handler {
	d := c.desk("admin")
	d.Log = log
	return d.Handler(hash)
}

// limitFlags are the flags that set limits.
type limitFlags struct {
	money, tokens, requests string
	models                  []string
	parallel                int
	team, expires           string
}

func (f *limitFlags) add(to *pflag.FlagSet) {
	to.StringVar(&f.money, "money", "", "at most this `PER=AMOUNT` of money: day=5,month=50; 0 is no limit")
	to.StringVar(&f.tokens, "tokens", "", "at most these `PER=N` tokens: minute=100000,day=2000000")
	to.StringVar(&f.requests, "requests", "", "at most these `PER=N` requests: minute=60,day=1000")
	to.StringSliceVar(&f.models, "models", nil, "only these `MODELS`, by names or globs")
	to.IntVar(&f.parallel, "parallel", 0, "at most `N` requests at once")
}

// change returns the change that the given flags make.
func (f *limitFlags) change(given *pflag.FlagSet) (c keys.Change, err error) {
	c.Amounts = map[string]string{}
	for unit, text := range map[string]string{"money": f.money, "tokens": f.tokens, "requests": f.requests} {
		if given.Changed(unit) {
			c.Amounts[unit] = text
		}
	}
	if given.Changed("models") {
		c.Models = &f.models
	}
	if given.Changed("parallel") {
		c.Parallel = &f.parallel
	}
	if given.Changed("team") {
		c.Team = &f.team
	}
	if given.Changed("expires") {
		at, err := untilWhen(f.expires, time.Now())
		if err != nil {
			return c, fail(exitUsage, "--expires: %w", err)
		}
		c.Expires = &at
	}
	return c, nil
}

// changes is change, with an error if no flag was given.
func (f *limitFlags) changes(given *pflag.FlagSet) (keys.Change, error) {
	c, err := f.change(given)
	if err == nil && len(c.Amounts) == 0 && c.Models == nil && c.Parallel == nil && c.Team == nil {
		err = fail(exitUsage, "want what is to change: --money, --tokens, --requests, --models, --parallel, for a key --team")
	}
	return c, err
}

// untilWhen reads a time in the future: "30d", "12h", a date, or "never".
func untilWhen(s string, now time.Time) (time.Time, error) {
	if s == "never" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("want a time as 12h or 30d, a date as 2026-12-31, or never")
}

func (a *app) keysCreate(file *string) *cobra.Command {
	var f limitFlags
	cmd := &cobra.Command{Use: "create NAME", Short: "Make a key and print it; it is not kept", Args: exactly(1, "the name of the key")}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		return a.desk(cmd.Context(), *file, func(d *keys.Desk) error {
			c, err := f.change(cmd.Flags())
			if err != nil {
				return err
			}
			k, secret, err := d.Create(cmd.Context(), names[0], c)
			if err != nil {
				return err
			}
			return a.tellSecret(k.Name, k.ID, secret)
		})
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.team, "team", "", "the key belongs to this `TEAM`, whose limits hold, too")
	cmd.Flags().StringVar(&f.expires, "expires", "", "good until this `TIME`: 30d, 12h or a date")
	return cmd
}

// tellSecret prints a key, once.
func (a *app) tellSecret(name, id, secret string) error {
	if a.json {
		return view.JSON(a.out, map[string]string{"name": name, "id": id, "secret": secret})
	}
	fmt.Fprintln(a.out, secret)
	fmt.Fprintf(a.err, "Give the key to %s; it is not kept.\n", name)
	return nil
}

func (a *app) keysLimit(file *string) *cobra.Command {
	var f limitFlags
	cmd := &cobra.Command{Use: "limit NAME", Short: "Change what a key may do; everything else stays as it is", Args: exactly(1, "the name of the key")}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		c, err := f.changes(cmd.Flags())
		if err != nil {
			return err
		}
		return a.desk(cmd.Context(), *file, func(d *keys.Desk) error { return a.keySet(cmd.Context(), d, names[0], c) })
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.team, "team", "", "put it into this `TEAM`; \"\": out of its team")
	return cmd
}

func (a *app) keySet(ctx context.Context, d *keys.Desk, name string, c keys.Change) error {
	k, err := d.Set(ctx, name, c)
	if err != nil {
		return err
	}
	return a.keyTable([]fleet.Key{*k})
}

func (a *app) keysExpire(file *string) *cobra.Command {
	return &cobra.Command{Use: "expire NAME TIME", Short: "Set the end of a key: 30d, 12h, a date, or never", Args: exactly(2, "the name of the key and a time"),
		RunE: func(cmd *cobra.Command, words []string) error {
			at, err := untilWhen(words[1], time.Now())
			if err != nil {
				return fail(exitUsage, "%w", err)
			}
			return a.desk(cmd.Context(), *file, func(d *keys.Desk) error { return a.keySet(cmd.Context(), d, words[0], keys.Change{Expires: &at}) })
		}}
}

// oneKey makes a command about one key.
type oneKey func(use, short string, run func(ctx context.Context, d *keys.Desk, name string) error) *cobra.Command

func (a *app) keysRotate(one oneKey) *cobra.Command {
	text := ""
	cmd := one("rotate NAME", "Print another key in place of one; its conversations and what it has spent stay its own", func(ctx context.Context, d *keys.Desk, name string) error {
		grace, err := keys.Grace(text)
		if err != nil {
			return err
		}
		secret, err := d.Rotate(ctx, name, grace)
		if err != nil {
			return err
		}
		return a.tellSecret(name, "", secret)
	})
	cmd.Flags().StringVar(&text, "grace", "", "how long the old one stays valid, a `TIME` such as 24h or 30d")
	return cmd
}

func (a *app) keysDelete(one oneKey) *cobra.Command {
	purge := false
	cmd := one("delete NAME", "Delete a key; what it has spent stays in the ledger", func(ctx context.Context, d *keys.Desk, name string) error {
		return d.Delete(ctx, name, purge)
	})
	cmd.Flags().BoolVar(&purge, "purge", false, "and what is kept of its conversations")
	return cmd
}

func (a *app) keysList(ctx context.Context, file string) error {
	return a.desk(ctx, file, func(d *keys.Desk) error {
		all, err := d.Books.Keys(ctx)
		if err != nil {
			return err
		}
		return a.keyTable(all)
	})
}

func (a *app) keyTable(all []fleet.Key) error {
	if a.json {
		return view.JSON(a.out, all)
	}
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, k := range all {
		state, team := "", ""
		if state = k.Why(time.Now()); state == "" && !k.Expires.IsZero() {
			state = "until " + day(k.Expires.UTC())
		}
		if k.Team != nil {
			team = "team " + k.Team.Name + " (" + cmp.Or(keys.Words(k.Team.Limits), "no limits") + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", k.Name, cmp.Or(keys.Words(k.Limits), "no limits"), team, state)
	}
	return t.Flush()
}

// day formats a time as a date, with the time of day unless that is midnight.
func day(at time.Time) string {
	if at.Equal(fleet.Day.Start(at)) {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04Z07:00")
}

func (a *app) keysTeam(file *string) *cobra.Command {
	cmd := &cobra.Command{Use: "team", Short: "Create, list, change and delete teams, whose keys share limits", Args: noWords}
	list := &cobra.Command{Use: "list", Short: "List the teams with their limits", Args: noWords, RunE: func(cmd *cobra.Command, _ []string) error {
		return a.desk(cmd.Context(), *file, func(d *keys.Desk) error {
			all, err := d.Books.Teams(cmd.Context())
			if err != nil {
				return err
			}
			return a.teamTable(all)
		})
	}}
	with := func(use, short string, read func(*limitFlags, *pflag.FlagSet) (keys.Change, error), do func(ctx context.Context, d *keys.Desk, name string, c keys.Change) (fleet.Team, error)) *cobra.Command {
		var f limitFlags
		c := &cobra.Command{Use: use, Short: short, Args: exactly(1, "the name of the team")}
		c.RunE = func(cmd *cobra.Command, names []string) error {
			change, err := read(&f, cmd.Flags())
			if err != nil {
				return err
			}
			return a.desk(cmd.Context(), *file, func(d *keys.Desk) error {
				t, err := do(cmd.Context(), d, names[0], change)
				if err != nil {
					return err
				}
				return a.teamTable([]fleet.Team{t})
			})
		}
		f.add(c.Flags())
		return c
	}
	create := with("create NAME", "Make a team", (*limitFlags).change, func(ctx context.Context, d *keys.Desk, name string, c keys.Change) (fleet.Team, error) {
		return d.CreateTeam(ctx, name, c)
	})
	limit := with("limit NAME", "Change what the keys of a team may do together; everything else stays as it is", (*limitFlags).changes, func(ctx context.Context, d *keys.Desk, name string, c keys.Change) (fleet.Team, error) {
		return d.SetTeam(ctx, name, c)
	})
	remove := &cobra.Command{Use: "delete NAME", Short: "Delete a team without keys", Args: exactly(1, "the name of the team"), RunE: func(cmd *cobra.Command, names []string) error {
		return a.desk(cmd.Context(), *file, func(d *keys.Desk) error { return d.DeleteTeam(cmd.Context(), names[0]) })
	}}
	cmd.RunE = list.RunE
	cmd.AddCommand(create, list, limit, remove)
	return cmd
}

func (a *app) teamTable(all []fleet.Team) error {
	if a.json {
		return view.JSON(a.out, all)
	}
	for _, t := range all {
		fmt.Fprintf(a.out, "%s  %s\n", t.Name, cmp.Or(keys.Words(t.Limits), "no limits"))
	}
	return nil
}
