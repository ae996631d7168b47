package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/doctor"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/settings"
	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

func (a *app) coachCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "coach", Short: "Say which form of tools works best for each model, and set it",
		Long: `What bx and bx serve have seen of each model, in each form of tools, and what to
change: another form, an alias for a name that the model invents. docs/coach.md says
what counts as success, and when a change is proposed.`,
		Args: noWords,
	}
	var yes bool
	report := &cobra.Command{
		Use: "report [MODEL …]", Short: "Say what to change and why, and change nothing",
		Example: "  bx coach report\n  bx coach report --json",
		RunE:    func(cmd *cobra.Command, models []string) error { return a.coachReport(cmd.Context(), models) },
	}
	apply := &cobra.Command{
		Use: "apply [MODEL …]", Short: "Write what the report proposes into bx.toml and serve.toml",
		Long: `Write what bx coach report proposes: a form as a profile of your bx.toml, or as the
tool_format of the route in serve.toml; an alias into bx.toml. You are asked first,
and --yes is a yes. bx coach undo takes it back.`,
		Example: "  bx coach apply\n  bx coach apply qwen2.5-coder --yes",
		RunE:    func(cmd *cobra.Command, models []string) error { return a.coachApply(cmd.Context(), models, yes) },
	}
	apply.Flags().BoolVarP(&yes, "yes", "y", false, "write without asking")
	undo := &cobra.Command{
		Use: "undo", Short: "Take back what bx coach apply has written last", Args: noWords,
		Long: "Give the files that bx coach apply has written last their former content again, byte\nfor byte. One that has changed since stays as it is and is named.",
		RunE: func(*cobra.Command, []string) error { return a.coachUndo() },
	}
	cmd.AddCommand(report, apply, undo)
	return cmd
}

// coached is what was seen, with what it comes to.
type coached struct {
	Models []learn.Model  `json:"models"`
	Advice []learn.Advice `json:"advice"`
}

// coach reads what was seen, of some models or of all.
func (j *job) coach(ctx context.Context, models []string) (coached, error) {
	var c learn.Coach
	if err := j.replies(ctx, time.Time{}, c.Add); err != nil {
		return coached{}, err
	}
	if dir, err := j.app.dataDir(j.set.Session.Storage); err == nil {
		for _, s := range doctor.States(dir) {
			for form, t := range s.Tallies() {
				c.Probed(s.Model, form, t)
			}
		}
	}
	out := coached{append([]learn.Model{}, c.Models()...), append([]learn.Advice{}, c.Advice()...)}
	if len(models) > 0 {
		known := func(name string) bool { return slices.Contains(models, name) }
		out.Models = slices.DeleteFunc(out.Models, func(m learn.Model) bool { return !known(m.Name) })
		out.Advice = slices.DeleteFunc(out.Advice, func(a learn.Advice) bool { return !known(a.Model) })
	}
	return out, nil
}

// coached begins a command of the coach.
func (a *app) coached(ctx context.Context, models []string) (*job, coached, error) {
	j, err := a.beginAnywhere()
	if err != nil {
		return nil, coached{}, err
	}
	c, err := j.coach(ctx, models)
	return j, c, err
}

func (a *app) coachReport(ctx context.Context, models []string) error {
	_, c, err := a.coached(ctx, models)
	if err != nil {
		return err
	}
	if a.json {
		return view.JSON(a.out, c)
	}
	a.printCoach(c)
	return nil
}

func (a *app) printCoach(c coached) {
	if len(c.Models) == 0 {
		fmt.Fprintln(a.out, "nothing was seen yet: bx and bx serve keep what comes of each reply that may call tools")
		return
	}
	for _, m := range c.Models {
		fmt.Fprintf(a.out, "%s\n", cells.Clean(seenAs(m.By, m.Backend, m.Name)))
		for _, f := range m.Forms {
			now := ""
			if f.Name == m.Form {
				now = "  (in use)"
			}
			fmt.Fprintf(a.out, "  %-15s %s good%s\n", cells.Clean(f.Name), f.Success, now)
		}
	}
	if len(c.Advice) == 0 {
		fmt.Fprintln(a.out, "\nnothing to change")
	}
	for _, one := range c.Advice {
		fmt.Fprintf(a.out, "\n%s: %s\n", cells.Clean(seenAs(one.By, one.Backend, one.Model)), cells.Clean(adviceWords(one)))
		for _, why := range one.Why {
			fmt.Fprintf(a.out, "  %s\n", cells.Clean(why))
		}
	}
}

func seenAs(by, backend, model string) string {
	if by == record.ByServe {
		return fmt.Sprintf("%s (bx serve, %s)", model, backend)
	}
	return model
}

func adviceWords(a learn.Advice) string {
	switch a.Kind {
	case learn.ChangeForm:
		return fmt.Sprintf("tell it of tools in %s in place of %s", a.To, a.From)
	case learn.AddAlias:
		return fmt.Sprintf("an alias: %s means %s", a.From, a.To)
	}
	return fmt.Sprintf("find out whether %s is better than %s: bx doctor --full --forms %s,%s %s", a.To, a.From, a.From, a.To, a.Model)
}

// aliasName is a name that may be written into a configuration, as it comes of a
// model.
var aliasName = regexp.MustCompile(`^[A-Za-z0-9_.:/-]{1,64}$`)

// writable is advice that apply can follow: aliases are bx's alone, as a gateway's
// tools are its clients'.
func writable(a learn.Advice) bool {
	return a.Kind == learn.ChangeForm || a.Kind == learn.AddAlias && a.By == record.ByBx && aliasName.MatchString(a.From)
}

func (a *app) coachApply(ctx context.Context, models []string, yes bool) error {
	j, c, err := a.coached(ctx, models)
	if err != nil {
		return err
	}
	todo := slices.DeleteFunc(slices.Clone(c.Advice), func(a learn.Advice) bool { return !writable(a) })
	if !a.json {
		a.printCoach(c)
		fmt.Fprintln(a.out)
	}
	if len(todo) == 0 {
		j.view.Line(view.Normal, "nothing to write")
		return nil
	}
	if !yes {
		yes, _ = a.yesNo(ctx, fmt.Sprintf("Write %d of these?", len(todo)))
	}
	if !yes {
		j.view.Line(view.Normal, "not written; bx coach apply --yes would write %d of these", len(todo))
		return nil
	}
	dir, err := j.app.dataDir(j.set.Session.Storage)
	if err != nil {
		return err
	}
	before, err := settings.Remember(filepath.Join(dirs.User(), "bx.toml"), j.serveFile())
	if err != nil {
		return err
	}
	var failed error
	for _, one := range todo {
		where, err := j.follow(one)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", seenAs(one.By, one.Backend, one.Model), err))
			continue
		}
		j.view.Line(view.Normal, "%s: %s: written into %s", seenAs(one.By, one.Backend, one.Model), adviceWords(one), where)
	}
	return errors.Join(failed, before.Keep(coachNotes(dir)))
}

func (j *job) serveFile() string { return filepath.Join(dirs.User(), "serve.toml") }

// follow writes an advice.
func (j *job) follow(a learn.Advice) (file string, err error) {
	file = filepath.Join(dirs.User(), "bx.toml")
	switch {
	case a.Kind == learn.AddAlias:
		return file, config.PutAlias(file, a.From, a.To, j.set.Dialects)
	case a.By == record.ByServe:
		return j.serveFile(), serving.PutForm(j.serveFile(), a.Backend, a.Model, a.To, j.set.Dialects, dialect.Try)
	}
	name, p := j.profileOf(a.Model)
	p.Tools = toldIn(p.Tools, a.To)
	return file + fmt.Sprintf("; use it with bx --profile %s", name), config.PutProfile(file, name, p, j.set.Dialects)
}

// profileOf is the profile for a model: the one in use, or the first of its name
// that is for this model, with its form alone, so that the rest of it stays; else
// a new one.
func (j *job) profileOf(model string) (string, config.Profile) {
	names := []string{j.set.Profile}
	for name := range j.cfg.Profiles {
		names = append(names, name)
	}
	slices.Sort(names[1:])
	for _, name := range names {
		if p, ok := j.cfg.Profiles[name]; ok && p.Model == model {
			return name, config.Profile{Tools: p.Tools}
		}
	}
	name := profileName(model)
	if _, taken := j.cfg.Profiles[name]; taken {
		name += "-coach"
	}
	return name, config.Profile{Model: model}
}

// coachNotes is where it is kept what bx coach apply has written.
func coachNotes(dir string) string { return filepath.Join(dir, "coach") }

func (a *app) coachUndo() error {
	j, err := a.beginAnywhere()
	if err != nil {
		return err
	}
	dir, err := a.dataDir(j.set.Session.Storage)
	if err != nil {
		return err
	}
	files, changed, err := settings.TakeBack(coachNotes(dir))
	if errors.Is(err, settings.ErrNothing) {
		return fail(exitError, "bx coach apply has written nothing that could be taken back")
	}
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fail(exitError, "%s: changed since bx coach apply wrote it: take the lines out by hand", strings.Join(changed, ", "))
	}
	for _, f := range files {
		j.view.Line(view.Normal, "%s is as it was", f)
	}
	return nil
}
