package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
)

// flags are the options of the command line.
type flags struct {
	profile, config, model, tier, root string
	toolFormat                         string
	allow                              []string
	dryRun, json, quiet, verbose       bool
	fresh, recall, list, goOn, resume  bool
	outputFormat                       string
	session                            string
	going                              string // the session that goes on, in full
	noSession, noTools                 bool
	noModel, offline                   bool
	maxRounds                          int
	team                               string
}

const about = `bx answers a question about the code around you. It lets a language model search
and read the repository, runs the model's tool calls whatever form they come in,
and prints an answer that cites files and lines.

Without any set-up it uses a server on this machine (Ollama, LM Studio, llama.cpp,
vLLM), and without one it answers by search alone.

Without a question, on a terminal, it begins a conversation: bx chat --help.`

const examples = `  bx
  bx "Where are tool calls parsed?"
  git diff | bx "Review this change"
  bx --tier run "Fix the typo in README.md"
  bx --dry-run "Search for auth code"`

// newRoot makes the commands. --version is no flag of cobra's: its template
// would link text/template (see internal/template).
func newRoot(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use: `bx "question"`, Short: "Ask about the code around you", Long: about, Example: examples,
		Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			if version {
				_, err := fmt.Fprintln(a.out, "bx", build.Line())
				return err
			}
			return a.ask(cmd, words)
		},
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Name() == cobra.ShellCompRequestCmd {
			plainUsage(root)
		}
		return a.checkOutput(cmd)
	}
	root.Flags().BoolVar(&version, "version", false, "version for bx")
	root.SetHelpCommand(a.helpCommand())
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagFault)
	a.commonFlags(root)
	a.askFlags(root)
	root.AddCommand(
		a.toolsCommand(),
		a.statusCommand(),
		a.statsCommand(),
		a.explainCommand(),
		a.doctorCommand(),
		a.mockCommand(),
		a.mcpCommand(),
		a.serveCommand(),
		a.keysCommand(),
		a.dashCommand(),
		a.parseCommand(),
		a.grammarCommand(),
		a.translateCommand(),
		a.sessionsCommand(),
		a.chatCommand(),
		a.undoCommand(),
		a.redoCommand(),
		a.rulesCommand(),
		a.coachCommand(),
		a.ragCommand(),
		a.manCommand(),
		a.versionCommand(),
	)
	return root
}

// plainUsage takes the marks of placeholders out of what shells show of flags.
func plainUsage(cmd *cobra.Command) {
	plain := func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) }
	cmd.PersistentFlags().VisitAll(plain)
	cmd.Flags().VisitAll(plain)
	for _, c := range cmd.Commands() {
		plainUsage(c)
	}
}

func (a *app) commonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.profile, "profile", "", "use [profiles.`NAME`] of the configuration")
	f.StringVar(&a.config, "config", "", "read this `FILE` last; it may set anything")
	f.StringVar(&a.model, "model", "", "ask this `MODEL`")
	f.BoolVar(&a.noModel, "no-model", false, "answer by search alone")
	f.StringVar(&a.tier, "tier", "", "offer tools of this `TIER` and below: crawl, walk or run")
	f.StringVar(&a.toolFormat, "tool-format", "", "offer tools in this `FORMAT`: auto, openai, anthropic, ollama, gemini, native, text, react, xml, json, none, or a grammar")
	f.StringVar(&a.root, "root", "", "work in this `DIR` (default: the repository around you)")
	f.BoolVar(&a.offline, "offline", false, "reach this machine only")
	f.StringSliceVar(&a.allow, "allow", nil, "run these `TOOLS` without asking; run allows all of them")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print the answer and errors only")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "print thinking, results and reasons too")
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.StringVar(&a.outputFormat, "output-format", "", "print in this `FORMAT`: text, json, or for a question stream-json: each step as it happens")
}

func (a *app) askFlags(root *cobra.Command) {
	f := root.Flags()
	f.BoolVar(&a.dryRun, "dry-run", false, "ask once and show the tool calls; run nothing")
	f.BoolVarP(&a.fresh, "new", "n", false, "start a new session, as every question does")
	f.BoolVarP(&a.recall, "recall", "r", false, "print the last exchange of the session")
	f.BoolVarP(&a.list, "list", "l", false, "list the latest sessions of this repository")
	a.sessionFlags(f)
	a.turnFlags(f)
}

// sessionFlags are those of questions and of conversations.
func (a *app) sessionFlags(f *pflag.FlagSet) {
	f.BoolVarP(&a.goOn, "continue", "c", false, "continue the last session of this repository")
	f.StringVarP(&a.session, "session", "s", "", "continue the session `ID`")
	f.BoolVar(&a.resume, "resume", false, "choose one of the latest sessions, and go on with it in a conversation")
	f.BoolVar(&a.noSession, "no-session", false, "keep nothing of what is asked")
}

// turnFlags are about each turn of one.
func (a *app) turnFlags(f *pflag.FlagSet) {
	f.BoolVar(&a.noTools, "no-tools", false, "offer no tools")
	a.teamFlag(f)
	f.IntVar(&a.maxRounds, "max-rounds", 0, "let the model call tools in `N` rounds at most (default 50)")
}

// checkOutput makes --output-format json the same as --json.
func (a *app) checkOutput(cmd *cobra.Command) error {
	switch a.outputFormat {
	case "":
		return nil
	case "text":
		if a.json {
			return fail(exitUsage, "--json and --output-format text contradict each other")
		}
		return nil
	case "json":
		a.json = true
		return nil
	case "stream-json":
		if cmd.HasParent() {
			return fail(exitUsage, "--output-format stream-json is for questions; %s prints text or json", cmd.CommandPath())
		}
		return nil
	}
	return fail(exitUsage, "--output-format %s: want text, json or stream-json", a.outputFormat)
}

func (a *app) teamFlag(f *pflag.FlagSet) {
	f.StringVar(&a.team, "team", "", "ask the coordinator of [teams.`NAME`], who can ask the other members")
}

// noWords refuses a question that begins with the name of a command.
func noWords(cmd *cobra.Command, words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case cmd.HasSubCommands():
		return noSuchCommand(cmd, words[0])
	}
	if cmd.HasParent() && cmd.Parent().HasParent() {
		return fail(exitUsage, "%s takes no words", cmd.CommandPath())
	}
	return fail(exitUsage, "bx %s takes no words; to ask a question that begins so, put it in quotes", cmd.Name())
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version, its commit and the commit's date", Args: noWords, RunE: func(cmd *cobra.Command, _ []string) error {
		if a.json {
			return view.JSON(a.out, build.This())
		}
		fmt.Fprintf(a.out, "bx %s\n", build.Line())
		return nil
	}}
}
