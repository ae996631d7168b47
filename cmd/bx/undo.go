package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/tool"
	"github.com/unifiedtoolprotocol/utp/undo"
)

func (a *app) undoCommand() *cobra.Command {
	var force, list bool
	cmd := &cobra.Command{
		Use: "undo", Short: "Take back what the last question changed", Args: noWords,
		Long: `Take back what the last question changed in this repository: files get their former
content again, files that it made are removed. Once more takes back the question
before. A file that somebody else has changed since stays as it is and is named;
--force restores it too. bx redo does it again, until the next change.`,
		Example: "  bx undo --list\n  bx undo",
		RunE: func(*cobra.Command, []string) error {
			if list {
				return a.listTurns()
			}
			return a.withUndo(func(j *job, s *undo.Store) error {
				return j.turnBack(s, "undo", func(s *undo.Store) (undo.Report, error) { return s.Undo(force) })
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "restore files that somebody else has changed since, too")
	cmd.Flags().BoolVar(&list, "list", false, "list what can be taken back, the latest first")
	return cmd
}

func (a *app) redoCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "redo", Short: "Do again what bx undo took back", Args: noWords,
		RunE: func(*cobra.Command, []string) error {
			return a.withUndo(func(j *job, s *undo.Store) error {
				return j.turnBack(s, "redo", func(s *undo.Store) (undo.Report, error) { return s.Redo(force) })
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that somebody else has changed since, too")
	return cmd
}

// withUndo runs f on what was kept of this repository.
func (a *app) withUndo(f func(*job, *undo.Store) error) error {
	return a.withTools(func(j *job, tools *tool.Set) error {
		s, err := tools.Undo()
		if s == nil {
			return fmt.Errorf("nothing is kept of what files held before: %w", err)
		}
		return f(j, s)
	})
}

func (j *job) turnBack(s *undo.Store, what string, run func(*undo.Store) (undo.Report, error)) error {
	r, err := run(s)
	var busy *undo.Busy
	switch {
	case errors.Is(err, undo.ErrNothing):
		return fail(exitError, "there is nothing to %s in this repository", what)
	case errors.As(err, &busy):
		return fail(exitError, "%v: wait until it has ended", busy)
	case err != nil:
		return err
	}
	if j.app.json {
		err = view.JSON(j.app.out, r)
	} else {
		view.TurnedBack(j.app.out, r)
	}
	if err == nil && len(r.Left) > 0 {
		j.view.Warn("changed since by somebody else, and left as it is: %s (--force overwrites it)", strings.Join(r.Left, ", "))
	}
	return errors.Join(err, s.Tell(fmt.Sprintf("The user ran bx %s: %s", what, r)))
}

func (a *app) listTurns() error {
	return a.withUndo(func(_ *job, s *undo.Store) error {
		turns, err := s.List()
		switch {
		case err != nil:
			return err
		case a.json:
			return view.JSON(a.out, turns)
		}
		view.Turns(a.out, turns, time.Now())
		return nil
	})
}

// tellUndone lets the model know what the user took back since its last turn.
func (j *job) tellUndone() {
	s, err := j.tools.Undo()
	if err != nil {
		j.view.Warn("what is changed cannot be taken back with bx undo: %v", err)
	}
	if s == nil {
		return
	}
	if news := s.News(); news != "" {
		j.set.Extra = strings.TrimSpace(j.set.Extra + "\n\n" + news)
	}
}
