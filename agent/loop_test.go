package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// contract: A-12 A-14 A-23
func TestAskGivesTheAnswerAndTheCalls(t *testing.T) {
	m := readScript("text I look.\ntextcall read_file {\"path\":\"big\"}\nusage 10 2\n---\ncall w write_file {}\nusage 20 3\n---\nthink hm\ntext It is long.\nusage 30 4\n")
	a, err := agent.Ask(t.Context(), config("maxresult 20", m, &bench{}), ask("How long is it?"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Text != "It is long." || a.Thinking != "hm" || a.Rounds != 2 || a.Requests != 3 || a.Model != "scripted" || a.Stop != utp.StopEnd {
		t.Errorf("answer: %+v", a)
	}
	if want := (utp.Usage{Input: 60, Output: 9}); a.Usage != want {
		t.Errorf("usage %+v, want %+v", a.Usage, want)
	}
	if len(a.Calls) != 2 || a.Calls[0].Call.Name != "read_file" || len(a.Calls[0].Result.Text()) != 160 || a.Calls[1].Refusal != agent.AboveTier {
		t.Errorf("calls: %+v", a.Calls)
	}
	var roles []utp.Role
	for _, m := range a.Messages {
		roles = append(roles, m.Role)
		if strings.Contains(m.Text(), "<tool_call>") {
			t.Errorf("markup in the history: %q", m.Text())
		}
	}
	want := []utp.Role{utp.RoleAssistant, utp.RoleTool, utp.RoleAssistant, utp.RoleTool, utp.RoleAssistant}
	if d := cmp.Diff(want, roles); d != "" {
		t.Error(d)
	}
}

// Calls that only read run side by side; their results come in call order.
//
// contract: I-03 I-04 A-11
func TestReadsRunSideBySide(t *testing.T) {
	var calls strings.Builder
	for i := range 3 {
		fmt.Fprintf(&calls, "call c%d read_file {\"path\":\"%d\"}\n", i, i)
	}
	m := readScript(calls.String() + "---\ntext Done.\n")
	turns := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	run := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		i := int(c.ID[1] - '0')
		if i < 2 {
			<-turns[i+1] // the later call ends first
		}
		close(turns[i])
		return utp.TextResult(c, utp.StatusOK, c.ID)
	})
	conf := config("", m, run)
	conf.Parallel = 3
	var done, shown []string
	for e, err := range agent.Turn(t.Context(), conf, ask("?")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case agent.Succeeded:
			done = append(done, e.Call.ID)
		case agent.Result:
			shown = append(shown, e.Result.Text())
			if len(done) != 3 {
				t.Error("a result was given before all calls were done")
			}
		}
	}
	if want := []string{"c0", "c1", "c2"}; !cmp.Equal(want, shown) {
		t.Errorf("results %v, want %v", shown, want)
	}
	var ids []string
	for _, r := range m.requests[1].Messages[3].Results() {
		ids = append(ids, r.CallID)
	}
	if want := []string{"c0", "c1", "c2"}; !cmp.Equal(want, ids) {
		t.Errorf("sent %v, want %v", ids, want)
	}
}

// A write never runs beside another call, and the limit holds.
//
// contract: A-11 X-08
func TestWritesRunAlone(t *testing.T) {
	m := readScript(strings.ReplaceAll("call - read_file {\"path\":\"a\"}\ncall - read_file {\"path\":\"b\"}\ncall - read_file {\"path\":\"c\"}\n"+
		"call - write_file {\"path\":\"w\",\"content\":\"\"}\ncall - read_file {\"path\":\"d\"}\n---\ntext Done.\n", "\t", ""))
	var mu sync.Mutex
	running, most := 0, 0
	run := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		mu.Lock()
		running++
		most = max(most, running)
		if c.Name == "write_file" && running > 1 {
			t.Error("a write ran beside another call")
		}
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		return utp.TextResult(c, utp.StatusOK, "ok")
	})
	conf := config("tier run\nallow run", m, run)
	conf.Parallel = 2
	a, err := agent.Ask(t.Context(), conf, ask("?"))
	if err != nil || len(a.Calls) != 5 {
		t.Fatalf("%d calls, %v", len(a.Calls), err)
	}
	if most > 2 {
		t.Errorf("%d calls at a time, want at most 2", most)
	}
}

// contract: A-07
func TestCtrlCStopsCleanly(t *testing.T) {
	boom := errors.New("ctrl-c")
	for _, at := range []agent.Kind{agent.Round, agent.Text, agent.Started, agent.Succeeded, agent.Result} {
		ctx, cancel := context.WithCancelCause(t.Context())
		m := readScript("text Look:\ncall 1 read_file {\"path\":\"a\"}\n---\ntext Done.\n")
		var last error
		n := 0
		for e, err := range agent.Turn(ctx, config("", m, &bench{}), ask("?")) {
			n++
			last = err
			if e.Kind == at {
				cancel(boom)
			}
			if e.Kind == agent.Final {
				t.Errorf("%s: an answer after the end", at)
			}
		}
		var e *agent.Error
		if !errors.As(last, &e) || !errors.Is(last, agent.ErrStopped) || !errors.Is(last, boom) {
			t.Errorf("%s: ended with %v", at, last)
		}
		cancel(nil)
	}
}

// contract: A-07
func TestCtrlCReachesARunningTool(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	run := agent.RunnerFunc(func(ctx context.Context, c utp.Call) utp.Result {
		cancel()
		<-ctx.Done()
		return utp.TextResult(c, utp.StatusFailed, "stopped")
	})
	m := readScript("call 1 read_file {\"path\":\"a\"}\ncall 2 read_file {\"path\":\"b\"}\n---\ntext Done.\n")
	a, err := agent.Ask(ctx, config("", m, run), ask("?"))
	if !errors.Is(err, agent.ErrStopped) || !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if len(m.requests) != 1 || a.Text != "" {
		t.Errorf("%d requests, answer %q", len(m.requests), a.Text)
	}
}

// Who stops reading stops the turn, wherever it stands.
//
// contract: A-07
func TestLeavingStopsTheTurn(t *testing.T) {
	script := "text Look:\ncall 1 read_file {\"path\":\"a\"}\ncall 2 read_file {\"path\":\"b\"}\n---\ntext Done.\n"
	total := 0
	for range agent.Turn(t.Context(), config("", readScript(script), &bench{}), ask("?")) {
		total++
	}
	for stop := 1; stop <= total; stop++ {
		conf := config("", readScript(script), &bench{})
		conf.Parallel = 4
		n := 0
		for range agent.Turn(t.Context(), conf, ask("?")) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d events after %d", n, stop)
		}
	}
}

// contract: A-07
func TestStepIsCalledEachRound(t *testing.T) {
	m := readScript("call 1 read_file {\"path\":\"a\"}\n---\ncall 2 read_file {\"path\":\"b\"}\n---\ntext Done.\n")
	conf := config("", m, &bench{})
	enough := errors.New("enough")
	var seen []int
	conf.Step = func(_ context.Context, round int) error {
		if seen = append(seen, round); round == 3 {
			return enough
		}
		return nil
	}
	a, err := agent.Ask(t.Context(), conf, ask("?"))
	if !errors.Is(err, enough) || !cmp.Equal(seen, []int{1, 2, 3}) || len(m.requests) != 2 || len(a.Calls) != 2 {
		t.Errorf("%v, rounds %v, %d requests, %d calls", err, seen, len(m.requests), len(a.Calls))
	}
}

func TestInventedNamesCanBeCounted(t *testing.T) {
	m := readScript("call 1 grep {}\ncall 2 grep {\"a\":1}\ncall 3 browse {}\ncall 4 read_file {\"path\":\"a\"}\n---\ntext Done.\n")
	count := map[string]int{}
	for e, err := range agent.Turn(t.Context(), config("", m, &bench{}), ask("?")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == agent.Failed && e.Refusal == agent.UnknownTool {
			count[e.Call.Name]++
		}
	}
	if want := map[string]int{"grep": 2, "browse": 1}; !cmp.Equal(want, count) {
		t.Errorf("%v, want %v", count, want)
	}
}

// contract: A-03 CON-21
func TestNoLimitNeedsABudget(t *testing.T) {
	for _, c := range []agent.Config{{}, {Model: readScript("text x"), Rounds: -1}} {
		if _, err := agent.Ask(t.Context(), c, ask("?")); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	m := readScript("call - read_file {\"path\":\"a\"}\nusage 9 1\n---\ncall - read_file {\"path\":\"b\"}\nusage 9 1\n---\ntext Done.\n")
	a, err := agent.Ask(t.Context(), config("rounds -1\nbudget 20", m, &bench{}), ask("?"))
	if err != nil || a.Rounds != 2 || !strings.Contains(a.Forced, "budget") {
		t.Errorf("%+v, %v", a, err)
	}
}

// A choice that forces a call counts once, or the turn could not end.
//
// contract: A-01 A-04
func TestForcedChoiceCountsOnce(t *testing.T) {
	m := readScript("call 1 read_file {\"path\":\"a\"}\n---\ncall 2 read_file {\"path\":\"b\"}\n---\ntext Done.\n")
	r := ask("?")
	r.Choice = utp.Choice{Mode: utp.ChoiceNamed, Name: "read_file", Allowed: []string{"read_file"}}
	if _, err := agent.Ask(t.Context(), config("rounds 2", m, &bench{}), r); err != nil {
		t.Fatal(err)
	}
	var got []utp.ChoiceMode
	for _, r := range m.requests {
		got = append(got, r.Choice.Mode)
	}
	if want := []utp.ChoiceMode{utp.ChoiceNamed, utp.ChoiceAuto, utp.ChoiceNone}; !cmp.Equal(want, got) {
		t.Errorf("%v, want %v", got, want)
	}
	if r.Choice.Mode != utp.ChoiceNamed || len(r.Messages) != 2 || r.Tools != nil {
		t.Error("the caller's request was changed")
	}
}

// contract: A-02
func TestWithoutAGateThereAreNoTools(t *testing.T) {
	m := readScript("call 1 read_file {\"path\":\"a\"}\n---\ntext Done.\n")
	a, err := agent.Ask(t.Context(), agent.Config{Model: m}, ask("?"))
	if err != nil || a.Text != "Done." || len(m.requests[0].Tools) != 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	if len(a.Calls) != 1 || a.Calls[0].Result.Text() != "Tool 'read_file' does not exist. Available: none" {
		t.Errorf("%+v", a.Calls)
	}
}

// contract: I-11 A-17
func TestImagesReachTheModel(t *testing.T) {
	m := readScript("call 1 read_file {\"path\":\"a.png\"}\n---\ntext A cat.\n")
	run := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		return utp.Result{Parts: []utp.Part{utp.Text{Text: strings.Repeat("x", 50)}, utp.Blob{MIME: "image/png", Data: []byte{1}}}}
	})
	conf := config("maxresult 10", m, run)
	conf.Gate.Tools = schema.Compile(tools)
	if _, err := agent.Ask(t.Context(), conf, ask("?")); err != nil {
		t.Fatal(err)
	}
	r := m.requests[1].Messages[3].Results()[0]
	if len(r.Parts) != 3 || r.Status != utp.StatusOK {
		t.Fatalf("%+v", r)
	}
	if _, ok := r.Parts[1].(utp.Blob); !ok {
		t.Errorf("the image is gone: %+v", r.Parts)
	}
}
