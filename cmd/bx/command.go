package main

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
)

// usual are commands of other programs that bx does not have: alone they are no
// question.
var usual = []string{"config", "init", "install", "list", "login", "logout", "ls", "models", "redo", "resume", "run", "session",
	"start", "stop", "undo", "uninstall", "update", "upgrade"}

// isCommand refuses words that were meant as a command: they are never sent to a
// model. What stands behind "--" is a question.
func isCommand(root *cobra.Command, words []string) error {
	if len(words) == 0 || root.ArgsLenAtDash() >= 0 {
		return nil
	}
	word := words[0]
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
		return nil
	}
	meant := config.Meant(word, namesOf(root))
	switch {
	case meant != "" && (len(words) <= 2 || subcommand(root, meant, words[1])):
		return fail(exitUsage, "there is no command %q: did you mean bx %s? (to ask it as a question: bx -- %s)", word, strings.Join(append([]string{meant}, words[1:]...), " "),
			strings.Join(words, " "))
	case len(words) == 1 && slices.Contains(usual, strings.ToLower(word)):
		return fail(exitUsage, "there is no command %q: bx --help lists them (to ask it as a question: bx -- %s)", word, word)
	}
	return nil
}

// subcommand reports whether a command has one of its own like this.
func subcommand(root *cobra.Command, name, word string) bool {
	cmd, _, err := root.Find([]string{name})
	return err == nil && (slices.Contains(namesOf(cmd), word) || config.Meant(word, namesOf(cmd)) != "")
}

// namesOf lists the commands below one.
func namesOf(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// commandOf finds the command of words, such as "mcp serve"; none is bx itself.
func commandOf(root *cobra.Command, words []string) (*cobra.Command, error) {
	cmd, rest, err := root.Find(words)
	if err != nil || len(rest) > 0 {
		return nil, noSuchCommand(cmd, rest[0])
	}
	return cmd, nil
}

func noSuchCommand(of *cobra.Command, word string) error {
	hint := "bx --help lists them"
	if of.HasParent() {
		hint = of.CommandPath() + " --help lists them"
	}
	if meant := config.Meant(word, namesOf(of)); meant != "" {
		hint = "did you mean " + of.CommandPath() + " " + meant + "?"
	}
	return fail(exitUsage, "%s has no command %q: %s", of.CommandPath(), word, hint)
}

// helpCommand is bx help, which knows when there is no such command.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND]", Short: "Print the help of bx or of a command",
		RunE: func(cmd *cobra.Command, words []string) error {
			of, err := commandOf(cmd.Root(), words)
			if err != nil {
				return err
			}
			return of.Help()
		}}
}

// flagFault words an unknown flag, with the one that it may be a slip of.
func flagFault(cmd *cobra.Command, err error) error {
	_, name, unknown := strings.Cut(err.Error(), "unknown flag: --")
	if !unknown {
		return fail(exitUsage, "%w (%s --help lists the flags)", err, cmd.CommandPath())
	}
	var names []string
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	name, _, _ = strings.Cut(name, "=")
	if now := config.OldFlag(name); now != "" {
		return fail(exitUsage, "%w: here it is %s", err, now)
	}
	if cmd.HasParent() && cmd.Root().Flags().Lookup(name) != nil {
		return fail(exitUsage, "%w of %s: it is one of questions; to ask one that begins with %q, put it in quotes", err, cmd.CommandPath(), cmd.Name())
	}
	if meant := config.Meant(name, append(names, "help", "version")); meant != "" {
		return fail(exitUsage, "%w: did you mean --%s?", err, meant)
	}
	return fail(exitUsage, "%w (%s --help lists the flags)", err, cmd.CommandPath())
}
