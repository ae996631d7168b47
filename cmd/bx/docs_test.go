package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
)

func doc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// contract: C-05 Q-08
func TestEveryFlagIsDocumented(t *testing.T) {
	text := doc(t, "cli.md")
	root := newRoot(&app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	check := func(f *pflag.Flag) {
		if !strings.Contains(text, "--"+f.Name) {
			t.Errorf("docs/cli.md says nothing of --%s", f.Name)
		}
	}
	root.Flags().VisitAll(check)
	root.PersistentFlags().VisitAll(check)
	for _, sub := range root.Commands() {
		if !strings.Contains(text, "bx "+sub.Name()) && sub.Name() != "help" && sub.Name() != "completion" {
			t.Errorf("docs/cli.md says nothing of bx %s", sub.Name())
		}
	}
}

// What shells show of a flag has no marks of its placeholder, and each that takes a
// value has one.
func TestFlagsInShellsAndHelp(t *testing.T) {
	var out bytes.Buffer
	root := newRoot(&app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	root.SetOut(&out)
	root.SetErr(io.Discard)
	walk(root, func(cmd *cobra.Command) {
		check := func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); name != strings.ToUpper(name) {
				t.Errorf("%s --%s: its value is called %q", cmd.CommandPath(), f.Name, name)
			}
		}
		cmd.Flags().VisitAll(check)
		cmd.PersistentFlags().VisitAll(check)
	})
	root.SetArgs([]string{cobra.ShellCompRequestCmd, "parse", "--"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "`") || !strings.Contains(got, "--grammar\tread this dialect only: its NAME") {
		t.Errorf("shells show\n%s", got)
	}
}

func walk(cmd *cobra.Command, see func(*cobra.Command)) {
	see(cmd)
	for _, c := range cmd.Commands() {
		walk(c, see)
	}
}

// What /help says of a conversation stands in docs/chat.md word by word.
func TestChatIsDocumented(t *testing.T) {
	if text := doc(t, "chat.md"); !strings.Contains(text, "```\n"+commandTable(0)+"```\n") {
		t.Errorf("docs/chat.md lists other commands than\n%s", commandTable(0))
	}
}

// contract: Q-08
func TestEveryKeyIsDocumented(t *testing.T) {
	text := doc(t, "config.md")
	for _, key := range config.Keys() {
		if !strings.Contains(text, "`"+key+"`") && !strings.Contains(text, "`["+key+"]`") {
			t.Errorf("docs/config.md says nothing of the key %s", key)
		}
	}
}
