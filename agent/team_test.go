package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// member is one that plays a script, with the tools of a tier.
func member(name, tier, script string, run agent.Runner) *agent.Member {
	return &agent.Member{Name: name, Description: "Knows " + name + ".", Config: config("tier "+tier, readScript(script), run),
		Request: utp.Request{Model: name, Messages: []utp.Message{utp.NewText(utp.RoleSystem, "You are "+name+".")}}}
}

// lead asks a team with a script.
func lead(t *testing.T, team *agent.Team, script string) (agent.Answer, *script) {
	t.Helper()
	m := readScript(script)
	conf := agent.Config{Model: m, Parallel: 4, Now: ticks(), Gate: &agent.Gate{Tools: schema.Compile(team.Tools()), Runner: team}}
	a, err := agent.Ask(t.Context(), conf, ask("Where is it?"))
	if err != nil {
		t.Fatal(err)
	}
	return a, m
}

// A member is a tool: it gets the task alone, works with its own model and
// tools, and its answer is the result.
func TestAMemberIsATool(t *testing.T) {
	var ran []string
	run := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		ran = append(ran, c.Name+string(c.Args))
		return utp.TextResult(c, utp.StatusOK, "a.go:1 has it")
	})
	m := member("reader", "walk", "call 1 read_file {\"path\":\"a.go\"}\nusage 10 1\n---\ntext It is in a.go:1.\nusage 20 2\n", run)
	var seen []string
	team := &agent.Team{Members: []*agent.Member{m}, See: func(who string, e agent.Event) {
		if e.Kind == agent.Started || e.Kind == agent.Final {
			seen = append(seen, who+" "+e.Kind.String())
		}
	}}
	a, model := lead(t, team, "call 1 reader {\"task\":\"Look into a.go.\"}\n---\ntext In a.go:1, says the reader.\n")
	if a.Text != "In a.go:1, says the reader." || len(a.Calls) != 1 || a.Calls[0].Result.Text() != "It is in a.go:1." {
		t.Errorf("%+v", a)
	}
	if d := cmp.Diff([]string{"reader started", "reader final"}, seen); d != "" || len(ran) != 1 {
		t.Errorf("%s ran %v", d, ran)
	}
	asked := m.Config.Model.(*script).requests[0].Messages
	if len(asked) != 2 || asked[0].Text() != "You are reader." || asked[1].Text() != "Look into a.go." {
		t.Errorf("the member was asked %v", asked)
	}
	if u := team.Usage(); u.Input != 30 || u.Output != 3 || a.Usage.Input != 0 {
		t.Errorf("the team used %+v, the one who asked %+v", u, a.Usage)
	}
	if tool := model.requests[0].Tools[0]; tool.Name != "reader" || !strings.HasPrefix(tool.Description, "Knows reader.\nIt works on its own") {
		t.Errorf("%+v", tool)
	}
	if len(m.Request.Messages) != 1 {
		t.Error("the member was changed")
	}
}

// A member may lead a team of its own. The outer team's usage holds that of all
// below it, and a member whose members write works alone.
func TestATeamInsideAMember(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, 0
	run := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		return utp.TextResult(c, utp.StatusOK, "ok")
	})
	inner := &agent.Team{Members: []*agent.Member{member("writer", "run", "call 1 read_file {\"path\":\"a\"}\nusage 100 10\n---\ntext Read.\nusage 200 20\n", run)}}
	chief := &agent.Member{Name: "chief", Config: agent.Config{Gate: &agent.Gate{Tools: schema.Compile(inner.Tools()), Runner: inner},
		Model: readScript("call 1 writer {\"task\":\"Read a.\"}\nusage 10 1\n---\ntext The writer read.\nusage 20 2\n")}}
	outer := &agent.Team{Members: []*agent.Member{chief, member("reader", "walk", "call 1 read_file {\"path\":\"b\"}\nusage 1 1\n---\ntext Done.\n", run)}}
	a, _ := lead(t, outer, "call 1 chief {\"task\":\"Go.\"}\ncall 2 reader {\"task\":\"Go.\"}\n---\ntext All done.\n")
	if len(a.Calls) != 2 || a.Calls[0].Result.Text() != "The writer read." || a.Calls[1].Result.Text() != "Done." {
		t.Errorf("%+v", a.Calls)
	}
	if u := inner.Usage(); u.Input != 300 || u.Output != 30 {
		t.Errorf("the inner team used %+v", u)
	}
	if u := outer.Usage(); u.Input != 331 || u.Output != 34 {
		t.Errorf("the outer team used %+v, want what those below used too", u)
	}
	if most != 1 {
		t.Error("a reader worked beside a member that leads a writer")
	}
}

// What goes wrong with a member is a result: no task, no answer, no such member.
func TestAMemberFails(t *testing.T) {
	team := &agent.Team{Members: []*agent.Member{member("reader", "walk", "fail the server is down\n", nil)}}
	for args, want := range map[string]string{
		`{"task":"Look."}`: "reader could not answer: agent: round 1: the server is down",
		`{"task":" "}`:     "The task is missing: say what reader has to do.",
	} {
		r := team.Run(t.Context(), utp.Call{ID: "1", Name: "reader", Args: []byte(args)})
		if r.Status != utp.StatusFailed || r.Text() != want {
			t.Errorf("%s: %s %q", args, r.Status, r.Text())
		}
	}
	if r := team.Run(t.Context(), utp.Call{ID: "1", Name: "other"}); r.Status != utp.StatusFailed {
		t.Errorf("%+v", r)
	}
	team.Next = agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result { return utp.TextResult(c, utp.StatusOK, "next") })
	if r := team.Run(t.Context(), utp.Call{ID: "1", Name: "other"}); r.Text() != "next" {
		t.Errorf("%+v", r)
	}
}

// Members that only read work side by side, one that may write works alone.
func TestMembersThatWriteWorkAlone(t *testing.T) {
	for _, c := range []struct {
		names [2]string
		meet  bool
	}{{[2]string{"a", "b"}, true}, {[2]string{"a", "writer"}, false}, {[2]string{"writer", "a"}, false}} {
		var mu sync.Mutex
		running, met := 0, make(chan struct{})
		run := agent.RunnerFunc(func(_ context.Context, call utp.Call) utp.Result {
			mu.Lock()
			if running++; running == 2 {
				close(met)
			}
			mu.Unlock()
			if c.meet {
				<-met
			}
			mu.Lock()
			running--
			mu.Unlock()
			return utp.TextResult(call, utp.StatusOK, "ok")
		})
		script := "call 1 read_file {\"path\":\"a\"}\n---\ntext Done.\n"
		team, calls := &agent.Team{}, ""
		for i, name := range c.names {
			tier := map[string]string{"a": "walk", "b": "walk", "writer": "run"}[name]
			team.Members = append(team.Members, member(name, tier, script, run))
			calls += fmt.Sprintf("call %d %s {\"task\":\"Go.\"}\n", i, name)
		}
		a, _ := lead(t, team, calls+"---\ntext Done.\n")
		select {
		case <-met:
			if !c.meet {
				t.Errorf("%v worked side by side", c.names)
			}
		default:
		}
		if len(a.Calls) != 2 || a.Calls[0].Result.Text() != "Done." || a.Calls[1].Result.Text() != "Done." {
			t.Errorf("%v: %+v", c.names, a.Calls)
		}
	}
}
