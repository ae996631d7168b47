package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/line"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/tool"
)

func (a *app) chatCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "chat", Short: "Ask one question after the other, as bx without a question does on a terminal", Args: noWords,
		Long: `Ask questions one after the other, in one session.

A line that ends in a backslash goes on, as does text between lines of ` + "```" + `, and
pasted text is never sent by what is in it. @FILE adds a file of the repository to
the question, !COMMAND runs a command of yours. Ctrl-C stops an answer and keeps
what there is of it; twice it leaves, as Ctrl-D does.

From a pipe each line is a question. The commands:

` + "  " + strings.TrimSpace(strings.ReplaceAll(commandTable(0), "\n", "\n  ")),
		Example: "  bx chat\n  bx chat --continue\n  bx chat < questions.txt",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.chat(cmd.Context()) },
	}
	a.sessionFlags(cmd.Flags())
	a.turnFlags(cmd.Flags())
	return cmd
}

// talks reports that bx was started for a conversation: without a question, and
// with a person before it.
func (a *app) talks() bool {
	return isTerminal(a.in) && isTerminal(a.out) && !a.json && !a.streams() && !a.dryRun
}

// chat is bx chat, and bx without a question.
func (a *app) chat(ctx context.Context) error {
	if err := a.conflicts(); err != nil {
		return err
	}
	if a.json || a.streams() {
		return fail(exitUsage, "a conversation prints text; for JSON ask one question: bx --json \"question\"")
	}
	return a.withTools(func(j *job, _ *tool.Set) error {
		t := &talk{job: j, set: j.set, left: make(chan os.Signal, 4)}
		j.talk = t
		if err := t.open(ctx); err != nil {
			return err
		}
		defer t.close()
		return t.run(ctx)
	})
}

// talk is a conversation: questions one after the other.
type talk struct {
	*job
	set      config.Settings // of the job before a question changed them
	terminal *line.Terminal  // nil: lines are read as they come
	editor   *line.Editor    // with a terminal
	plain    *line.Plain     // without one
	history  *line.History
	left     chan os.Signal // Ctrl-C, while an answer or a command is under way
	busy     atomic.Bool    // it is

	conn    *connection // nil: not looked for yet, or search alone
	looking chan looked // of the search that began with the conversation; nil: it is over
	failing bool        // the last connection could not be made
	told    []string    // which models were told last

	session string   // "": nothing was kept yet
	ran     []string // what the user's commands printed, for the next question

	inputs          int // that were asked for
	turns, requests int
	usage           utp.Usage
	tokens, window  int   // of the last request
	failed          error // of the last question
	hinted          bool  // how to leave was said just before
}

// looked is what looking for a model came to.
type looked struct {
	conn *connection
	err  error
	by   *job // whose printer the connection warns by
}

// open prepares what is needed before the first line: the terminal, the history,
// the session to go on with.
func (t *talk) open(ctx context.Context) error {
	known := append(t.job.tools.Tools(), agent.RequestTools())
	t.known = schema.CompileWith(known, schema.Options{Aliases: append(agent.RequestAliases(), t.set.Aliases...)})
	signal.Reset(os.Interrupt) // it stops an answer, not the program
	signal.Notify(t.left, os.Interrupt)
	t.view.Line(view.Normal, "bx %s in %s: /help lists the commands, Ctrl-D leaves", build.Version(), filepath.Base(t.root))
	var err error
	if t.history, err = line.OpenHistory(t.historyFile()); err != nil {
		t.view.Warn("the history of what you type cannot be read: %v", err)
	}
	t.sit()
	if t.app.team == "" && isTerminal(t.app.in) {
		t.look(ctx)
	}
	return t.take(ctx)
}

// sit takes over the terminal, where there is one that can be edited on.
func (t *talk) sit() {
	a := t.app
	prompts := io.Writer(nil)
	if isTerminal(a.in) && isTerminal(a.err) {
		prompts = a.err
	}
	t.plain = &line.Plain{In: a.in, Out: prompts, Prompt: "> ", More: ". "}
	if !isTerminal(a.in) || !isTerminal(a.out) || a.env("TERM") == "dumb" {
		return
	}
	terminal, err := line.Open(a.in)
	if err != nil {
		return
	}
	t.terminal = terminal
	t.editor = &line.Editor{Terminal: terminal, Out: a.out, Prompt: "> ", More: ". ", Color: a.colors(), History: t.history,
		Complete: t.complete, Edit: t.inEditor}
	a.asks = t.editor.Ask
}

func (t *talk) close() {
	signal.Stop(t.left)
	t.job.servers.close()
	if t.terminal != nil {
		_ = t.terminal.Close()
	}
}

// look begins to look for a model, so that the first prompt needs not wait.
func (t *talk) look(ctx context.Context) {
	if t.editor == nil {
		if _, err := t.connection(ctx); err != nil {
			t.view.Warn("%v", err)
		}
		return
	}
	of := *t.job
	of.view = &view.Printer{Out: io.Discard, Err: above{t}, Level: t.view.Level}
	t.looking = make(chan looked, 1)
	go func() {
		c, err := of.choose(ctx)
		if err == nil && of.view.Level >= view.Normal {
			fmt.Fprintln(above{t}, cells.Clean(c.why))
		}
		t.looking <- looked{c, err, &of}
	}()
}

// above prints lines above the one that is being edited, or is next.
type above struct{ t *talk }

func (w above) Write(b []byte) (int, error) {
	if w.t.busy.Load() {
		return w.t.view.Err.Write(b)
	}
	w.t.editor.Notice(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// connection is the model that answers in this conversation. One that only
// searches is no answer for good: a server may have been started since.
func (t *talk) connection(ctx context.Context) (*connection, error) {
	if t.conn != nil {
		return t.conn, nil
	}
	var found looked
	if t.looking != nil {
		t.view.Progress.Busy("looking for a model")
		select {
		case found = <-t.looking:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		t.view.Progress.Busy("")
		t.looking, found.by.view = nil, t.view
		if found.err == nil {
			t.news(found.conn.why)
		}
		for _, text := range t.editor.Pending() {
			t.view.Line(view.Normal, "%s", text)
		}
	} else {
		found.conn, found.err = t.choose(ctx)
	}
	if t.failing = found.err != nil; t.failing {
		return nil, found.err
	}
	if t.news(found.conn.why) {
		t.view.Line(view.Normal, "%s", found.conn.why)
	}
	if found.conn.client != nil {
		t.conn = found.conn
	}
	return found.conn, nil
}

// news reports that it was not said before who answers. A question alone is always
// told.
func (t *talk) news(why string) bool {
	switch {
	case t == nil:
		return true
	case slices.Contains(t.told, why):
		return false
	case t.app.team == "": // another one was told in between
		t.told = nil
	}
	t.told = append(t.told, why)
	return true
}

// run reads and answers until the user leaves.
func (t *talk) run(ctx context.Context) error {
	for {
		text, err := t.read(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return t.bye()
		case errors.Is(err, line.ErrInterrupted) && t.hinted:
			t.goodbye()
			return &coded{exitInterrupted, errSaid}
		case errors.Is(err, line.ErrInterrupted):
			t.hinted = true
			t.view.Line(view.Normal, "Ctrl-C again leaves, as Ctrl-D does")
			continue
		case err != nil:
			return err
		}
		t.hinted = false
		if t.editor != nil {
			if err := t.history.Add(text); err != nil {
				t.view.Warn("the history of what you type cannot be written: %v", err)
			}
		}
		if leave := t.stoppable(ctx, text); leave {
			return t.bye()
		}
	}
}

// read reads what the user types next.
func (t *talk) read(ctx context.Context) (string, error) {
	t.view.Progress.Busy("")
	if t.inputs++; t.inputs > 1 && isTerminal(t.app.in) {
		fmt.Fprintln(t.view.Out)
	}
	if t.editor == nil {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		interrupted := make(chan bool, 1)
		go func() {
			select {
			case <-t.left:
				interrupted <- true
				stop()
			case <-ctx.Done():
			}
		}()
		text, err := t.plain.Read(ctx)
		if err != nil && isTerminal(t.app.in) {
			fmt.Fprintln(t.view.Out)
		}
		if len(interrupted) > 0 {
			return "", line.ErrInterrupted
		}
		return text, err
	}
	defer t.busy.Store(true)
	t.busy.Store(false)
	return t.editor.Read(ctx)
}

// stoppable does what the user typed. Ctrl-C stops it; once more, the program.
func (t *talk) stoppable(ctx context.Context, text string) (leave bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan bool)
	defer close(over)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-t.left:
				if n > 0 {
					t.close()
					fmt.Fprintln(t.app.err, "\nbx: interrupted")
					os.Exit(exitInterrupted)
				}
				stop()
			case <-over:
				return
			}
		}
	}()
	leave, err := t.do(ctx, text)
	t.failed = err
	switch {
	case ctx.Err() != nil:
		t.failed = &coded{exitInterrupted, errSaid}
		t.view.Line(view.Normal, "stopped; what there is so far is kept: ask on, or say: go on")
	case err != nil && !errors.Is(err, errSaid):
		columns := 0
		if t.terminal != nil {
			columns, _ = t.terminal.Size()
		}
		printError(wrapping{t.view.Err, columns}, err)
	}
	return leave
}

// do is one input: a command of ours, one of the user's, or a question.
func (t *talk) do(ctx context.Context, text string) (leave bool, err error) {
	trimmed := strings.TrimSpace(text)
	switch name, arg, ok := slashed(text); {
	case trimmed == "":
		return false, nil
	case trimmed == "exit", trimmed == "quit", trimmed == ":q":
		return true, nil
	case ok:
		return t.command(ctx, name, arg)
	case strings.HasPrefix(text, "!"):
		return false, t.shellLine(ctx, text[1:])
	}
	return false, t.ask(ctx, trimmed)
}

// ask asks the model.
func (t *talk) ask(ctx context.Context, typed string) error {
	j := t.job
	j.set, j.warnings, j.team = t.set, nil, nil
	more, err := t.attached(ctx, typed)
	if err != nil {
		return err
	}
	question := typed
	if more.text != "" {
		question += "\n\n" + more.text
	}
	j.typed, j.pictures = typed, more.pictures
	t.app.session = t.session
	asked := t.turns
	err = j.answer(ctx, question, more.text, j.tools)
	if t.turns > asked {
		t.ran = nil // it is in the session now
	}
	if j.servers != nil {
		j.servers.tell()
	}
	t.status()
	return err
}

// saw keeps count of a step.
func (t *talk) saw(e agent.Event) {
	if t != nil && e.Kind == agent.Round {
		t.tokens, t.window = e.Tokens, e.Window
	}
}

// took keeps count of a turn, and of the session that it is kept in.
func (t *talk) took(a agent.Answer, session string) {
	if t == nil {
		return
	}
	t.turns++
	t.spent(a)
	if session != "" {
		t.session = session
	}
}

func (t *talk) spent(a agent.Answer) {
	t.requests += a.Requests
	t.usage = t.usage.Add(a.Usage)
}

// status says who answers, with which tools, and how full the window is.
func (t *talk) status() {
	if t.editor == nil || t.view.Level < view.Normal {
		return
	}
	name := "search alone"
	switch {
	case t.app.team != "":
		name = "team " + t.app.team
	case t.conn != nil:
		name = t.conn.name
	case t.failing:
		name = "not connected"
	}
	said := name
	columns, _ := t.terminal.Size()
	for _, word := range []string{t.set.Tier.String(), view.Filled(t.tokens, t.window), t.session} {
		if longer := said + " · " + word; word != "" && cells.Width(longer) < columns {
			said = longer
		}
	}
	t.view.Line(view.Normal, "%s", cells.Cut(said, columns-1))
}

// bye ends the conversation. From a pipe it ends as the last question did.
func (t *talk) bye() error {
	t.goodbye()
	if t.failed != nil && !isTerminal(t.app.in) {
		return &coded{exitCode(context.Background(), t.failed), errSaid}
	}
	return nil
}

func (t *talk) goodbye() {
	if t.turns > 0 && t.session != "" && isTerminal(t.app.in) {
		t.view.Line(view.Normal, "session %s: bx -c goes on with it", t.session)
	}
}
