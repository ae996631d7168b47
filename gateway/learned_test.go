package gateway_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// fussy is a backend whose model breaks its calls in all forms but one.
type fussy struct {
	good   string
	asked  []string // forms
	mute   bool     // its calls have no ids
	digest string
	call   utp.Call // its name and arguments; "": a good one
}

func (f *fussy) API() string { return "openai" }

func (f *fussy) Models(context.Context) ([]wire.Model, error) {
	return []wire.Model{{ID: "m", Chat: true, Digest: f.digest}}, nil
}

func (f *fussy) Forward(*http.Request) (*http.Response, error) {
	return nil, errors.New("not forwarded")
}

func (f *fussy) Ask(_ context.Context, r *utp.Request, h wire.Hooks) iter.Seq2[utp.Event, error] {
	f.asked = append(f.asked, h.Form)
	if h.Told != nil {
		h.Told(h.Form, "told")
	}
	call := utp.Call{ID: fmt.Sprint("call_", len(f.asked)), Name: "get_weather", Args: []byte(`{}`), Source: utp.SourceNative}
	if f.mute {
		call.ID = ""
	}
	if f.call.Name != "" {
		call.Name, call.Args = f.call.Name, f.call.Args
	}
	if h.Form != f.good || strings.Contains(r.Messages[0].Text(), "break") {
		call.Fixes = []utp.Fix{{Why: "a guess", Guess: true}}
	}
	start := utp.Call{ID: call.ID, Name: call.Name, Source: call.Source}
	return func(yield func(utp.Event, error) bool) {
		for _, e := range []utp.Event{{Kind: utp.EventCallStart, Call: &start}, {Kind: utp.EventCallDelta, Text: string(call.Args)}, {Kind: utp.EventCallEnd, Call: &call},
			{Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopTool}}} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// learning is a gateway in front of a fussy model of two forms, of which the doctor
// has found both working.
type learning struct {
	*fussy
	t       *testing.T
	url     string
	over    chan gateway.Report
	reports []gateway.Report
	body    string // the last answer
	now     time.Time
}

func newLearning(t *testing.T, clients ...gateway.Client) *learning {
	l := &learning{t: t, fussy: &fussy{good: "hermes"}, over: make(chan gateway.Report, 1), now: time.Now()}
	n := 0
	g, err := gateway.New(gateway.Config{
		Routes:  []gateway.Route{{To: []gateway.Target{{Name: "gpu", Backend: l.fussy}}, Once: true, Learned: true}},
		Clients: clients, Now: func() time.Time { return l.now }, NewID: func() string { n++; return fmt.Sprint("id", n) },
		Lessons: func(target, model string) *learn.Evidence {
			if target != "gpu" || model != "m" {
				t.Errorf("asked for what is known of %s/%s", target, model)
			}
			e := learn.New("native", "hermes")
			e.Probed("native", learn.Tally{Good: 9})
			e.Probed("hermes", learn.Tally{Good: 8, Bad: 1})
			return e
		},
		Observe: func(r gateway.Report) { l.over <- r },
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close)
	l.url = srv.URL
	return l
}

// say sends messages and gives the header that tells the form.
func (l *learning) say(key, messages, more string) (form string) {
	l.t.Helper()
	body := `{"model":"m","tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}],"messages":[` + messages + `]` + more + `}`
	r, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
		l.t.Fatalf("%d %s %v", resp.StatusCode, text, err)
	}
	l.body = string(text)
	l.reports = append(l.reports, <-l.over)
	form, _, _ = strings.Cut(resp.Header.Get("X-Bx-Form"), ":")
	if last := l.asked[len(l.asked)-1]; form != last {
		l.t.Fatalf("the header says %q, the model was told %q", resp.Header.Get("X-Bx-Form"), last)
	}
	return form
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func afterCall(id string) string {
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"get_weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":%q,"content":"sun"}`, id, id)
}

func TestTheFormThatWorksIsFound(t *testing.T) {
	l := newLearning(t)
	trials := 0
	for i := range 200 {
		l.say("", user(fmt.Sprint("question ", i)), "")
		if r := l.reports[len(l.reports)-1]; r.Trial {
			trials++
		}
	}
	good := 0
	for _, form := range l.asked[100:] {
		if form == "hermes" {
			good++
		}
	}
	if l.asked[0] != "native" || good < 95 {
		t.Errorf("it began with %s, and %d of the last 100 replies are in the form that works", l.asked[0], good)
	}
	if share := float64(trials) / 200; share > learn.MostTrials {
		t.Errorf("%.3f of the replies are trials", share)
	}
	if r := l.reports[199]; r.Form != "hermes" || !strings.Contains(r.Why, "best so far") {
		t.Errorf("%s: %s", r.Form, r.Why)
	}
}

func TestAConversationKeepsItsForm(t *testing.T) {
	l := newLearning(t)
	if form := l.say("", user("first"), ""); form != "native" {
		t.Fatalf("told in %s", form)
	}
	for i := range 30 { // hermes is the best by now
		l.say("", user(fmt.Sprint("other ", i)), "")
	}
	if form := l.say("", user("new"), ""); form != "hermes" {
		t.Fatalf("told in %s", form)
	}
	if form := l.say("", user("first")+","+afterCall("x"), ""); form != "native" {
		t.Errorf("the second turn is told in %s", form)
	}
	// What the client has left out is found by its calls.
	if form := l.say("", user("a summary of what was said")+","+afterCall("call_1"), ""); form != "native" {
		t.Errorf("a conversation that was shortened is told in %s", form)
	}
	// One that is not known gets the best form, and never a draw.
	for i := range 100 {
		if form := l.say("", user(fmt.Sprint("unknown ", i))+","+afterCall("y"), ""); form != "hermes" || l.reports[len(l.reports)-1].Trial {
			t.Fatalf("an unknown conversation is told in %s", form)
		}
	}
}

// A gateway that was started anew knows the form of a conversation by the calls in
// its history.
func TestAConversationKeepsItsFormOverARestart(t *testing.T) {
	l := newLearning(t)
	l.mute = true
	l.say("", user("first"), "")
	_, id, _ := strings.Cut(l.body, `"id":"call_`)
	id, _, _ = strings.Cut(id, `"`)
	if form := l.asked[0]; form != "native" || len(id) != 24 {
		t.Fatalf("told in %s, call %q", form, id)
	}
	anew := newLearning(t)
	anew.mute = true
	for i := range 30 { // hermes is the best by now
		anew.say("", user(fmt.Sprint("other ", i)), "")
	}
	history := user("first") + "," + afterCall("call_"+id)
	if form := anew.say("", history, ""); form != "native" || anew.reports[len(anew.reports)-1].Trial {
		t.Errorf("the second turn is told in %s", form)
	}
	if form := anew.say("", user("shortened")+","+afterCall("call_"+id), ""); form != "hermes" {
		t.Errorf("a history that is not known is told in %s", form)
	}
}

// What was learned is forgotten when the server has another model of that name.
func TestAnotherDigestStartsAnew(t *testing.T) {
	l := newLearning(t)
	l.digest = "sha256:one"
	for i := range 30 {
		l.say("", user(fmt.Sprint("question ", i)), "")
	}
	if form := l.say("", user("before"), ""); form != "hermes" || l.reports[30].Digest != "sha256:one" {
		t.Fatalf("told in %s, %+v", form, l.reports[30])
	}
	l.digest = "sha256:two"
	l.now = l.now.Add(2 * time.Minute)
	seen := 0
	for i := range 200 { // the list is asked for beside a request
		form := l.say("", user(fmt.Sprint("after ", i)), "")
		if r := l.reports[len(l.reports)-1]; r.Digest == "sha256:two" {
			if seen++; seen == 1 && form != "native" {
				t.Errorf("the new model is told in %s first", form)
			}
		}
	}
	if seen == 0 {
		t.Error("the new digest was never told")
	}
}

// Calls of tools that were not offered, and with arguments that do not fit, are
// counted as such, native ones too.
//
// contract: A-09
func TestCallsThatFitNoTool(t *testing.T) {
	for _, c := range []struct {
		call              utp.Call
		invented, invalid bool
	}{
		{utp.Call{Name: "get_weather", Args: []byte(`{"city":"Oslo"}`)}, false, false},
		{utp.Call{Name: "get_weather", Args: []byte(`{"city":["Oslo",1]}`)}, false, true},
		{utp.Call{Name: "send_rocket", Args: []byte(`{}`)}, true, false},
	} {
		l := newLearning(t)
		l.good, l.call = "native", c.call
		l.say("", user("x"), "")
		r := l.reports[0].Reply
		outcome, _ := record.Judge(&r)
		if len(r.Calls) != 1 || r.Calls[0].Hallucinated != c.invented || r.Calls[0].Invalid != c.invalid || (outcome == record.Good) == (c.invented || c.invalid) {
			t.Errorf("%s %s: %s, %+v", c.call.Name, c.call.Args, outcome, r.Calls)
		}
		if names := r.Invented(); c.invented != (len(names) == 1) {
			t.Errorf("%v", names)
		}
	}
}

// Of 300 conversations some would be drawn for a trial.
func TestNothingIsTriedWhereItMustNot(t *testing.T) {
	sum := func(s string) [32]byte { return sha256.Sum256([]byte(s)) }
	l := newLearning(t, gateway.Client{Name: "steady", Key: sum("s"), Steady: true}, gateway.Client{Name: "trusted", Key: sum("t"), Trusted: true})
	for i := range 300 {
		l.say("t", user(fmt.Sprint("a", i)), `,"tool_choice":"required"`)
		l.say("s", user(fmt.Sprint("b", i)), "")
	}
	for _, r := range l.reports {
		if r.Trial {
			t.Fatalf("a trial: %+v", r)
		}
	}
	if last := l.asked[len(l.asked)-1]; last != "hermes" {
		t.Errorf("told in %s", last)
	}
}

func TestAKeyThatBreaksAllItsCallsMovesNoForm(t *testing.T) {
	sum := func(s string) [32]byte { return sha256.Sum256([]byte(s)) }
	var clients []gateway.Client
	for i := range 12 {
		clients = append(clients, gateway.Client{Name: fmt.Sprint("k", i), Key: sum(fmt.Sprint("k", i))})
	}
	l := newLearning(t, clients...)
	l.good = "native"
	for i := range 300 {
		if form := l.say(fmt.Sprint("k", 1+i%11), user(fmt.Sprint("q", i)), ""); form != "native" && !l.reports[len(l.reports)-1].Trial {
			t.Fatalf("%d: told in %s", i, form)
		}
		l.say("k0", user(fmt.Sprint("break ", i)), "")
	}
}
