package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

func TestParseIsDocumented(t *testing.T) {
	text := doc(t, "parse.md")
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv}
	a.parseCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(text, "`--"+f.Name) {
			t.Errorf("docs/parse.md says nothing of --%s", f.Name)
		}
	})
	for _, sub := range a.grammarCommand().Commands() {
		if !strings.Contains(text, "bx grammar "+sub.Name()) {
			t.Errorf("docs/parse.md says nothing of bx grammar %s", sub.Name())
		}
	}
}

// Every grammar that is shown can be given back and passes its own cases.
func TestShownGrammars(t *testing.T) {
	u := newUser(t)
	for _, g := range grammar.All() {
		out, err := exec.Command(u.bx, "grammar", "show", g.Name).Output()
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		file := filepath.Join(t.TempDir(), "mine.json")
		if err := os.WriteFile(file, out, 0o666); err != nil {
			t.Fatal(err)
		}
		cases := filepath.Join("..", "..", "grammar", "testdata", g.Name)
		if _, err := os.Stat(cases); err != nil {
			continue
		}
		if out, err := exec.Command(u.bx, "grammar", "test", "--grammar", file, cases).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", g.Name, err, out)
		}
	}
}

// The built-in cases pass by the names of their folders.
func TestBuiltInCases(t *testing.T) {
	out, err := exec.Command(newUser(t).bx, "grammar", "test", "../../grammar/testdata").CombinedOutput()
	if err != nil || !bytes.HasSuffix(out, []byte(" ok, 0 failed\n")) {
		t.Errorf("%v\n%s", err, out)
	}
}
