package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var tools = []utp.Tool{
	{Name: "search_code", Tier: utp.TierCrawl, Schema: json.RawMessage(
		`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "read_file", Tier: utp.TierWalk, Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "list_dir", Tier: utp.TierWalk, Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "write_file", Tier: utp.TierRun, Confirm: true, Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
}

// bench runs the tools above and counts what ran.
type bench struct {
	mu  sync.Mutex
	ran []string
}

func (b *bench) Run(ctx context.Context, c utp.Call) utp.Result {
	b.mu.Lock()
	b.ran = append(b.ran, c.Name)
	n := len(b.ran)
	b.mu.Unlock()
	var args struct{ Query, Path, Content string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return utp.TextResult(c, utp.StatusFailed, err.Error())
	}
	switch {
	case args.Path == "panic":
		panic("the disk is on fire")
	case args.Path == "lost":
		return utp.Result{}
	case args.Path == "missing":
		return utp.TextResult(c, utp.StatusFailed, "File not found: missing")
	case args.Path == "big":
		return utp.TextResult(c, utp.StatusOK, strings.Repeat("0123456789abcde\n", 10))
	case c.Name == "search_code":
		return utp.TextResult(c, utp.StatusOK, "a.go:1 has "+args.Query)
	case c.Name == "write_file":
		return utp.TextResult(c, utp.StatusOK, "written "+args.Path)
	}
	return utp.TextResult(c, utp.StatusOK, fmt.Sprintf("run %d: %s of %s", n, c.Name, args.Path))
}

// script is a Model that says what it was told to, reply by reply, and the
// last one for ever.
type script struct {
	replies  [][]utp.Event
	fail     map[int]error // by reply: the stream ends in this
	mu       sync.Mutex
	requests []*utp.Request
}

func (s *script) Stream(ctx context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	s.mu.Lock()
	n := min(len(s.requests), len(s.replies)-1)
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	return func(yield func(utp.Event, error) bool) {
		for _, e := range s.replies[n] {
			if err := ctx.Err(); err != nil {
				yield(utp.Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := s.fail[n]; err != nil {
			yield(utp.Event{}, err)
		}
	}
}

// readScript reads replies, with "---" between them, one event a line:
//
//	text|think|mark|quote WORDS     a delta, markup, quoted markup
//	call ID|- NAME ARGS             a native call
//	textcall NAME ARGS              a call found in text
//	problem KIND NAME WORDS         a call that cannot be read
//	try NAME WORDS                  text that turns out at the end to be a try at a call of no tool
//	begin NAME TEXT                 a call that begins and does not end
//	usage IN OUT | stop STOP | fail WORDS | cut
func readScript(text string) *script {
	s := &script{fail: map[int]error{}}
	for i, reply := range strings.Split(text, "---\n") {
		evs, err := readReply(reply)
		s.replies, s.fail[i] = append(s.replies, evs), err
	}
	return s
}

func readReply(text string) (evs []utp.Event, fail error) {
	end, finish := utp.End{Stop: utp.StopEnd, Model: "scripted"}, true
	for part, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		f := append(strings.SplitN(rest, " ", 3), "", "", "")
		e := utp.Event{Part: part}
		switch word {
		case "":
			continue
		case "text":
			e.Kind, e.Text, e.Raw = utp.EventText, rest, rest
		case "think":
			e.Kind, e.Text = utp.EventThink, rest
		case "mark":
			e.Kind, e.Raw = utp.EventMark, rest
		case "quote":
			e.Kind, e.Raw, e.Problem = utp.EventProblem, rest, &utp.Problem{Kind: utp.ProblemQuoted, Raw: rest}
		case "call":
			e.Kind, e.Call = utp.EventCallEnd, &utp.Call{ID: strings.Trim(f[0], "-"), Name: f[1], Args: json.RawMessage(f[2]), Source: utp.SourceNative}
		case "textcall":
			name, args, _ := strings.Cut(rest, " ")
			e.Kind, e.Raw = utp.EventCallEnd, "<tool_call>"+rest+"</tool_call>"
			e.Call = &utp.Call{Name: name, Args: json.RawMessage(args), Source: "text:hermes"}
		case "problem":
			e.Kind, e.Raw = utp.EventProblem, "<tool_call>{broken"
			e.Problem = &utp.Problem{Kind: utp.ProblemKind(f[0]), Name: strings.Trim(f[1], "-"), Offset: 7, Want: "}", Message: f[2], Raw: e.Raw}
		case "try":
			e.Kind, e.Part = utp.EventProblem, -1
			e.Problem = &utp.Problem{Kind: utp.ProblemUnknownTool, Name: f[0], Raw: strings.TrimPrefix(rest, f[0]+" ")}
		case "begin":
			e.Kind, e.Raw, e.Call = utp.EventCallStart, f[1], &utp.Call{Name: f[0], Source: "text:hermes"}
		case "usage":
			end.Usage.Input, _ = strconv.Atoi(f[0])
			end.Usage.Output, _ = strconv.Atoi(f[1])
			continue
		case "stop":
			end.Stop = utp.Stop(rest)
			continue
		case "fail":
			finish, fail = false, errors.New(rest)
			continue
		case "cut":
			finish = false
			continue
		default:
			panic("script: what is " + word)
		}
		evs = append(evs, e)
	}
	if finish {
		evs = append(evs, utp.Event{Kind: utp.EventFinish, Part: 99, End: &end})
	}
	return evs, fail
}

// config reads lines "key value" into a Config with the tools above.
func config(text string, m agent.Model, run agent.Runner) agent.Config {
	gate := &agent.Gate{Tools: schema.Compile(tools), Tier: utp.TierWalk, Runner: run}
	c := agent.Config{Model: m, Gate: gate, Parallel: 1, Now: ticks()}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.Atoi(value)
		switch key {
		case "":
		case "rounds":
			c.Rounds = n
		case "maxcalls":
			c.MaxCalls = n
		case "maxresult":
			c.MaxResult = n
		case "budget":
			c.Budget = n
		case "polling":
			c.Polling = strings.Fields(value)
		case "tier":
			gate.Tier, _ = utp.ParseTier(value)
		case "insist":
			c.Insist = true
		case "suggest":
			c.Suggest = true
		case "allow":
			gate.Allow = strings.Fields(value)
		case "confirm":
			gate.Confirm = func(context.Context, utp.Call, utp.Tool) (bool, string) { return value == "yes", value }
		default:
			panic("config: what is " + key)
		}
	}
	return c
}

// ticks is a clock that moves 5 ms at each look.
func ticks() func() time.Time {
	var mu sync.Mutex
	at := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(5 * time.Millisecond)
		return at
	}
}

func ask(question string) *utp.Request {
	return &utp.Request{Model: "m", Messages: []utp.Message{utp.NewText(utp.RoleSystem, "You help."), utp.NewText(utp.RoleUser, question)}}
}
