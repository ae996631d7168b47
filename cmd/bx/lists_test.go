//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

// Lists are broken at words on a narrow terminal. Words that are longer than its
// rows are the terminal's to break.
func TestToolsAtFortyColumns(t *testing.T) {
	for _, command := range []string{"tools", "status", "explain"} {
		u := newUser(t)
		out, err := u.command("--no-model", command).Output()
		if err != nil {
			t.Fatal(err)
		}
		whole, long := map[string]bool{}, ""
		for w := range strings.FieldsSeq(string(out)) {
			if whole[w] = true; cells.Width(w) > 25 {
				long += w + " "
			}
		}
		s := sitDown(t, u, 40, []string{"TERM=xterm-256color"}, "--no-model", command)
		s.leaves("0")
		screen := s.screen.String()
		for w := range strings.FieldsSeq(screen) {
			if !whole[w] && !strings.Contains(long, w) {
				t.Errorf("%s: a word is torn: %q", command, w)
			}
		}
		if strings.Count(screen, "\n") < 2+strings.Count(string(out), "\n") {
			t.Errorf("%s: nothing was broken:\n%s", command, screen)
		}
	}
}
