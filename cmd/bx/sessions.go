package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/store"
)

// shownSessions is how many -l and bx sessions list show.
const shownSessions = 10

func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "List, show, search, remove, export and fork sessions", Args: noWords,
		Long: `A session is the log of a question and of those that went on from it: every
question, answer, call and result, also of a turn that broke off. Sessions belong
to the repository that they were asked in.`,
		Example: "  bx sessions list\n  bx sessions show 183fa43d\n  bx sessions search \"tool calls\"\n  bx -s 183fa43d \"And who calls it?\"",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.listSessions(cmd.Context(), shownSessions, false) },
	}
	cmd.AddCommand(a.sessionsList(), a.sessionsShow(), a.sessionsSearch(), a.sessionsRemove(), a.sessionsExport(), a.sessionsFork())
	return cmd
}

func (a *app) sessionsList() *cobra.Command {
	n, all := 0, false
	cmd := &cobra.Command{Use: "list", Short: "List the sessions of this repository, the latest first", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listSessions(cmd.Context(), n, all) }}
	cmd.Flags().IntVar(&n, "limit", shownSessions, "list `N` at most")
	cmd.Flags().BoolVar(&all, "all", false, "of every repository")
	return cmd
}

func (a *app) sessionsShow() *cobra.Command {
	return &cobra.Command{Use: "show [ID]", Short: "Print a session, the last one without an ID; -v prints thinking and whole results",
		Args: cobra.MaximumNArgs(1), RunE: func(cmd *cobra.Command, ids []string) error {
			return a.withSession(cmd.Context(), ids, func(ctx context.Context, db *store.DB, s *store.Session) error {
				log, err := s.Entries(ctx)
				switch {
				case err != nil:
					return err
				case a.json:
					return view.JSON(a.out, log)
				}
				view.Transcript(a.out, log, a.verbose)
				return nil
			})
		}}
}

func (a *app) sessionsSearch() *cobra.Command {
	all := false
	cmd := &cobra.Command{Use: "search TEXT", Short: "Find sessions by what was asked, answered or read in them", Args: exactly(1, "the text to find"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.withStore(cmd.Context(), func(ctx context.Context, j *job, db *store.DB) error {
				hits, err := db.Search(ctx, j.scope(all), words[0], 50)
				switch {
				case err != nil:
					return err
				case a.json:
					return view.JSON(a.out, append([]store.Hit{}, hits...))
				}
				view.Hits(a.out, hits, words[0])
				return nil
			})
		}}
	cmd.Flags().BoolVar(&all, "all", false, "in the sessions of every repository")
	return cmd
}

func (a *app) sessionsRemove() *cobra.Command {
	all := false
	cmd := &cobra.Command{Use: "rm ID…", Short: "Remove sessions for good",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if len(ids) == 0 && !all {
				return fail(exitUsage, "bx sessions rm wants the IDs of sessions, or --all")
			}
			return a.withStore(cmd.Context(), func(ctx context.Context, j *job, db *store.DB) error { return j.remove(ctx, db, ids, all) })
		}}
	cmd.Flags().BoolVar(&all, "all", false, "remove all sessions of this repository")
	return cmd
}

// remove looks for all of the sessions before it removes the first.
func (j *job) remove(ctx context.Context, db *store.DB, ids []string, all bool) error {
	if all {
		list, err := db.List(ctx, j.root, 1<<30)
		if err != nil {
			return err
		}
		for _, s := range list {
			ids = append(ids, s.ID)
		}
	}
	var found []*store.Session
	for _, id := range ids {
		s, err := getSession(ctx, db, id)
		if err != nil {
			return err
		}
		found = append(found, s)
	}
	for _, s := range found {
		if err := db.Delete(ctx, s); err != nil {
			return err
		}
	}
	j.view.Line(view.Normal, "removed %s", view.Count(len(found), "session"))
	return nil
}

func (a *app) sessionsExport() *cobra.Command {
	markdown := false
	cmd := &cobra.Command{Use: "export [ID]", Short: "Print a session as the events of docs/events.md, or as Markdown", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.withSession(cmd.Context(), ids, func(ctx context.Context, db *store.DB, s *store.Session) error {
				log, err := s.Entries(ctx)
				if err != nil {
					return err
				}
				if markdown {
					view.Markdown(a.out, s.Info, log)
					return nil
				}
				for _, e := range log {
					if err := view.Entry(a.out, s.ID, e); err != nil {
						return err
					}
				}
				return nil
			})
		}}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "for people: questions, answers and calls")
	return cmd
}

func (a *app) sessionsFork() *cobra.Command {
	return &cobra.Command{Use: "fork ID [N]", Short: "Copy a session, up to its entry N, and go on in the copy", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 0
			if len(args) == 2 {
				var err error
				if n, err = strconv.Atoi(args[1]); err != nil || n < 1 {
					return fail(exitUsage, "bx sessions fork: %q is no number of an entry", args[1])
				}
			}
			return a.withSession(cmd.Context(), args[:1], func(ctx context.Context, db *store.DB, s *store.Session) error {
				fork, err := db.Fork(ctx, s, n)
				switch {
				case err != nil:
					return err
				case a.json:
					return view.JSON(a.out, fork.Info)
				}
				a.say("session", "%s", fork.ID)
				a.say("goes on", "bx -s %s \"question\"", fork.ID)
				return nil
			})
		}}
}

// scope is the repository whose sessions are meant; "" is all.
func (j *job) scope(all bool) string {
	if all {
		return ""
	}
	return j.root
}

func (a *app) listSessions(ctx context.Context, n int, all bool) error {
	return a.withStore(ctx, func(ctx context.Context, j *job, db *store.DB) error {
		list, err := db.List(ctx, j.scope(all), n)
		switch {
		case err != nil:
			return err
		case a.json:
			return view.JSON(a.out, append([]store.Info{}, list...))
		}
		view.Sessions(a.out, list, j.scope(all))
		return nil
	})
}

// withStore runs f on the sessions.
func (a *app) withStore(ctx context.Context, f func(context.Context, *job, *store.DB) error) error {
	j, err := a.beginAnywhere()
	if err != nil {
		return err
	}
	db, err := j.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	return f(ctx, j, db)
}

// withSession runs f on the session of an id, or on the repository's last.
func (a *app) withSession(ctx context.Context, ids []string, f func(context.Context, *store.DB, *store.Session) error) error {
	return a.withStore(ctx, func(ctx context.Context, j *job, db *store.DB) error {
		if len(ids) > 0 {
			a.session = ids[0]
		}
		s, err := j.pick(ctx, db)
		if err != nil {
			return err
		}
		return f(ctx, db, s)
	})
}

// exactly refuses another number of words than n; want says what they are.
func exactly(n int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, words []string) error {
		if len(words) == n {
			return nil
		}
		return fail(exitUsage, "%s wants %s, in quotes", cmd.CommandPath(), want)
	}
}
