package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// notebook is a Session in memory.
type notebook struct {
	log []transcript.Entry
	err error
}

func (n *notebook) Entries(context.Context) ([]transcript.Entry, error) { return n.log, n.err }

func (n *notebook) Append(_ context.Context, es ...transcript.Entry) error {
	if n.err == nil {
		n.log = append(n.log, es...)
	}
	return n.err
}

// contract: A-18 C-06
func TestASecondQuestionSeesTheFirst(t *testing.T) {
	n := &notebook{}
	m := readScript("call - read_file {\"path\":\"a\"}\n---\ntext It is in a.\n---\ncall - read_file {\"path\":\"b\"}\n---\ntext And b.\n")
	conf := config("", m, &bench{})
	conf.Session = n
	for _, q := range []string{"Where is it?", "Tell me more."} {
		if _, err := agent.Ask(t.Context(), conf, ask(q)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, m := range m.requests[3].Messages {
		got = append(got, showMessage(m))
	}
	want := []string{
		`system | "You help."`,
		`user | "Where is it?"`,
		`assistant | call call_1_1 read_file{"path":"a"} native`,
		`tool | result call_1_1 read_file ok "run 1: read_file of a"`,
		`assistant | "It is in a."`,
		`user | "Tell me more."`,
		`assistant | call call_2_1 read_file{"path":"b"} native`,
		`tool | result call_2_1 read_file ok "run 2: read_file of b"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if ms := transcript.Messages(n.log); len(ms) != 8 || ms[7].Text() != "And b." {
		t.Errorf("kept: %d messages", len(ms))
	}
}

// contract: A-18
func TestCorrectionsAreNotKept(t *testing.T) {
	n := &notebook{}
	conf := config("", readScript("problem malformed read_file no\n---\ntext Well.\n"), &bench{})
	conf.Session = n
	if _, err := agent.Ask(t.Context(), conf, ask("?")); err != nil {
		t.Fatal(err)
	}
	if ms := transcript.Messages(n.log); len(ms) != 2 || ms[0].Text() != "?" || ms[1].Text() != "Well." {
		t.Errorf("%+v", ms)
	}
}

// contract: A-18
func TestASessionThatFails(t *testing.T) {
	boom := errors.New("disk full")
	conf := config("", readScript("text Well.\n"), &bench{})
	conf.Session = &notebook{err: boom}
	if _, err := agent.Ask(t.Context(), conf, ask("?")); !errors.Is(err, boom) {
		t.Errorf("reading: %v", err)
	}
	conf.Session = &writeFails{err: boom}
	warned := false
	for e, err := range agent.Turn(t.Context(), conf, ask("?")) {
		if err != nil {
			t.Fatal("the answer was lost:", err)
		}
		warned = warned || e.Kind == agent.Warning && strings.Contains(e.Text, "disk full")
	}
	if !warned {
		t.Error("nobody was told that the turn was not kept")
	}
}

type writeFails struct {
	notebook
	err error
}

func (w *writeFails) Append(context.Context, ...transcript.Entry) error { return w.err }

// long makes n messages of about 100 tokens: questions and answers by turns.
func long(n int) (out []utp.Message) {
	for i := range n {
		role := utp.RoleUser
		if i%2 == 1 {
			role = utp.RoleAssistant
		}
		out = append(out, utp.NewText(role, fmt.Sprintf("%03d%s", i, strings.Repeat(" word", 107))))
	}
	return out
}

func numbers(ms []utp.Message) (out []string) {
	for _, m := range ms {
		out = append(out, m.Text()[:3])
	}
	return out
}

// contract: C-06 A-18
func TestSelectPinsTheEndsAndFillsFromTheNewest(t *testing.T) {
	for _, c := range []struct {
		tokens int
		want   string
	}{
		{5000, "000 001 002 003 004 005 006 007 008 009 010 011 012 013 014 015 016 017 018 019"},
		{1100, "000 001 012 013 014 015 016 017 018 019"},
		{810, "000 001 014 015 016 017 018 019"},
		{700, "014 015 016 017 018 019"},
		{150, "019"},
		{10, ""},
	} {
		got := strings.Join(numbers(agent.Select(long(20), c.tokens)), " ")
		if got != c.want {
			t.Errorf("%d tokens: %s\nwant %s", c.tokens, got, c.want)
		}
	}
}

// What Select gives is in order, within the budget, and no call lacks its result.
//
// contract: C-06 A-18
func TestSelectKeepsPairsWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var ms []utp.Message
		for i := range rapid.IntRange(0, 30).Draw(rt, "n") {
			text := strings.Repeat("y", rapid.IntRange(0, 300).Draw(rt, "size"))
			c := utp.Call{ID: fmt.Sprint("c", i), Name: "t", Args: []byte("{}")}
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				ms = append(ms, utp.NewText(utp.RoleUser, text))
			case 1:
				ms = append(ms, utp.NewText(utp.RoleAssistant, text))
			case 2:
				ms = append(ms, utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}},
					utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, text)}})
			case 3: // a call whose result was lost
				ms = append(ms, utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}})
			case 4: // a result whose call was lost
				ms = append(ms, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, text)}})
			}
		}
		budget := rapid.IntRange(0, 2000).Draw(rt, "budget")
		out := agent.Select(ms, budget)
		used, at := 0, 0
		open := map[string]bool{}
		for _, m := range out {
			used += m.Tokens()
			for at < len(ms) && toJSON(ms[at]) != toJSON(m) {
				at++
			}
			if at == len(ms) {
				rt.Fatal("not in order, or not of the conversation")
			}
			for _, c := range m.Calls() {
				open[c.ID] = true
			}
			for _, r := range m.Results() {
				if !open[r.CallID] {
					rt.Fatalf("the result %s has no call", r.CallID)
				}
				delete(open, r.CallID)
			}
		}
		if used > budget || len(open) > 0 {
			rt.Fatalf("%d tokens of %d, calls without results: %v", used, budget, open)
		}
	})
}
