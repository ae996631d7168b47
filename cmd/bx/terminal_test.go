package main

import (
	"io"
	"os"
	"testing"
)

// A question that meets the end of the input has no answer, which is no "no" of the
// user's; a last line without its end is one.
func TestTheInputEndsInAQuestion(t *testing.T) {
	for text, want := range map[string]struct {
		line string
		ok   bool
	}{"": {"", false}, "y": {"y", true}, "\n": {"\n", true}, "y\nrest": {"y\n", true}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if line, ok := readLine(t.Context(), r); line != want.line || ok != want.ok {
			t.Errorf("%q: read %q, %v", text, line, ok)
		}
		r.Close()
	}
}
