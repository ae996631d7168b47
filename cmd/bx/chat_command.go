package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
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
	for _, c := range slashes() {
		fmt.Fprintf(t.view.Out, "%-24s %s\n", c.name+" "+c.args, c.help)
	}
	fmt.Fprint(t.view.Out, `
@FILE, @DIR/, @FILE:10-20  goes along with the question; Tab completes
!COMMAND                   runs it, as you; the model sees what it prints. !!COMMAND: it does not
\ at the end of a line     goes on in the next; so does Alt-Enter, and text between lines of `+"```"+`
Ctrl-C                     stops an answer and keeps what there is of it; twice: leaves
Ctrl-R, Up                 what you typed before (not kept: what begins with a blank, or holds a key)
`)
	return nil
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
	was, conn := t.app.model, t.conn
	if err := t.resolve(func(f *flags) { f.model, f.noModel = name, false }); err != nil {
		return err
	}
	t.conn, t.looking = nil, nil
	c, err := t.connection(ctx)
	if err == nil && c.client != nil {
		var there []string
		if there, err = t.models(ctx); err == nil && !slices.Contains(there, name) && !slices.Contains(there, name+":latest") && len(there) > 0 {
			err = fmt.Errorf("%s has no model %s: /model lists those that are there", c.client.Server(), name)
		}
	}
	if err != nil {
		t.conn = conn
		return errors.Join(err, t.resolve(func(f *flags) { f.model = was }))
	}
	return nil
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
	if len(names) == 0 {
		fmt.Fprintln(t.view.Out, "no model: answering by search alone")
	}
	for _, name := range names {
		mark := " "
		if t.conn != nil && name == t.conn.name {
			mark = "*"
		}
		fmt.Fprintln(t.view.Out, view.Clean(mark+" "+name))
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
	if tier != "" {
		if err := t.resolve(func(f *flags) { f.tier = strings.TrimSuffix(strings.ToLower(tier), "auto") }); err != nil {
			return err
		}
	}
	up := ""
	if t.app.tier == "" {
		up = fmt.Sprintf(", and up to %s where the question asks for it", t.set.MaxTier)
	}
	fmt.Fprintf(t.view.Out, "tools of %s are offered%s\n", t.set.Tier, up)
	return nil
}

func (t *talk) toolList(context.Context, string) error {
	view.Tools(t.view.Out, t.job.tools.Tools(), t.set.Tier)
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
		if r.Status != utp.OK {
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
	w := t.view.Out
	fmt.Fprintf(w, "%s, %s\n", view.Count(t.turns, "question"), view.Count(t.requests, "request"))
	fmt.Fprintf(w, "%d tokens in", t.usage.Prompt())
	if t.usage.CacheRead > 0 {
		fmt.Fprintf(w, " (%d of them from a cache)", t.usage.CacheRead)
	}
	fmt.Fprintf(w, ", %d out\n", t.usage.Completion())
	if filled := view.Filled(t.tokens, t.window); filled != "" {
		fmt.Fprintf(w, "last request: %s\n", filled)
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
		fmt.Fprintln(t.view.Out, "thinking, results and reasons are printed")
		return nil
	}
	t.view.Level = view.Normal
	fmt.Fprintln(t.view.Out, "thinking, results and reasons are no longer printed")
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
