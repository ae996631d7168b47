package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

func (a *app) grammarCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "grammar", Short: "List, show and test the dialects of tool calls", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.grammarListCommand(), a.grammarShowCommand(), a.grammarTestCommand())
	return cmd
}

func (a *app) grammarListCommand() *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use: "list", Short: "List the dialects, each with a call as a model writes it", Args: noWords,
		RunE: func(*cobra.Command, []string) error {
			own, err := a.own()
			if err != nil {
				return err
			}
			list := append(slices.Clone(own), grammar.All()...)
			if model != "" {
				list = reading.ForModel(model, own...)
			}
			if a.json {
				return view.JSON(a.out, reading.Entries(list))
			}
			reading.List(a.out, list)
			return nil
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "list those that this `MODEL` writes")
	return cmd
}

func (a *app) grammarShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Print the record of a dialect as JSON",
		Long: `Print the record of a dialect as JSON. A file with it can be changed and given to
--grammar. docs/grammars.md explains the fields.`,
		Example: "  bx grammar show hermes > mine.json\n  bx parse --grammar ./mine.json reply.txt",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(exitUsage, "bx grammar show wants one NAME, not %d (bx grammar list names them)", len(args))
			}
			return a.showGrammar(args[0])
		},
	}
}

func (a *app) showGrammar(name string) error {
	own, err := a.own()
	if err != nil {
		return err
	}
	list := reading.Named(name, own...)
	for _, g := range list {
		if strings.EqualFold(g.Name, name) {
			list = []*grammar.Grammar{g}
			break
		}
	}
	switch len(list) {
	case 0:
		_, err := reading.ParseDialects(name, dialect.Try, own...)
		return &coded{exitUsage, err}
	case 1:
		return view.JSON(a.out, list[0])
	}
	var names []string
	for _, g := range list {
		names = append(names, g.Name)
	}
	return fail(exitUsage, "%s stands for several grammars: name one of %s", name, strings.Join(names, ", "))
}

func (a *app) grammarTestCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "test FILE.txtar…|DIR", Short: "Run cases of a dialect",
		Long: `Run cases: txtar files with the sections in (the text) and events (what must be
found), and, where wanted, tools (a JSON list, or a name a line), prefill, seen, and
cut (the output ended early). The folder of a case names its grammar, "auto" none,
unless --grammar does. Each case must give the same however the text is cut.`,
		Example: "  bx grammar test --grammar ./mine.json cases/",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail(exitUsage, "bx grammar test wants files of cases (*.txtar) or folders of them")
			}
			return a.testGrammar(args, name)
		},
	}
	cmd.Flags().StringVar(&name, "grammar", "", "the grammar of all cases: its `NAME`, the path of a file, or auto")
	return cmd
}

func (a *app) testGrammar(paths []string, name string) error {
	files, err := reading.Cases(paths)
	if err != nil {
		return err
	}
	failed := 0
	for _, file := range files {
		of := name
		if of == "" {
			of = reading.Folder(file)
		}
		d, err := a.dialects(of)
		if err != nil {
			return caseError(file, name, err)
		}
		diff, err := reading.Test(d, file)
		switch {
		case err != nil:
			return err
		case diff == "":
			fmt.Fprintf(a.out, "ok    %s\n", file)
		default:
			failed++
			fmt.Fprintf(a.out, "FAIL  %s\n%s", file, diff)
		}
	}
	fmt.Fprintf(a.out, "%d ok, %d failed\n", len(files)-failed, failed)
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, len(files))
	}
	return nil
}

// caseError says how to name the grammar of a case whose folder names none.
func caseError(file, name string, err error) error {
	var unknown *reading.UnknownGrammar
	if name == "" && errors.As(err, &unknown) {
		return fail(exitUsage, "%s: its folder %q names no grammar: give --grammar NAME, or --grammar ./FILE.json", file, unknown.Name)
	}
	return err
}
