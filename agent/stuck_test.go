package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

// A model that says the same words for ever is stopped; what it said is the answer.
func TestEndlessRepetitionIsStopped(t *testing.T) {
	for _, phrase := range []string{"I will look again. ", "a", "\n", strings.Repeat("A long phrase, with é in it, that comes again. ", 20)} {
		for kind, k := range map[string]utp.Kind{"text": utp.EventText, "thinking": utp.EventThink} {
			sent := 0
			conf := config("", nil, &bench{})
			conf.Model = streamer(func(yield func(utp.Event, error) bool) {
				for first := true; sent < 10<<20; first = false {
					text := phrase
					if first {
						text = "It is in a.go:1. "
					}
					sent += len(text)
					if !yield(utp.Event{Kind: k, Text: text}, nil) {
						return
					}
				}
			})
			var warned []string
			var answer *agent.Answer
			var failed error
			for e, err := range agent.Turn(t.Context(), conf, ask("?")) {
				switch {
				case err != nil:
					failed = err
				case e.Kind == agent.Warning:
					warned = append(warned, e.Text)
				case e.Kind == agent.Final:
					answer = e.Answer
				}
			}
			if sent > 100<<10 || !strings.Contains(strings.Join(warned, "; "), "says the same again and again") || strings.Contains(strings.Join(warned, ""), "output limit") {
				t.Errorf("%s, %.10q: stopped after %d bytes, warned %q", kind, phrase, sent, warned)
			}
			if kind == "text" && (answer == nil || !strings.HasPrefix(answer.Text, "It is in a.go:1.") || len(answer.Text) > 4*len(phrase)+100) || kind == "thinking" && !errors.Is(failed, agent.ErrEmpty) {
				t.Errorf("%s, %.10q: %v, %v", kind, phrase, answer, failed)
			}
		}
	}
}

// Long texts that resemble themselves are no repetition.
func TestALongTextIsNotStopped(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "| row %d | the same words in each row |\n", i)
	}
	conf := config("", nil, &bench{})
	conf.Model = streamer(func(yield func(utp.Event, error) bool) {
		for line := range strings.Lines(text.String()) {
			if !yield(utp.Event{Kind: utp.EventText, Text: line}, nil) {
				return
			}
		}
		yield(utp.Event{Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopEnd}}, nil)
	})
	a, err := agent.Ask(t.Context(), conf, ask("?"))
	if err != nil || a.Text != strings.TrimSpace(text.String()) {
		t.Errorf("%v, %d bytes of %d", err, len(a.Text), text.Len())
	}
}

// An answer that was given before a reminder stands where nothing comes after it.
func TestAnAnswerBeforeTheReminderIsNotLost(t *testing.T) {
	for script, want := range map[string]string{
		"text It is in a.go.\n---\nfail no route to host\n":                                         "It is in a.go.",
		"text It is in a.go.\n---\nstop end\n---\nstop end\n":                                       "It is in a.go.",
		"text It is in a.go.\n---\ncall a read_file {\"path\":\"x\"}\n---\nfail no route to host\n": "",
	} {
		conf := config("insist yes", readScript(script), &bench{})
		a, err := agent.Ask(t.Context(), conf, ask("?"))
		if (err == nil) != (want != "") || err == nil && a.Text != want {
			t.Errorf("%q: %q, %v", script, a.Text, err)
		}
	}
}
