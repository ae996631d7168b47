//go:build unix

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// The README's tour of a model that prints its calls is what bx prints.
func TestTheTourIsAsTheReadmeShowsIt(t *testing.T) {
	_, rest, _ := strings.Cut(doc(t, "../README.md"), "$ bx mock docs/tour.txtar &\n")
	shown, _, ok := strings.Cut(rest, "```")
	command, want, ok2 := strings.Cut(shown, "\n")
	words := regexp.MustCompile(`"(.*)"`).FindStringSubmatch(command)
	if !ok || !ok2 || len(words) != 2 {
		t.Fatalf("the README has no tour: %q", shown)
	}
	script, err := fake.Load("../../docs/tour.txtar")
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, fake.New(script))
	u := newUser(t)
	u.write(t, "mine.toml", "[agent]\npresearch = false\n") // no index of this repository for a test
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := u.command("--config", "mine.toml", "--root", root, words[1])
	cmd.Env = append(cmd.Env, "OLLAMA_HOST="+url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(string(out), url, "http://127.0.0.1:11435")
	masked := func(s string) string { return tookOnScreen.ReplaceAllString(s, "") }
	if masked(got) != masked(want) {
		t.Errorf("bx prints\n%s\nthe README shows\n%s", got, want)
	}
}
