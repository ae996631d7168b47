package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// summer is a model that reads file after file, and sums up when it is asked to.
type summer struct {
	*narrow
	summary string
	err     error
	asked   []*utp.Request
}

func (m *summer) Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	if !strings.Contains(r.Messages[0].Text(), "Sum up the work below") {
		return m.narrow.Stream(ctx, r)
	}
	m.asked = append(m.asked, r)
	return func(yield func(utp.Event, error) bool) {
		if m.err != nil {
			yield(utp.Event{}, m.err)
			return
		}
		text := strings.ReplaceAll(m.summary, "%d", fmt.Sprint(len(m.asked)))
		if yield(utp.Event{Kind: utp.EventText, Text: text, Raw: text}, nil) {
			yield(utp.Event{Kind: utp.EventFinish, Part: 9, End: &utp.End{Stop: utp.StopEnd, Usage: utp.Usage{Input: 10, Output: 5}}}, nil)
		}
	}
}

// summed plays a question that reads so many files in a small window.
func summed(t *testing.T, m *summer, files int) (agent.Answer, *notebook, []string) {
	t.Helper()
	m.narrow = &narrow{script: reading(files), window: 3000}
	kept := &notebook{}
	c := config("", m, agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		return utp.TextResult(c, utp.StatusOK, string(c.Args)+"\n"+lines(3000))
	}))
	c.Model, c.Rounds, c.Window, c.Session = m, 100, room(3000), kept
	c.Guide, c.Stale = func(context.Context) string { return "Notes of the repository." }, 100
	answer, warned, err := fitted(t, c, ask("Read all of them word for word"))
	if err != nil {
		t.Fatal(err, warned)
	}
	return answer, kept, warned
}

// When the rounds of a question do not fit, the model sums them up: the question,
// the tools and the newest result stay word for word, and the log keeps all.
func TestRoundsThatDoNotFitAreSummedUp(t *testing.T) {
	m := &summer{summary: "- file0 has line 1 (summary %d)"}
	answer, kept, warned := summed(t, m, 40)
	if len(m.asked) < 1 || len(m.asked) > 6 || answer.Text != "All read." || answer.Rounds != 40 {
		t.Fatalf("%d summaries, %d rounds, %q", len(m.asked), answer.Rounds, answer.Text)
	}
	for i, r := range slices.Concat(m.sent, m.asked) {
		if n := r.Tokens(); n > 3000 {
			t.Errorf("request %d has %d tokens", i+1, n)
		}
	}
	last := m.sent[len(m.sent)-1]
	checkPairs(t, append(slices.Clone(last.Messages), utp.NewText(utp.RoleAssistant, "end")))
	question := last.Messages[1].Text()
	if !strings.Contains(question, "Notes of the repository.") || !strings.Contains(question, "Read all of them word for word") ||
		!strings.HasSuffix(question, fmt.Sprintf("(summary %d)", len(m.asked))) || strings.Count(question, "(summary ") != 1 || len(last.Tools) == 0 {
		t.Errorf("the question: %s", question)
	}
	newest := last.Messages[len(last.Messages)-1].Results()
	if len(newest) != 1 || !strings.Contains(newest[0].Text(), "file39") || len(newest[0].Text()) < 3000 {
		t.Errorf("the newest result: %d bytes", len(newest[0].Text()))
	}
	second := m.asked[len(m.asked)-1].Messages[1].Text()
	if len(m.asked) > 1 && !strings.Contains(second, fmt.Sprintf("(summary %d)", len(m.asked)-1)) || !strings.Contains(second, "Read all of them") || len(m.asked[0].Tools) > 0 {
		t.Errorf("what is summed up: %.300s", second)
	}
	results, summaries := 0, 0
	for _, e := range kept.log {
		switch {
		case e.Kind == transcript.Result && len(e.Result.Text()) > 3000:
			results++
		case e.Kind == transcript.Summary:
			summaries++
		}
	}
	if results != 40 || summaries != len(m.asked) {
		t.Errorf("the log has %d whole results and %d summaries", results, summaries)
	}
	if !strings.Contains(strings.Join(warned, "\n"), "it goes on with a summary of them") ||
		!slices.ContainsFunc(answer.LeftOut, func(l agent.LeftOut) bool { return l.What == "rounds" && l.Bytes > 10000 }) {
		t.Errorf("%+v\n%s", answer.LeftOut, strings.Join(warned, "\n"))
	}
}

// A summary that fails or is empty is not asked for again: the oldest rounds go.
func TestAFailedSummaryCostsNoAnswer(t *testing.T) {
	for want, m := range map[string]*summer{
		"the server is gone":       {err: errors.New("the server is gone")},
		"the model gave no answer": {summary: " "},
	} {
		answer, kept, warned := summed(t, m, 14)
		if answer.Text != "All read." || answer.Rounds != 14 || len(m.asked) != 1 || !strings.Contains(strings.Join(warned, "\n"), "could not be summed up, and is left out: "+want) {
			t.Errorf("%s: asked %d times, %q, warned %q", want, len(m.asked), answer.Text, warned)
		}
		if last := m.sent[len(m.sent)-1].Messages[1].Text(); !strings.Contains(last, "Earlier rounds with tools are left out here") {
			t.Errorf("%s: the model is not told: %s", want, last)
		}
		for _, r := range m.sent {
			checkPairs(t, append(slices.Clone(r.Messages), utp.NewText(utp.RoleAssistant, "end")))
		}
		if slices.ContainsFunc(kept.log, func(e transcript.Entry) bool { return e.Kind == transcript.Summary }) {
			t.Errorf("%s: a summary is in the log", want)
		}
	}
}
