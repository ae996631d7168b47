package record_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/record"
)

var reply = record.Reply{
	ID: "r1", Time: time.Date(2026, 11, 23, 3, 0, 0, 5000, time.UTC), By: record.ByServe, Conversation: "c0ffee", Client: "ci", API: "openai",
	Speaks: "ollama", Backend: "gpu", Route: "fast", Asked: "qwen3:8b", Answered: "qwen3:8b", Digest: "sha256:1", Form: "hermes", Why: "profile",
	Trial: true, Stream: true, Tools: 2, Required: true, Status: 200, Reason: "ok", Took: 1_200_000, First: 80_000,
	Usage: utp.Usage{Input: 100, Output: 20}, Stop: utp.StopTool,
	Calls: []record.Call{{Name: "search", Source: "qwen", Fixes: []string{"trailing comma"}, Guessed: true, Outcome: utp.StatusOK, Took: 900},
		{Name: "find_it", Source: utp.SourceNative, Hallucinated: true, Refusal: "unknown_tool", Outcome: utp.StatusFailed}},
	Problems: []record.Problem{{Kind: utp.ProblemUnknownTool, Name: "grep_all", Dialect: "hermes"}},
	Losses:   []record.Loss{{What: "top_k", Count: 2}}, Tries: 2, Again: "no call", Announced: true, Markup: true,
}

var command = record.Command{Time: reply.Time, Agent: "claude-dc", Session: "s", Cmd: "grep", ID: "c1", Query: "q", Mode: record.Enriched,
	Input: 9000, Output: 800, Tokens: 200, Saved: 2050, Truncated: true, Way: record.Way{Matches: 10, Percent: 20, Crumbs: 5, Zone: true}, Handle: "res_1", Took: 12_000, Exit: 1, Error: "timeout"}

// What is written is read back, whatever it is.
func TestLinesAreReadBack(t *testing.T) {
	for _, e := range []record.Event{reply, command, record.Content{ID: "r1", Time: reply.Time, Request: "<&>\u2028", Raw: "\x00", Cut: true},
		record.Dropped{Time: reply.Time, Count: 3}} {
		line, err := record.Append([]byte("before"), e)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimPrefix(string(line), "before")
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Errorf("no line: %q", text)
		}
		if back, err := record.Decode([]byte(text)); err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%v\n got %+v\nwant %+v", err, back, e)
		}
	}
}

// Lines of version 1 are read for as long as there are such files.
func TestOldLines(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		var out strings.Builder
		var skipped record.Skipped
		for line := range strings.Lines(c.Get("lines")) {
			e, err := record.Decode([]byte(line))
			skipped.Note(err)
			if err != nil {
				out.WriteString(err.Error() + "\n")
				continue
			}
			if r, ok := e.(record.Reply); ok {
				outcome, why := record.Judge(&r)
				out.WriteString(strings.TrimSpace(string(outcome)+" "+why) + " " + strings.Join(r.Invented(), ",") + "\n")
			}
			again, err := record.Append(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(again)
		}
		if skipped.Lines() != strings.Count(out.String(), "record: ") {
			t.Errorf("%+v counted", skipped)
		}
		c.Want(t, "read", out.String())
	})
}

// The words of a model that never end do not fill the disk, and what is left out
// is counted.
func TestBounds(t *testing.T) {
	r := record.Reply{ID: "r", Answered: strings.Repeat("é", 100_000)}
	for range 1000 {
		r.Calls = append(r.Calls, record.CallOf(utp.Call{Name: strings.Repeat("n", 1<<20), Fixes: make([]utp.Fix, 1000)}))
		r.Problems = append(r.Problems, record.ProblemOf(&utp.Problem{Name: strings.Repeat("\x01", 1<<20), Want: strings.Repeat("w", 1<<20)}))
	}
	line, err := record.Append(nil, r)
	if err != nil || len(line) > 1<<20 {
		t.Fatalf("%d bytes, %v", len(line), err)
	}
	e, err := record.Decode(line)
	if err != nil || e.(record.Reply).Left != 2*(1000-64) || len(r.Calls) != 1000 {
		t.Errorf("left %d, %v", e.(record.Reply).Left, err)
	}
	if line, err := record.Append(nil, record.Content{Raw: strings.Repeat("x", record.MaxLine)}); err == nil || len(line) > 0 {
		t.Errorf("a line of %d bytes", len(line))
	}
}

func TestJudge(t *testing.T) {
	good := record.Reply{Tools: 1, Status: 200, Stop: utp.StopTool, Calls: []record.Call{{Name: "f", Source: "native", Fixes: []string{"trailing comma"}}}}
	if o, why := record.Judge(&good); o != record.Good || why != "" {
		t.Fatalf("%s %q", o, why)
	}
	for name, c := range map[string]struct {
		change func(*record.Reply)
		want   record.Outcome
		why    string
	}{
		"no tools":           {func(r *record.Reply) { r.Tools = 0 }, record.Uncounted, ""},
		"no call":            {func(r *record.Reply) { r.Calls = nil }, record.Silent, ""},
		"no call, required":  {func(r *record.Reply) { r.Calls, r.Required = nil, true }, record.Bad, record.NoCall},
		"announced":          {func(r *record.Reply) { r.Calls, r.Announced = nil, true }, record.Bad, record.Announced},
		"announced and done": {func(r *record.Reply) { r.Announced = true }, record.Good, ""},
		"markup":             {func(r *record.Reply) { r.Markup = true }, record.Bad, record.Markup},
		"broken":             {func(r *record.Reply) { r.Problems = []record.Problem{{Kind: utp.ProblemMalformed}} }, record.Bad, "malformed"},
		"invalid":            {func(r *record.Reply) { r.Problems = []record.Problem{{Kind: utp.ProblemInvalid}} }, record.Bad, "invalid"},
		"quoted": {func(r *record.Reply) {
			r.Problems = []record.Problem{{Kind: utp.ProblemQuoted}, {Kind: utp.ProblemRepeated}}
		}, record.Good, ""},
		"unknown":             {func(r *record.Reply) { r.Calls[0].Hallucinated = true }, record.Bad, "unknown_tool"},
		"refused arguments":   {func(r *record.Reply) { r.Calls[0].Invalid = true }, record.Bad, "invalid"},
		"again":               {func(r *record.Reply) { r.Again = "no call" }, record.Bad, record.AskedAgain},
		"guessed":             {func(r *record.Reply) { r.Calls[0].Guessed = true }, record.Bad, record.Guessed},
		"tool failed":         {func(r *record.Reply) { r.Calls[0].Outcome, r.Calls[0].Refusal = utp.StatusFailed, "tier" }, record.Good, ""},
		"server failed":       {func(r *record.Reply) { r.Status, r.Stop, r.Calls = 503, "", nil }, record.Uncounted, ""},
		"cut off":             {func(r *record.Reply) { r.Stop = utp.StopError }, record.Uncounted, ""},
		"server cannot parse": {func(r *record.Reply) { r.Status, r.Stop = 500, utp.StopBadCall }, record.Bad, "malformed"},
		"required, gone":      {func(r *record.Reply) { r.Status, r.Stop, r.Calls, r.Required = 499, "", nil, true }, record.Uncounted, ""},
	} {
		r := good
		r.Calls = append([]record.Call(nil), good.Calls...)
		c.change(&r)
		if o, why := record.Judge(&r); o != c.want || why != c.why {
			t.Errorf("%s: %s %q, want %s %q", name, o, why, c.want, c.why)
		}
	}
}

// A call says which of its repairs were guesses, as their maker knows it.
func TestGuessed(t *testing.T) {
	plain := record.CallOf(utp.Call{Source: "text:hermes", Fixes: []utp.Fix{{Why: "trailing comma"}}})
	if plain.Guessed || plain.Source != "hermes" || plain.Fixes[0] != "trailing comma" {
		t.Errorf("%+v", plain)
	}
	if !record.CallOf(utp.Call{Fixes: []utp.Fix{{Why: "a"}, {Why: "b", Guess: true}}}).Guessed {
		t.Error("a guess is not seen")
	}
}

func TestVersion(t *testing.T) {
	for want, r := range map[string]record.Reply{
		"sha256:1": {Digest: "sha256:1", Asked: "m", Answered: "m-2"}, "gpt-4o-2024-08-06": {Asked: "gpt-4o", Answered: "gpt-4o-2024-08-06"},
	} {
		if got := r.Version(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, r := range []record.Reply{{}, {Asked: "m"}, {Asked: "m", Answered: "m"}, {Asked: "m", Answered: "m:latest"}, {Asked: "m", Answered: "/models/x.gguf"}} {
		if got := r.Version(); got != "" {
			t.Errorf("%+v: %q", r, got)
		}
	}
}

func TestMismatched(t *testing.T) {
	for form, want := range map[string]bool{"native": true, "hermes": false, "react": true, "": false, record.FormNone: false} {
		if r := (record.Reply{Form: form}); r.Mismatched(record.Call{Source: "hermes"}) != want {
			t.Errorf("%q: %v", form, !want)
		}
	}
}

// What Decode takes, Append writes and Decode reads the same.
func FuzzDecode(f *testing.F) {
	for _, e := range []record.Event{reply, command, record.Content{ID: "1", Raw: "x"}, record.Dropped{Count: 1}} {
		line, err := record.Append(nil, e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"v":2,"kind":"reply"}`))
	f.Add([]byte(`{"v":1,"kind":"later","x":[]}`))
	f.Add([]byte(`{"v":1,"kind":"reply","id":"`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := record.Decode(line)
		if err != nil {
			if e != nil || !errors.Is(err, record.ErrBroken) && !errors.Is(err, record.ErrNewer) && !errors.Is(err, record.ErrKind) {
				t.Fatalf("%v, %v", e, err)
			}
			return
		}
		once, err := record.Append(nil, e)
		if err != nil {
			return // a time that JSON cannot say, or a line that is too long
		}
		back, err := record.Decode(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		twice, err := record.Append(nil, back)
		if err != nil || string(twice) != string(once) && len(once) < 1<<10 {
			t.Fatalf("%v\n%s\n%s", err, once, twice)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	var line []byte
	for b.Loop() {
		line, _ = record.Append(line[:0], reply)
	}
}
