package utp_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// houseStyle is a grammar as a user brings it, in a file.
const houseStyle = `{
	"name": "house-style",
	"think": {"open": "(thinking)", "close": "(/thinking)"},
	"call": {"open": "<run tool=\"{name}\">\n", "close": "</run>"},
	"arg": {"open": "<in name=\"{key}\">", "close": "</in>\n"},
	"noise": ["(end)"],
	"result": {"open": "<out tool=\"{name}\">\n", "close": "\n</out>"},
	"body": "tagged"
}`

func house(t *testing.T) *grammar.Grammar {
	t.Helper()
	g, err := grammar.Load([]byte(houseStyle))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A form is one record: its prompt, its stops, its calls, its results and what
// is cleaned away. Nothing else has to know of it, and it is known nowhere else.
//
// contract: T-06 M-12 W-02 CON-28
func TestAGrammarOfOnesOwn(t *testing.T) {
	g := house(t)
	tool := utp.Tool{Name: "search_code", Description: "Searches.", Schema: json.RawMessage(
		`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)}
	call := utp.Call{ID: "1", Name: "search_code", Args: json.RawMessage(`{"query":"a < b","limit":5}`)}
	r, err := prompt.Render(g, &utp.Request{Tools: []utp.Tool{tool}, Messages: []utp.Message{
		utp.NewText(utp.RoleUser, "Where?"),
		{Role: utp.RoleAssistant, Parts: []utp.Part{call}},
		{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(call, utp.StatusOK, "a.go:1")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"<run tool=\"search_code\">\n<in name=\"query\">", "Where?", "<in name=\"limit\">5</in>", "<out tool=\"search_code\">\na.go:1\n</out>"} {
		if got := r.Messages[i].Text(); !strings.Contains(got, want) {
			t.Errorf("message %d: want %q in %q", i, want, got)
		}
	}
	if got := g.Stops(); !slices.Equal(got, []string{"<out"}) {
		t.Errorf("stops %q", got)
	}
	text, err := prompt.Call(g, call)
	if err != nil {
		t.Fatal(err)
	}
	tools := schema.Compile([]utp.Tool{tool})
	got := parse.Text(parse.Config{Grammars: []*grammar.Grammar{g}, Tools: tools}, "(thinking)Hm.(/thinking)I look. "+text+"(end)")
	if cs := got.Calls(); len(cs) != 1 || string(cs[0].Args) != string(call.Args) || cs[0].Source != "text:house-style" || got.Text() != "I look. " || got.Thinking() != "Hm." {
		t.Errorf("read as %+v", got)
	}
	if others := parse.Text(parse.Config{Tools: tools}, text); len(others.Calls()) > 0 {
		t.Errorf("the built-in grammars read it: %+v", others.Calls())
	}
	if _, known := grammar.ByName(g.Name); known {
		t.Error("loading a grammar put it among the built-in ones")
	}
}

// telegraph is a provider of one's own: a wire.Back that sends and gets plain
// lines, "CALL name args" among them.
type telegraph struct{}

func (telegraph) Open(r *utp.Request) (*wire.Exchange, error) {
	var b strings.Builder
	for _, t := range r.Tools {
		b.WriteString("TOOL " + t.Name + "\n")
	}
	for _, m := range r.Messages {
		b.WriteString(strings.ToUpper(string(m.Role)) + " " + m.Text() + "\n")
		for _, res := range m.Results() {
			b.WriteString("RESULT " + res.Text() + "\n")
		}
	}
	return &wire.Exchange{Path: "/wire", Body: []byte(b.String()), Answer: telegram{}}, nil
}

type telegram struct{ n int }

func (telegram) Read(body []byte, newID func() string) (utp.Reply, error) {
	rd := telegram{}.Reader(newID)
	return utp.Collect(append(slices.Clone(rd.Feed(wire.Frame{Data: body})), rd.Close()...)), rd.Err()
}
func (telegram) Reader(func() string) wire.Reader { return &telegram{} }
func (telegram) Err() error                       { return nil }
func (telegram) Close() []utp.Event {
	return []utp.Event{{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopEnd}}}
}

func (t *telegram) Feed(f wire.Frame) (evs []utp.Event) {
	for line := range strings.Lines(string(f.Data)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		t.n++
		if name, args, ok := strings.Cut(rest, " "); ok && word == "CALL" {
			evs = append(evs, utp.Event{Kind: utp.EventWhole, Part: t.n, Value: utp.Call{Name: name, Args: json.RawMessage(args), Source: utp.SourceNative}})
			continue
		}
		evs = append(evs, utp.Event{Kind: utp.EventText, Part: t.n, Text: rest})
	}
	return evs
}

// post is a model behind a codec: an agent.Model that answers by hand.
type post struct {
	back    wire.Back
	answers []string
	sent    []string
}

func (p *post) Stream(_ context.Context, r *utp.Request) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		x, err := p.back.Open(r)
		if err != nil {
			yield(utp.Event{}, err)
			return
		}
		p.sent = append(p.sent, string(x.Body))
		rd := x.Reader(nil)
		evs := slices.Clone(rd.Feed(wire.Frame{Data: []byte(p.answers[len(p.sent)-1])}))
		for _, e := range append(evs, rd.Close()...) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A codec and a runner are values: the loop takes them as it takes ours, with
// the same gate before them.
//
// contract: T-06 CON-28 W-13
func TestACodecAndARunnerOfOnesOwn(t *testing.T) {
	m := &post{back: telegraph{}, answers: []string{
		"SAY Let me see.\nCALL weigh {\"what\":\"a walrus\"}\nCALL shout {\"what\":\"HEY\"}\nCALL weigh {}\n", "SAY 1200 kg.\n"}}
	scales := agent.RunnerFunc(func(_ context.Context, c utp.Call) utp.Result { return utp.TextResult(c, utp.StatusOK, "1200 kg") })
	gate := &agent.Gate{Tier: utp.TierWalk, Runner: scales, Tools: schema.Compile([]utp.Tool{
		{Name: "weigh", Schema: json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}`)},
		{Name: "shout", Tier: utp.TierRun},
	})}
	a, err := agent.Ask(t.Context(), agent.Config{Model: m, Gate: gate}, &utp.Request{Messages: []utp.Message{utp.NewText(utp.RoleUser, "How heavy?")}})
	if err != nil || a.Text != "1200 kg." || len(a.Calls) != 3 {
		t.Fatalf("%+v, %v", a, err)
	}
	for i, want := range []agent.Refusal{agent.NotRefused, agent.AboveTier, agent.BadArguments} {
		if a.Calls[i].Refusal != want {
			t.Errorf("call %d: refusal %q, want %q", i, a.Calls[i].Refusal, want)
		}
	}
	if !strings.HasPrefix(m.sent[0], "TOOL weigh\nUSER How heavy?\n") || strings.Count(m.sent[1], "RESULT") != 3 || !strings.Contains(m.sent[1], "RESULT 1200 kg\n") {
		t.Errorf("sent %q", m.sent)
	}
}
