package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
)

func (a *app) manCommand() *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use: "man [COMMAND]", Short: "Print the manual page of bx or of a command",
		Example: "  bx man | man -l -\n  bx man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, words []string) error {
			page, err := commandOf(cmd.Root(), words)
			if err != nil || dir == "" {
				if err == nil {
					manPage(a.out, page)
				}
				return err
			}
			return a.writePages(page, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages of bx and of all its commands into this `DIR`")
	return cmd
}

// writePages writes the page of a command and those of the ones below it.
func (a *app) writePages(cmd *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the manual pages cannot be written: %w", err)
	}
	n := 0
	var write func(cmd *cobra.Command) error
	write = func(cmd *cobra.Command) error {
		var b strings.Builder
		manPage(&b, cmd)
		n++
		if err := os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(b.String()), 0o644); err != nil {
			return fmt.Errorf("the manual pages cannot be written: %w", err)
		}
		for _, c := range shownCommands(cmd) {
			if err := write(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(cmd); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s written to %s\n", view.Count(n, "page"), dir)
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// shownCommands are the commands below one that its help lists.
func shownCommands(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
}

// manPage writes what a command's help says as a manual page.
func manPage(w io.Writer, cmd *cobra.Command) {
	name := pageName(cmd)
	fmt.Fprintf(w, ".TH %s 1 \"\" \"bx %s\"\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), roff(build.Version()), roff(name), roff(cmd.Short))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	section := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(w, ".SH %s\n%s\n", title, paragraphs(text))
		}
	}
	section("DESCRIPTION", cmd.Long)
	if list := shownCommands(cmd); len(list) > 0 {
		fmt.Fprintln(w, ".SH COMMANDS")
		for _, c := range list {
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(strings.TrimPrefix(c.UseLine(), "bx ")), roff(c.Short))
		}
	}
	manFlags(w, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(w, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(w, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	fmt.Fprintln(w, ".SH EXIT STATUS")
	for _, code := range []int{exitOK, exitError, exitUsage, exitBackend, exitNoSession, exitConfig, exitDenied, exitInterrupted} {
		fmt.Fprintf(w, ".TP\n.B %d\n%s\n", code, roff(exitTexts[code]))
	}
	if cmd.HasParent() {
		fmt.Fprintf(w, ".SH SEE ALSO\n%s(1)\n", roff(pageName(cmd.Parent())))
	}
}

func manFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(w, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		if value != "" {
			head += " " + value
		}
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(head), roff(usage))
	})
}

// paragraphs keeps the lines that stand indented.
func paragraphs(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			b.WriteString(".PP\n")
		case strings.HasPrefix(line, " "):
			b.WriteString(".br\n" + roff(line) + "\n")
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// roff escapes what roff would take for its own.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
