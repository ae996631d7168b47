package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/transcript"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

// hours is a clock on which every piece of text is old enough to be logged.
func hours() func() time.Time {
	at := time.Unix(0, 0)
	return func() time.Time { at = at.Add(time.Hour); return at }
}

// A turn that broke at any entry of its log goes on: what is sent is accepted
// by every provider's codec, each call has one result, and the cut text is in it.
// The turns are those of testdata/turn.
func TestWhatResumeSendsIsAccepted(t *testing.T) {
	codecs := map[string]struct {
		back  wire.Back
		front wire.Front
	}{
		"ollama": {ollama.Back{}, ollama.Front{}}, "openai": {openai.Back{}, openai.Front{}}, "responses": {responses.Back{}, responses.Front{}},
		"anthropic": {anthropic.Back{}, anthropic.Front{}}, "gemini": {gemini.Back{}, gemini.Front{}},
	}
	turns, boundaries := 0, 0
	golden.Run(t, "testdata/turn/*.txtar", func(t *testing.T, c *golden.Case) {
		kept := &notebook{}
		conf := config(c.Get("config"), readScript(c.Get("script")), &bench{})
		conf.Session, conf.Now = kept, hours()
		_, _ = agent.Ask(t.Context(), conf, ask("Where is it?")) // some of them fail, and shall
		turns++
		for n := range kept.log {
			boundaries++
			ms := transcript.Messages(kept.log[:n+1])
			checkPairs(t, ms)
			r := ask("Go on.")
			r.Messages = slices.Concat(r.Messages[:1], ms, r.Messages[1:])
			r.Tools = tools
			for name, codec := range codecs {
				x, err := codec.back.Open(r)
				if err != nil {
					t.Fatalf("%s, after entry %d: %v", name, n+1, err)
				}
				if _, _, err := codec.front.Read(wire.HTTPRequest{Path: x.Path, Body: x.Body}); err != nil {
					t.Fatalf("%s reads what it wrote after entry %d: %v\n%s", name, n+1, err, x.Body)
				}
			}
		}
	})
	if turns < 10 || boundaries < 200 {
		t.Errorf("%d turns with %d entries", turns, boundaries)
	}
}

// checkPairs wants for each message with calls one with their results, in order,
// and an answer of the model at the end.
func checkPairs(t *testing.T, ms []utp.Message) {
	t.Helper()
	for i, m := range ms {
		var want, got []string
		for _, c := range m.Calls() {
			want = append(want, c.ID)
		}
		if len(want) == 0 {
			continue
		}
		if i+1 < len(ms) {
			for _, r := range ms[i+1].Results() {
				got = append(got, r.CallID)
			}
		}
		if !slices.Equal(want, got) {
			t.Errorf("the calls %v have the results %v", want, got)
		}
	}
	if last := ms[len(ms)-1]; last.Role != utp.RoleAssistant || strings.TrimSpace(last.Text()) == "" {
		t.Errorf("the last message is of %s: %q", last.Role, last.Text())
	}
}

// What was said and done before the server died is in the log and in the answer.
func TestBrokenTurnIsKept(t *testing.T) {
	kept := &notebook{}
	conf := config("", readScript("call a read_file {\"path\":\"x\"}\n---\ntext Ten words\nbegin read_file <tool_call>{\"na\nfail no route to host\n"), &bench{})
	conf.Session = kept
	a, err := agent.Ask(t.Context(), conf, ask("Where is it?"))
	if err == nil || a.Text != "Ten words" || len(a.Calls) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	var got []string
	for _, m := range transcript.Messages(kept.log) {
		got = append(got, showMessage(m))
	}
	want := `user | "Where is it?"
assistant | call a read_file{"path":"x"} native
tool | result a read_file ok "run 1: read_file of x"
assistant | "Ten words<tool_call>{\"na\n[cut off here: the turn was interrupted]"`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s", text)
	}
	end := kept.log[len(kept.log)-1]
	if end.Kind != transcript.End || end.Reason != transcript.Failed || !strings.Contains(end.Text, "no route to host") {
		t.Errorf("the end: %+v", end)
	}
}

// Each call is in the log, with who decided, before it runs; its result before
// the model reads it.
func TestACallIsLoggedBeforeItRuns(t *testing.T) {
	kept := &notebook{}
	runs := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result {
		last := kept.log[len(kept.log)-1]
		if last.Kind != transcript.Call || last.Call.ID != c.ID || last.Decision != transcript.Allowed {
			t.Errorf("%s runs behind the entry %s %s", c.ID, last.Kind, last.Decision)
		}
		return utp.TextResult(c, utp.StatusOK, "done")
	})
	conf := config("tier run\nconfirm yes", readScript("call a read_file {\"path\":\"x\"}\ncall b write_file {\"path\":\"y\",\"content\":\"\"}\ncall c nothing {}\n---\ntext Well.\n"), runs)
	conf.Session = kept
	if _, err := agent.Ask(t.Context(), conf, ask("?")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range kept.log {
		switch e.Kind {
		case transcript.Call:
			got = append(got, e.Call.ID+" "+e.Tier+" "+string(e.Decision)+" "+e.By)
		case transcript.Result:
			got = append(got, e.Result.CallID+" "+string(e.Result.Status))
		default:
			got = append(got, string(e.Kind))
		}
	}
	want := "question, request, reply, a WALK allowed tier, a ok, b RUN asked , b RUN allowed user, b ok, c CRAWL denied unknown_tool, c error, request, text, reply, end"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// Text is shown only when it is logged, in pieces of 200 ms or 1 KB at most.
func TestTextIsLoggedBeforeItIsShown(t *testing.T) {
	kept := &notebook{}
	at := time.Unix(0, 0)
	conf := config("", nil, &bench{})
	conf.Model = streamer(func(yield func(utp.Event, error) bool) {
		for range 500 {
			at = at.Add(10 * time.Millisecond)
			yield(utp.Event{Kind: utp.EventText, Text: "word "}, nil)
		}
		yield(utp.Event{Kind: utp.EventText, Text: strings.Repeat("x", 3000)}, nil)
		yield(utp.Event{Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopEnd}}, nil)
	})
	conf.Session, conf.Now = kept, func() time.Time { return at }
	shown := ""
	for e, err := range agent.Turn(t.Context(), conf, ask("?")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != agent.Text {
			continue
		}
		shown += e.Text
		if logged := textOf(kept.log); !strings.HasPrefix(logged, shown) {
			t.Fatalf("%d bytes are shown and %d logged", len(shown), len(logged))
		}
	}
	pieces := 0
	for _, e := range kept.log {
		if e.Kind == transcript.Text {
			pieces++
		}
	}
	if pieces < 25 || pieces > 60 || len(shown) != 5500 {
		t.Errorf("%d bytes in %d pieces", len(shown), pieces)
	}
}

func textOf(log []transcript.Entry) (text string) {
	for _, e := range log {
		if e.Kind == transcript.Text {
			text += e.Text
		}
	}
	return text
}

type streamer func(yield func(utp.Event, error) bool)

func (s streamer) Stream(context.Context, *utp.Request) iter.Seq2[utp.Event, error] {
	return iter.Seq2[utp.Event, error](s)
}

// A log that fills the disk costs one warning and no answer.
func TestAFullDiskCostsOneWarning(t *testing.T) {
	conf := config("", readScript("call a read_file {\"path\":\"x\"}\n---\ntext Well.\n"), &bench{})
	conf.Session = &writeFails{err: errors.New("disk full")}
	warned := 0
	for e, err := range agent.Turn(t.Context(), conf, ask("?")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == agent.Warning {
			warned++
		}
	}
	if warned != 1 {
		t.Errorf("%d warnings, want 1", warned)
	}
}

// The log survives JSON.
func TestEntriesSurviveJSON(t *testing.T) {
	kept := &notebook{}
	conf := config("", readScript("think Hm.\ncall a read_file {\"path\":\"x\"}\n---\ntext Well.\n"), &bench{})
	conf.Session = kept
	if _, err := agent.Ask(t.Context(), conf, ask("?")); err != nil {
		t.Fatal(err)
	}
	var again []transcript.Entry
	b, err := json.Marshal(kept.log)
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err != nil || toJSON(transcript.Messages(again)) != toJSON(transcript.Messages(kept.log)) {
		t.Errorf("%v: %s", err, toJSON(transcript.Messages(again)))
	}
}

// A tool that ends because the user stopped the turn is told as stopped, and not
// with an error of the program's own.
func TestAStoppedToolIsToldAsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	kept := &notebook{}
	conf := config("", readScript("call a read_file {\"path\":\"x\"}\n---\ntext Well.\n"), agent.RunnerFunc(func(ctx context.Context, c utp.Call) utp.Result {
		stop()
		return utp.TextResult(c, utp.StatusFailed, ctx.Err().Error())
	}))
	conf.Session = kept
	if _, err := agent.Ask(ctx, conf, ask("?")); !errors.Is(err, agent.ErrStopped) {
		t.Fatal(err)
	}
	for _, e := range kept.log {
		if e.Kind == transcript.Result && !strings.Contains(e.Result.Text(), "The user stopped it before it was done") {
			t.Errorf("the result: %q", e.Result.Text())
		}
	}
	if end := kept.log[len(kept.log)-1]; end.Reason != transcript.Stopped {
		t.Errorf("the end: %+v", end)
	}
}
