package main

import (
	"os"
	"strings"
	"testing"

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
