package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend/extract"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// ask is bx without a command.
func (a *app) ask(cmd *cobra.Command, words []string) error {
	ctx := cmd.Context()
	if err := isCommand(cmd, words); err != nil {
		return err
	}
	if err := a.conflicts(); err != nil {
		return err
	}
	j, err := a.begin()
	if err != nil {
		return err
	}
	switch {
	case a.resume && len(words) == 1 && sessionID.MatchString(words[0]):
		a.session = words[0]
		return a.chat(ctx)
	case a.resume && len(words) > 0:
		return fail(exitUsage, "--resume begins a conversation: bx -s ID \"question\" asks in a session")
	case a.resume:
		return a.chat(ctx)
	case a.list:
		return a.listSessions(ctx, shownSessions, false)
	case a.recall:
		return j.recallLast(ctx)
	}
	q, piped, err := a.question(words)
	if err != nil {
		return err
	}
	if piped != "" {
		j.typed = strings.TrimSuffix(strings.TrimSuffix(q, piped), "\n\n")
	}
	if q == "" && a.talks() {
		return a.chat(ctx)
	}
	if q == "" {
		cmd.SetOut(a.err)
		_ = cmd.Help()
		return fail(exitUsage, "no question was given")
	}
	tools, err := j.openTools()
	if err != nil {
		return err
	}
	defer tools.Close()
	return j.answer(ctx, q, piped, tools)
}

// conflicts refuses flags that contradict each other.
func (a *app) conflicts() error {
	switch {
	case a.fresh && (a.session != "" || a.goOn):
		return fail(exitUsage, "--new contradicts --session and --continue")
	case a.goOn && a.session != "":
		return fail(exitUsage, "--continue and --session contradict each other")
	case a.resume && (a.fresh || a.goOn):
		return fail(exitUsage, "--resume contradicts --new and --continue")
	case a.noSession && (a.fresh || a.goOn || a.resume || a.session != ""):
		return fail(exitUsage, "--no-session contradicts --new, --continue, --resume and --session")
	case a.quiet && a.verbose:
		return fail(exitUsage, "--quiet and --verbose contradict each other")
	case a.team != "" && a.model != "":
		return fail(exitUsage, "--team and --model contradict each other: each member has a model of its own")
	case a.team != "" && a.noTools:
		return fail(exitUsage, "--team and --no-tools contradict each other: the members are tools")
	}
	return nil
}

// answer asks the model and prints what comes of it. piped is the part of the
// question that was piped in.
func (j *job) answer(ctx context.Context, question, piped string, tools *tool.Set) (err error) {
	j.question, j.piped = question, piped != ""
	defer j.view.Progress.Busy("")
	if j.servers == nil {
		if j.servers, err = j.openServers(ctx); err != nil {
			return err
		}
	}
	if j.talk == nil { // a conversation keeps them
		defer j.servers.close()
	}
	run, own := agent.Runner(builtins{j}), tools.Tools()
	if j.app.team != "" {
		if j.team, own, err = j.assemble(ctx, tools); err != nil {
			return err
		}
		run = j.team
	}
	if err := j.checkSession(ctx); err != nil {
		return err
	}
	j.tellUndone()
	own = append(own, agent.RequestTools())
	offer := j.offer(cmp.Or(j.typed, question))
	j.view.Line(view.Verbose, "tools offered: %s", offer.Why)
	if !j.app.dryRun {
		j.servers.learn(offer.Tier)
	}
	conf, c, err := j.agent(ctx, own, run, offer.Tier)
	if err != nil {
		return err
	}
	conf.Piped = piped
	conf.Guide = func(ctx context.Context) string {
		return along(j.takeGuide(c), j.presearch(ctx, c, tools, cmp.Or(j.typed, question), offer.Tier))
	}
	s, err := j.openSession(ctx, c.name)
	if err != nil {
		return err
	}
	defer s.close()
	conf.Session, conf.History = s, j.talk.remembered(ctx, conf)
	end := tools.Turn(s.id)
	defer func() { err = errors.Join(err, end()) }()
	r, err := j.request(ctx, c, conf.Gate != nil)
	if err != nil {
		return err
	}
	asked := utp.NewText(utp.RoleUser, question)
	asked.Parts = append(asked.Parts, j.pictures...)
	r.Messages = append(r.Messages, asked)
	if j.app.dryRun {
		return j.preview(ctx, conf, r)
	}
	return j.turn(ctx, conf, r, s)
}

// agent makes an agent of the settings: the model that answers, and says so,
// with the tools of a tier.
func (j *job) agent(ctx context.Context, tools []utp.Tool, run agent.Runner, tier utp.Tier) (conf agent.Config, c *connection, err error) {
	j.compile(tools)
	if c, err = j.connect(ctx); err != nil {
		return conf, nil, err
	}
	j.model = c
	habits := j.set.Habits(c.name)
	conf = agent.Config{Model: c.model, Rounds: j.set.MaxRounds, MaxResult: int(j.set.Envelope.MaxOutputChars),
		History: int(j.set.Session.MaxHistoryTokens), Insist: j.insists(habits.Insist), Suggest: habits.Suggest}
	if c.client != nil {
		j.sees = func(ctx context.Context) bool { return c.client.Sees(ctx, c.name) }
		conf.Window = func(ctx context.Context) int { return c.client.Room(ctx, c.name, 0) }
	}
	if !j.app.noTools && c.tools {
		conf.Gate = j.gate(j.known, tier, run, j.confirm)
		conf.Gate.Ceiling = j.set.MaxTier
		conf.Step = j.joining(conf.Gate, tools)
	}
	return conf, c, nil
}

// insists reports whether a model that answers without a look is reminded once:
// as was set, else where the question is about the code and brings none along.
func (j *job) insists(set *bool) bool {
	if set != nil {
		return *set
	}
	return !j.piped && agent.AboutCode(j.question)
}

// request is what every question to a model begins with.
func (j *job) request(ctx context.Context, c *connection, tools bool) (*utp.Request, error) {
	extra := j.set.Extra
	switch way := j.forms(ctx, c).Tools.Way; {
	case !tools:
		extra = prompt.FillPlaceholder(extra, prompt.NoTools())
	case way != format.Text:
		extra = prompt.FillPlaceholder(extra, "the tools you are given")
	}
	system, err := agent.System(agent.SystemData{Root: filepath.Base(j.root), Tools: tools, Explain: j.app.verbose, Extra: extra})
	if err != nil {
		return nil, err
	}
	r := &utp.Request{Model: c.name, Stream: true, Params: utp.Params{Temperature: j.set.Temperature},
		Messages: []utp.Message{utp.NewText(utp.RoleSystem, system)}}
	if j.set.Habits(c.name).OneCall {
		r.Choice.Parallel = new(bool)
	}
	if j.set.NumCtx > 0 {
		r.Params.Context = &j.set.NumCtx
	}
	return r, nil
}

// turn prints the steps and the answer of a model of a provider.
func (j *job) turn(ctx context.Context, conf agent.Config, r *utp.Request, s *session) error {
	var answer *agent.Answer
	told, end := j.sinks(ctx, record.ByBx, view.Verbose, nil)
	defer end()
	if j.team != nil {
		j.team.Watch = func(name string, r *utp.Request, turn iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
			return told.turn(ctx, j.members[name], s, r, turn)
		}
	}
	var failure error
	for e, err := range told.turn(ctx, j, s, r, agent.Turn(ctx, conf, r)) {
		if err != nil {
			answer, failure = e.Answer, j.broken(ctx, err)
			break
		}
		if e.Kind == agent.Final {
			answer = e.Answer
			break
		}
		if e.Kind == agent.Warning {
			j.warnings = append(j.warnings, e.Text)
		}
		j.talk.saw(e)
		j.view.Event(e)
	}
	if j.team != nil {
		answer.Usage = answer.Usage.Add(j.team.Usage())
	}
	j.talk.took(*answer, s.id())
	j.view.Totals(*answer)
	if failure == nil && view.Unconfirmed(answer.Calls) > 0 {
		failure = &coded{exitDenied, errSaid}
	}
	return j.print(ctx, conf, *answer, s, failure)
}

// print prints the outcome of a turn, with failure also what there is without an
// answer, and returns failure.
func (j *job) print(ctx context.Context, conf agent.Config, a agent.Answer, s *session, failure error) error {
	broken := failure != nil && !errors.Is(failure, errSaid)
	if !j.app.json && !j.app.streams() {
		if broken {
			j.view.Partial(a.Text, j.found(a))
		} else {
			j.view.Answer(a.Text)
		}
		j.view.Line(view.Normal, "%s", view.Summary(a, conf.Gate != nil && conf.Piped == ""))
		return failure
	}
	reply := view.NewReply(a)
	reply.Warnings = j.warnings
	reply.Sources = slices.Compact(slices.Sorted(slices.Values(slices.Concat(reply.Sources, j.sources))))
	reply.SessionID, reply.SessionMessages = s.count(context.WithoutCancel(ctx))
	if broken {
		code := exitCode(ctx, failure)
		reply.Error = &view.Failure{Code: code, Kind: exitKinds[code], Message: message(ctx, failure)}
		reply.Found = j.found(a)
		j.app.told = true
	}
	var err error
	if j.app.streams() {
		err = view.PrintOutcome(j.app.out, reply)
	} else {
		err = view.JSON(j.app.out, reply)
	}
	return cmp.Or(err, failure)
}

// found is what the tools of a turn without an answer brought, as the built-in
// model words it; "" is nothing.
func (j *job) found(a agent.Answer) string {
	if a.Text != "" {
		return ""
	}
	return extract.Report(append([]utp.Message{utp.NewText(utp.RoleUser, j.question)}, a.Messages...))
}

// broken sorts why a turn ended without an answer.
func (j *job) broken(ctx context.Context, err error) error {
	var e *agent.Error
	switch {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &e) && errors.Is(err, agent.ErrEmpty):
		return &coded{exitBackend, fmt.Errorf("%w (try again, another --model, or DEBUG=1 to see what it sent)", e.Err)}
	case errors.As(err, &e) && e.Round > 0:
		return &coded{exitBackend, j.meantModel(ctx, e.Err)}
	}
	return err
}

// preview is --dry-run: one request, and what would become of its calls.
func (j *job) preview(ctx context.Context, conf agent.Config, r *utp.Request) error {
	reply, issues, err := agent.Preview(ctx, conf, r)
	if err != nil {
		return j.broken(ctx, err)
	}
	if j.app.json {
		return view.JSON(j.app.out, view.NewPreview(reply, issues))
	}
	j.view.Preview(j.app.out, reply, issues)
	return nil
}
