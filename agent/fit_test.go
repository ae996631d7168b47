package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// narrow is a model whose server refuses a prompt that is longer than its window.
type narrow struct {
	*script
	window int // tokens
	silent bool
	sent   []*utp.Request // refused ones too
}

func (m *narrow) Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	m.sent = append(m.sent, r)
	if n := r.Tokens(); n > m.window {
		long := &utp.Overflow{Prompt: n, Window: m.window}
		if m.silent {
			long = &utp.Overflow{}
		}
		return func(yield func(utp.Event, error) bool) { yield(utp.Event{}, fmt.Errorf("HTTP 400: %w", long)) }
	}
	return m.script.Stream(ctx, r)
}

// fitted plays a turn in a window and gives the warnings.
func fitted(t *testing.T, c agent.Config, r *utp.Request) (agent.Answer, []string, error) {
	t.Helper()
	var warned []string
	for e, err := range agent.Turn(t.Context(), c, r) {
		switch {
		case err != nil:
			return agent.Answer{}, warned, err
		case e.Kind == agent.Warning:
			warned = append(warned, e.Text)
		case e.Kind == agent.Final:
			return *e.Answer, warned, nil
		}
	}
	t.Fatal("no end")
	return agent.Answer{}, nil, nil
}

func room(n int) func(context.Context) int { return func(context.Context) int { return n } }

// lines makes a text of so many bytes, each line with its number.
func lines(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of a text that somebody piped in\n", i)
	}
	return b.String()
}

func TestPipedTextIsCutInTheMiddle(t *testing.T) {
	piped := lines(5_000_000)
	m := &narrow{script: readScript("text Looks good.\n"), window: 31000}
	r := &utp.Request{Messages: []utp.Message{utp.NewText(utp.RoleSystem, "You review."), utp.NewText(utp.RoleUser, "Review this diff\n\n"+piped)}}
	c := config("", m.script, &bench{})
	c.Model, c.Piped, c.Window = m, piped, room(31000)
	answer, warned, err := fitted(t, c, r)
	if err != nil || len(m.sent) != 1 {
		t.Fatal(err, len(m.sent))
	}
	text := m.sent[0].Messages[1].Text()
	for _, want := range []string{"Review this diff\n\nline 0 of", piped[len(piped)-400:], " bytes are left out here"} {
		if !strings.Contains(text, want) {
			t.Errorf("%.60q is missing", want)
		}
	}
	if n := m.sent[0].Tokens(); n > 31000 || n < 20000 || m.sent[0].Messages[0].Text() != "You review." || len(m.sent[0].Tools) == 0 {
		t.Errorf("%d tokens, %q, %d tools", n, m.sent[0].Messages[0].Text(), len(m.sent[0].Tools))
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "of what was piped in was left out") {
		t.Errorf("warned %q", warned)
	}
	if l := answer.LeftOut; len(l) != 1 || l[0].What != "input" || l[0].Bytes < len(piped)-len(text) || l[0].Bytes > len(piped) {
		t.Errorf("%+v", l)
	}
}

// A write of 3 MB that was denied does not go back whole.
func TestArgumentsOfADeniedCallAreCut(t *testing.T) {
	content := lines(3_000_000)
	args, err := json.Marshal(map[string]any{"path": "NEW.txt", "content": content, "lines": 70000})
	if err != nil {
		t.Fatal(err)
	}
	m := &narrow{script: readScript("call w1 write_file " + string(args) + "\n---\ntext I could not write it.\n"), window: 16000}
	c := config("", m.script, &bench{})
	c.Model, c.Window, c.Gate = m, room(16000), &agent.Gate{Tools: schema.Compile(tools), Tier: utp.TierWalk, Runner: &bench{}}
	answer, warned, err := fitted(t, c, ask("Write it"))
	if err != nil || len(m.sent) != 2 {
		t.Fatal(err, len(m.sent))
	}
	var call utp.Call
	for _, msg := range m.sent[1].Messages {
		for _, c := range msg.Calls() {
			call = c
		}
	}
	var got struct {
		Path, Content string
		Lines         int
	}
	if err := json.Unmarshal(call.Args, &got); err != nil || got.Path != "NEW.txt" || got.Lines != 70000 || len(got.Content) > 1000 || !strings.Contains(got.Content, "are left out here") {
		t.Errorf("%v: %.200s", err, call.Args)
	}
	if len(answer.LeftOut) != 1 || answer.LeftOut[0].What != "arguments" || answer.LeftOut[0].Bytes < 2_900_000 || len(warned) != 1 {
		t.Errorf("%+v, warned %q", answer.LeftOut, warned)
	}
	if whole := answer.Calls[0].Call.Args; len(whole) != len(args) {
		t.Errorf("the call itself has %d bytes of %d", len(whole), len(args))
	}
}

// reading is a model that reads so many files one after the other.
func reading(files int) *script {
	var b strings.Builder
	for i := range files {
		fmt.Fprintf(&b, "call r%d read_file {\"path\":\"file%d\"}\n---\n", i, i)
	}
	return readScript(b.String() + "text All read.\n")
}

// Old results go first, the oldest before others; the newest stays.
func TestOldResultsAreCutFirst(t *testing.T) {
	m := &narrow{script: reading(8), window: 12000}
	c := config("", m.script, agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		return utp.TextResult(c, utp.StatusOK, string(c.Args)+"\n"+lines(8000))
	}))
	c.Model, c.Rounds, c.Window, c.Session = m, 20, room(12000), &session{past: []utp.Message{utp.NewText(utp.RoleUser, "Before?"), utp.NewText(utp.RoleAssistant, "Before.")}}
	answer, warned, err := fitted(t, c, ask("Read all"))
	if err != nil || len(m.sent) != 9 {
		t.Fatal(err, len(m.sent))
	}
	for i, r := range m.sent {
		if n := r.Tokens(); n > 12000 {
			t.Errorf("request %d has %d tokens", i+1, n)
		}
	}
	var sizes []int
	for _, msg := range m.sent[8].Messages {
		for _, res := range msg.Results() {
			sizes = append(sizes, len(res.Text()))
		}
	}
	if len(sizes) != 8 || sizes[0] > 1000 || sizes[7] < 8000 || !strings.Contains(m.sent[8].Messages[1].Text(), "Before?") {
		t.Errorf("results of %v bytes", sizes)
	}
	if len(answer.LeftOut) != 1 || answer.LeftOut[0].What != "results" || len(warned) == 0 || len(warned) > 6 {
		t.Errorf("%+v, warned %q", answer.LeftOut, warned)
	}
}

type session struct{ past []utp.Message }

func (s *session) Entries(context.Context) (log []transcript.Entry, err error) {
	for i := range s.past {
		log = append(log, transcript.Entry{Kind: transcript.Message, Message: &s.past[i]})
	}
	return log, nil
}

func (s *session) Append(context.Context, ...transcript.Entry) error { return nil }

// Earlier questions go before what was piped in.
func TestHistoryIsLeftOutBeforeTheInput(t *testing.T) {
	past := []utp.Message{utp.NewText(utp.RoleUser, lines(6000)), utp.NewText(utp.RoleAssistant, lines(6000))}
	m := &narrow{script: readScript("text ok\n"), window: 4000}
	c := config("", m.script, &bench{})
	c.Model, c.Window, c.Session, c.Piped = m, room(4000), &session{past}, lines(4000)
	answer, _, err := fitted(t, c, ask("Look:\n\n"+c.Piped))
	if err != nil || len(m.sent) != 1 || m.sent[0].Tokens() > 4000 {
		t.Fatal(err, len(m.sent))
	}
	if l := answer.LeftOut; len(l) != 1 || l[0].What != "history" || !strings.HasSuffix(m.sent[0].Messages[len(m.sent[0].Messages)-1].Text(), c.Piped) {
		t.Errorf("%+v", l)
	}
}

// After the server's refusal it is asked once more with less, whether it says how
// much there was or not, and no third time.
func TestAskedOnceMoreWithLess(t *testing.T) {
	for name, tt := range map[string]struct {
		window, piped int
		silent        bool
		requests      int
		answered      bool
	}{
		"figures":          {8000, 400_000, false, 2, true},
		"no figures":       {40_000, 200_000, true, 2, true},
		"far too long":     {8000, 4_000_000, true, 2, false},
		"nothing to spare": {20, 0, true, 1, false},
	} {
		m := &narrow{script: readScript("text ok\n"), window: tt.window, silent: tt.silent}
		c := config("", m.script, &bench{})
		c.Model, c.Piped = m, lines(tt.piped)
		answer, warned, err := fitted(t, c, ask("Look:\n\n"+c.Piped))
		if len(m.sent) != tt.requests || (err == nil) != tt.answered {
			t.Errorf("%s: %d requests, %v", name, len(m.sent), err)
			continue
		}
		var long *utp.Overflow
		if err != nil && !errors.As(err, &long) {
			t.Errorf("%s: %v", name, err)
		}
		if tt.answered && (len(answer.LeftOut) != 1 || answer.Requests != 2 || len(warned) != 1 || !strings.Contains(warned[0], "asking once more without")) {
			t.Errorf("%s: %+v, warned %q", name, answer.LeftOut, warned)
		}
	}
}
