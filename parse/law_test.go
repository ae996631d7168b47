package parse_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

const cases = "../grammar/testdata/*/*.txtar"

// config is what a case knows: the folder names the grammar ("auto": none),
// the section tools the offered tools, prefill the prompt's end.
func config(t *testing.T, c *golden.Case) parse.Config {
	t.Helper()
	cfg := parse.Config{Tools: schema.Compile(tools(t, c.Get("tools"))), Prefill: c.Get("prefill"), Forced: c.Get("forced")}
	if c.Has("seen") {
		cfg.Seen = []string{c.Get("seen")}
	}
	if c.Has("stops") {
		cfg.Stops = strings.Split(c.Get("stops"), "\n")
	}
	folder, _, _ := strings.Cut(c.Name, "/")
	if folder == "auto" {
		return cfg
	}
	g, ok := grammar.ByName(folder)
	if !ok {
		t.Fatalf("the folder %s names no grammar", folder)
	}
	cfg.Grammars = []*grammar.Grammar{g}
	return cfg
}

// tools reads a JSON list of {name, parameters}, or one name a line.
func tools(t *testing.T, s string) (out []utp.Tool) {
	t.Helper()
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[") {
		for _, name := range strings.Fields(s) {
			out = append(out, utp.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
		}
		return out
	}
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		t.Fatalf("section tools: %v", err)
	}
	return out
}

// feed parses in chunks that end at the cuts.
func feed(cfg parse.Config, s string, cut bool, at ...int) (evs []utp.Event) {
	p := parse.New(cfg)
	from := 0
	for _, to := range append(at, len(s)) {
		evs = append(evs, p.Feed(s[from:to])...)
		from = to
	}
	return append(evs, p.Close(cut)...)
}

// TestCases runs every case of every grammar, and the laws over it.
//
// contract: P-17 P-18 Z-07 Z-08 N-05 R-04
func TestCases(t *testing.T) {
	golden.Run(t, cases, func(t *testing.T, c *golden.Case) {
		cfg, in, cut := config(t, c), c.Get("in"), c.Has("cut")
		whole := feed(cfg, in, cut)
		c.Want(t, "events", parse.Transcript(utp.Collect(whole)))
		laws(t, cfg, in, cut, whole)
	})
}

// TestAutoFindsEveryCall reads the cases of every grammar, where the tools are
// known, without being told the grammar: the calls are the same.
func TestAutoFindsEveryCall(t *testing.T) {
	golden.Run(t, cases, func(t *testing.T, c *golden.Case) {
		cfg := config(t, c)
		if cfg.Grammars == nil || !c.Has("tools") {
			return
		}
		in, cut := c.Get("in"), c.Has("cut")
		if strings.HasPrefix(c.Name, "react") && strings.Contains(in, "Observation:") {
			return // a transcript, unless somebody says that the model writes ReAct
		}
		own := calls(feed(cfg, in, cut))
		cfg.Grammars = nil
		if auto := calls(feed(cfg, in, cut)); auto != own {
			t.Errorf("%s:\n--- by its name\n%s--- auto\n%s", c.Path, own, auto)
		}
	})
}

// calls lists the calls of events, a line each.
func calls(evs []utp.Event) string {
	var b strings.Builder
	for _, e := range evs {
		if e.Kind == utp.EventCallEnd {
			fmt.Fprintf(&b, "%s %s\n", e.Call.Name, e.Call.Args)
		}
	}
	return b.String()
}

// laws checks what holds for every input.
func laws(t *testing.T, cfg parse.Config, in string, cut bool, whole []utp.Event) {
	t.Helper()
	tile(t, in, whole)
	started(t, whole)
	numbered(t, whole)
	want := merged(whole)
	check := func(at ...int) {
		t.Helper()
		got := feed(cfg, in, cut, at...)
		tile(t, in, got)
		if g := merged(got); g != want {
			t.Fatalf("cut at %v:\n--- whole\n%s--- cut\n%s", at, want, g)
		}
	}
	if len(in) <= 4096 {
		for i := range len(in) {
			check(i)
		}
	}
	check(every(len(in), 1)...)
	check(every(len(in), 3)...)
	rng := rand.New(rand.NewSource(int64(len(in))))
	for range 20 {
		var at []int
		for i := range len(in) {
			if rng.Intn(4) == 0 {
				at = append(at, i)
			}
		}
		check(at...)
	}
}

func every(n, step int) (at []int) {
	for i := step; i < n; i += step {
		at = append(at, i)
	}
	return at
}

// tile: the Raws joined are the input.
func tile(t *testing.T, in string, evs []utp.Event) {
	t.Helper()
	if broken := tileLaw(in, evs); broken != "" {
		t.Fatal(broken)
	}
}

// started: deltas joined are the arguments, which are a JSON object; a started
// call ends once.
func started(t *testing.T, evs []utp.Event) {
	t.Helper()
	if broken := startedLaw(evs); broken != "" {
		t.Fatal(broken)
	}
}

func startedLaw(evs []utp.Event) string {
	deltas := map[int]string{}
	open := map[int]bool{}
	for _, e := range evs {
		switch e.Kind {
		case utp.EventCallStart:
			if open[e.Part] {
				return fmt.Sprintf("part %d starts twice", e.Part)
			}
			open[e.Part] = true
		case utp.EventCallDelta:
			if !open[e.Part] {
				return fmt.Sprintf("part %d has a delta without a start", e.Part)
			}
			deltas[e.Part] += e.Text
		case utp.EventCallEnd:
			if !open[e.Part] {
				return fmt.Sprintf("part %d ends without a start", e.Part)
			}
			delete(open, e.Part)
			if deltas[e.Part] != string(e.Call.Args) {
				return fmt.Sprintf("deltas %q, arguments %q", deltas[e.Part], e.Call.Args)
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal(e.Call.Args, &object); err != nil {
				return fmt.Sprintf("arguments %s: %v", e.Call.Args, err)
			}
		case utp.EventProblem:
			delete(open, e.Part)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("calls never end: %v", open)
	}
	return ""
}

// numbered: parts count from 0 in the order in which they begin.
func numbered(t *testing.T, evs []utp.Event) {
	t.Helper()
	next := 0
	for _, e := range evs {
		switch {
		case e.Kind == utp.EventMark:
		case e.Part > next:
			t.Fatalf("part %d begins where part %d is due", e.Part, next)
		case e.Part == next:
			next++
		}
	}
}

// merged prints events with runs of text, thinking and arguments joined.
func merged(evs []utp.Event) string {
	var b strings.Builder
	last, part := utp.Kind(0), -1
	for _, e := range evs {
		if e.Kind == utp.EventMark {
			continue
		}
		if e.Kind != last || e.Part != part {
			fmt.Fprintf(&b, "\n%s %d ", e.Kind, e.Part)
		}
		last, part = e.Kind, e.Part
		switch e.Kind {
		case utp.EventCallEnd:
			j, _ := json.Marshal(e.Call)
			b.Write(j)
		case utp.EventCallStart:
			b.WriteString(e.Call.Name)
		case utp.EventProblem:
			j, _ := json.Marshal(e.Problem)
			b.Write(j)
		default:
			b.WriteString(e.Text)
		}
	}
	return b.String() + "\n"
}
