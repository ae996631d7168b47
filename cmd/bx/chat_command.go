package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/undo"
)

// slash is a command of a conversation.
type slash struct {
	name, args, help string
	run              func(t *talk, ctx context.Context, arg string) error
	complete         func(t *talk) []string // of what it takes; nil: nothing
}

// slashes lists the commands, as /help does.
func slashes() []slash {
	return []slash{
		{name: "/help", help: "what can be typed here", run: (*talk).help},
		{name: "/model", args: "[NAME]", help: "who answers from now on; without a name the models that are there", run: (*talk).model, complete: (*talk).modelNames},
		{name: "/tier", args: "[TIER]", help: "offer tools up to crawl, walk or run; auto: as the question says", run: (*talk).tier, complete: tierNames},
		{name: "/tools", help: "the tools by tier", run: (*talk).toolList},
		{name: "/rules", args: "[COMMAND]", help: "what runs unasked, asks or is forbidden", run: (*talk).ruleList},
		{name: "/diff", help: "what differs from the last commit", run: (*talk).diff},
		{name: "/undo", args: "[--force]", help: "take back what the last question changed", run: (*talk).undoLast, complete: forced},
		{name: "/redo", args: "[--force]", help: "do again what /undo took back", run: (*talk).redoLast, complete: forced},
		{name: "/new", help: "begin a new session; /clear does the same", run: (*talk).begins},
		{name: "/resume", args: "[ID]", help: "go on with another session", run: (*talk).resume, complete: (*talk).sessionIDs},
		{name: "/sessions", help: "the sessions of this repository", run: (*talk).sessionList},
		{name: "/fork", help: "go on in a copy of this session", run: (*talk).fork},
		{name: "/compact", args: "[WHAT MATTERS]", help: "go on with a summary of this session, in a new one", run: (*talk).compact},
		{name: "/cost", help: "the tokens of this conversation, and how full the window is", run: (*talk).cost},
		{name: "/status", help: "the server, the model and the configuration", run: (*talk).showStatus},
		{name: "/verbose", help: "print thinking, results and reasons too, or no longer", run: (*talk).verbose},
		{name: "/edit", help: "write the question in your editor (EDITOR); ctrl-x ctrl-e does it with a line", run: (*talk).editNew},
		{name: "/exit", help: "leave; /quit, exit and Ctrl-D do the same"},
	}
}

// otherNames are further names of commands.
var otherNames = map[string]string{"/quit": "/exit", "/clear": "/new", "/?": "/help", "/continue": "/resume", "/usage": "/cost"}

func commandNames() (out []string) {
	for _, c := range slashes() {
		out = append(out, c.name)
	}
	return out
}

func commandOfName(name string) *slash {
	all := slashes()
	if other, ok := otherNames[name]; ok {
		name = other
	}
	i := slices.IndexFunc(all, func(c slash) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// slashed splits a command from what it takes. A path such as /etc/hosts is none,
// nor is what begins with a blank.
func slashed(text string) (name, arg string, ok bool) {
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	name, arg, _ = strings.Cut(text, " ")
	if strings.ContainsAny(name[1:], "/\n.") {
		return "", "", false
	}
	return strings.TrimSpace(name), strings.TrimLeft(arg, " "), true
}

// command runs one.
func (t *talk) command(ctx context.Context, name, arg string) (leave bool, err error) {
	c := commandOfName(name)
	if c == nil {
		hint := "/help lists them"
		if meant := config.Meant(name, commandNames()); meant != "" {
			hint = "did you mean " + meant + "?"
		}
		return false, fmt.Errorf("there is no command %s: %s (with a blank before it, it is a question)", name, hint)
	}
	if c.name == "/exit" {
		return true, nil
	}
	return false, c.run(t, ctx, strings.TrimSpace(arg))
}

func (t *talk) help(context.Context, string) error {
	columns := 0
	if t.terminal != nil {
		columns, _ = t.terminal.Size()
	}
	fmt.Fprint(t.view.Out, commandTable(columns), "\n", table(typable, columns))
	return nil
}

// typable is what can be typed beside questions and commands.
var typable = [][2]string{
	{"@FILE @DIR/ @FILE:1-20", "goes along with the question; Tab completes"},
	{"!COMMAND", "runs it, as you; the model sees what it prints"},
	{"!!COMMAND", "runs it; the model does not"},
	{"\\ at the end of a line", "goes on in the next; so does Alt-Enter, and text between lines of ```"},
	{"Ctrl-C", "stops an answer and keeps what there is of it; twice: leaves"},
	{"Ctrl-R, Up", "what you typed before (not kept: what begins with a blank, or holds a key)"},
}

// commandTable lists the commands for a terminal of a width; 0 is any.
func commandTable(columns int) string {
	var rows [][2]string
	for _, c := range slashes() {
		rows = append(rows, [2]string{strings.TrimSpace(c.name + " " + c.args), c.help})
	}
	return table(rows, columns)
}

// table puts texts beside their names, or below them where that is too narrow.
func table(rows [][2]string, columns int) string {
	const beside = 25
	var b strings.Builder
	for _, r := range rows {
		if columns > 0 && columns < 3*beside {
			b.WriteString(r[0] + "\n" + cells.Wrap("    "+r[1], columns) + "\n")
			continue
		}
		help := cells.Wrap(strings.Repeat(" ", beside)+r[1], columns)
		fmt.Fprintf(&b, "%-*s%s\n", beside, r[0], help[beside:])
	}
	return b.String()
}

// resolve takes over flags that were changed, or puts them back.
func (t *talk) resolve(change func(*flags)) error {
	was := t.app.flags
	change(&t.app.flags)
	set, err := t.cfg.Resolve(t.app.choices(), t.app.env)
	if err != nil {
		t.app.flags = was
		return flagError(err)
	}
	t.set, t.job.set = set, set
	return nil
}

func (t *talk) model(ctx context.Context, name string) error {
	if t.app.team != "" {
		return errors.New("the members of a team have models of their own (bx explain --team " + t.app.team + ")")
	}
	if name == "" {
		return t.modelList(ctx)
	}
	was := t.app.flags
	if err := t.resolve(func(f *flags) { f.model, f.noModel = name, false }); err != nil {
		return err
	}
	t.set.ModelWhy = "/model"
	t.job.set = t.set
	c, err := t.choose(ctx)
	if err == nil {
		err = offered(ctx, c, name)
	}
	if err != nil {
		return errors.Join(err, t.resolve(func(f *flags) { *f = was }))
	}
	t.conn, t.looking, t.failing = c, nil, false
	if t.news(c.why) {
		t.view.Line(view.Normal, "%s", c.why)
	}
	return nil
}

// offered refuses a model that its server does not list. One without a list is
// believed.
func offered(ctx context.Context, c *connection, name string) error {
	if c.client == nil {
		return nil
	}
	all, err := c.client.Models(ctx)
	if err != nil || len(all) == 0 {
		return nil
	}
	if !slices.ContainsFunc(all, func(m backend.Model) bool { return m.ID == name || m.ID == name+":latest" }) {
		return fmt.Errorf("%s has no model %s: /model lists those that are there", c.client.Server(), name)
	}
	return nil
}

// tell prints a line of what a command says, broken at words.
func (t *talk) tell(format string, args ...any) {
	fmt.Fprintln(t.lines(), view.Clean(fmt.Sprintf(format, args...)))
}

// lines takes whole lines and breaks them at words.
func (t *talk) lines() io.Writer {
	if t.terminal == nil {
		return t.view.Out
	}
	columns, _ := t.terminal.Size()
	return wrapping{t.view.Out, columns}
}

// models names those of the server.
func (t *talk) models(ctx context.Context) (names []string, err error) {
	c, err := t.connection(ctx)
	if err != nil || c.client == nil {
		return nil, err
	}
	all, err := c.client.Models(ctx)
	for _, m := range all {
		names = append(names, m.ID)
	}
	return names, err
}

func (t *talk) modelList(ctx context.Context) error {
	names, err := t.models(ctx)
	if err != nil {
		return err
	}
	switch {
	case t.conn == nil:
		t.tell("no model: answering by search alone")
	case len(names) == 0:
		t.tell("%s lists no models", t.conn.client.Server())
	}
	for _, name := range names {
		mark := " "
		if t.conn != nil && name == t.conn.name {
			mark = "*"
		}
		t.tell("%s %s", mark, name)
	}
	return nil
}

func (t *talk) modelNames() []string {
	if t.conn == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	names, _ := t.models(ctx) // a list that does not come is no list
	return names
}

func tierNames(*talk) []string { return []string{"auto", "crawl", "walk", "run"} }

func (t *talk) tier(_ context.Context, tier string) error {
	if tier = strings.ToLower(tier); tier != "" && !slices.Contains(tierNames(t), tier) {
		return fmt.Errorf("there is no tier %s: want crawl, walk, run or auto", tier)
	}
	if tier != "" {
		if err := t.resolve(func(f *flags) { f.tier = strings.TrimSuffix(tier, "auto") }); err != nil {
			return err
		}
	}
	up := ""
	if t.app.tier == "" {
		up = fmt.Sprintf(", and up to %s where the question asks for it", t.set.MaxTier)
	}
	t.tell("tools of %s are offered%s", t.set.Tier, up)
	return nil
}

func (t *talk) toolList(context.Context, string) error {
	view.Tools(t.lines(), append(t.job.tools.Tools(), t.knownTools()...), t.set.Tier)
	return nil
}

func (t *talk) ruleList(_ context.Context, command string) error {
	words := []string{}
	if command != "" {
		words = append(words, command)
	}
	return t.showRules(words)
}

// diff shows what the repository has beside its last commit: which files, and what
// of them.
func (t *talk) diff(ctx context.Context, _ string) error {
	for _, args := range []string{`{"command":"status"}`, `{"command":"diff","revision":"HEAD"}`} {
		r := t.job.tools.Run(ctx, utp.Call{ID: "diff", Name: "git", Args: []byte(args)})
		if r.Status != utp.StatusOK {
			return errors.New(reason(r))
		}
		fmt.Fprintln(t.view.Out, t.view.Painted(view.Clean(r.Text())))
	}
	return nil
}

func forced(*talk) []string { return []string{"--force"} }

func (t *talk) undoLast(_ context.Context, arg string) error {
	return t.back("undo", arg, (*undo.Store).Undo)
}

func (t *talk) redoLast(_ context.Context, arg string) error {
	return t.back("redo", arg, (*undo.Store).Redo)
}

func (t *talk) back(what, arg string, run func(*undo.Store, bool) (undo.Report, error)) error {
	if arg != "" && arg != "--force" {
		return fmt.Errorf("/%s takes nothing but --force", what)
	}
	s, err := t.job.tools.Undo()
	if s == nil {
		return fmt.Errorf("nothing is kept of what files held before: %w", err)
	}
	return t.turnBack(s, what, func(s *undo.Store) (undo.Report, error) { return run(s, arg != "") })
}

func (t *talk) cost(context.Context, string) error {
	cached := ""
	if t.usage.CacheRead > 0 {
		cached = fmt.Sprintf(" (%d of them from a cache)", t.usage.CacheRead)
	}
	t.tell("%s, %s", view.Count(t.turns, "question"), view.Count(t.requests, "request"))
	t.tell("%d tokens in%s, %d out", t.usage.Prompt(), cached, t.usage.Completion())
	if filled := view.Filled(t.tokens, t.window); filled != "" {
		t.tell("last request: %s", filled)
	}
	return nil
}

func (t *talk) showStatus(ctx context.Context, _ string) error {
	j := *t.job
	j.talk, j.set = nil, t.set
	return j.showStatus(ctx)
}

func (t *talk) verbose(context.Context, string) error {
	if t.view.Level == view.Normal {
		t.view.Level = view.Verbose
		t.tell("thinking, results and reasons are printed")
		return nil
	}
	t.view.Level = view.Normal
	t.tell("thinking, results and reasons are no longer printed")
	return nil
}

func (t *talk) editNew(ctx context.Context, text string) error {
	if t.terminal == nil {
		return errors.New("there is no terminal for an editor")
	}
	end := t.terminal.Lend()
	written, err := t.inEditor(text)
	end()
	if written = strings.TrimSpace(written); err != nil || written == "" {
		return err
	}
	if err := t.history.Add(written); err != nil {
		t.view.Warn("the history of what you type cannot be written: %v", err)
	}
	fmt.Fprintln(t.view.Out, "> "+strings.ReplaceAll(view.Clean(written), "\n", "\n. "))
	return t.ask(ctx, written)
}
