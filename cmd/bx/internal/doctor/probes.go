package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

// probe is one question to a model and what a good reply to it is.
type probe struct {
	name   string
	ask    string
	whole  bool
	after  bool // behind a call and its result
	idle   bool // nothing is to be called
	choice utp.Choice
	tools  []utp.Tool
	judge  func(form string, r utp.Reply) (Verdict, string)
}

// The made-up tools. Weather is about a place and a number that no model knows.
var (
	weather = utp.Tool{Name: "get_weather", Description: "Current weather of a city.",
		Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","description":"Name of the city"}},"required":["city"]}`)}
	clock = utp.Tool{Name: "get_time", Description: "The time now.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
)

const result = "Oslo: 17.3 degrees, light rain"

// probes are made in this order; without a call in the first one a form is not
// looked at further.
var probes = []probe{
	{name: "call", ask: "What is the weather in Oslo? Use the tool get_weather.", tools: []utp.Tool{weather, clock}, judge: oneCall("get_weather", "Oslo")},
	{name: "whole reply", ask: "What is the weather in Oslo? Use the tool get_weather.", whole: true, tools: []utp.Tool{weather, clock}, judge: oneCall("get_weather", "Oslo")},
	{name: "no arguments", ask: "What time is it? Use the tool get_time.", tools: []utp.Tool{weather, clock}, judge: oneCall("get_time", "{}")},
	{name: "parallel", ask: "What is the weather in Oslo and in Rome? Call the tool get_weather once for each city, both in this reply.", tools: []utp.Tool{weather}, judge: bothCalls},
	{name: "in thinking", ask: "Think first about which tool tells the time, then call it.", tools: []utp.Tool{weather, clock}, judge: behindThinking},
	{name: "second turn", ask: "What is the weather in Oslo? Use the tool get_weather.", after: true, tools: []utp.Tool{weather, clock}, judge: answer},
}

// request is the probe as a conversation. The form is not in it: the model's
// setup knows that. It sets no parameters, as some servers refuse some of them.
func (p probe) request() *utp.Request {
	r := &utp.Request{Stream: !p.whole, Tools: p.tools, Choice: p.choice,
		Messages: []utp.Message{utp.NewText(utp.RoleSystem, "You answer questions with the help of tools."), utp.NewText(utp.RoleUser, p.ask)}}
	if p.after {
		c := utp.Call{ID: "call_1", Name: weather.Name, Args: json.RawMessage(`{"city":"Oslo"}`)}
		r.Messages = append(r.Messages, utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}},
			utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, result)}})
	}
	return r
}

// reminded is the probe with an answer in words and what is said to that.
func (p probe) reminded(answer utp.Reply) *utp.Request {
	r := p.request()
	r.Messages = append(r.Messages, answer.Message, utp.NewText(utp.RoleUser, agent.Reminder()))
	return r
}

// invented is the first name in a reply that is none of the tools.
func (p probe) invented(r utp.Reply) string {
	for _, c := range r.Calls() {
		if !slices.ContainsFunc(p.tools, func(t utp.Tool) bool { return t.Name == c.Name }) {
			return c.Name
		}
	}
	return ""
}

// inWords reports a reply without so much as a try at a call.
func inWords(r utp.Reply) bool {
	return len(r.Calls()) == 0 && len(r.Problems) == 0 && strings.TrimSpace(r.Text()) != ""
}

func ask(ctx context.Context, m Model, r *utp.Request) (utp.Reply, error) {
	var evs []utp.Event
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			return utp.Collect(evs), err
		}
		evs = append(evs, e)
	}
	return utp.Collect(evs), nil
}

// own reports a call in the form that was asked for.
func own(form string, c utp.Call) bool {
	return (form == Native) == (c.Source == utp.SourceNative)
}

// oneCall wants one call of a tool with a word in its arguments.
func oneCall(name, word string) func(string, utp.Reply) (Verdict, string) {
	return func(form string, r utp.Reply) (Verdict, string) {
		calls := r.Calls()
		switch {
		case len(calls) == 0:
			return No, wordless(r)
		case calls[0].Name != name:
			return No, "called " + calls[0].Name
		case !strings.Contains(string(calls[0].Args), word):
			return No, "called with " + string(calls[0].Args)
		case !own(form, calls[0]):
			return No, "wrote the call as " + calls[0].Source
		}
		return Yes, said(form, calls[0])
	}
}

// said is a call, and its dialect where that is another one.
func said(form string, c utp.Call) string {
	text := c.Name + " " + compact(c.Args)
	if form != Native && c.Dialect() != form {
		text += ", written as " + cmp.Or(c.Dialect(), c.Source)
	}
	return text
}

func compact(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// wordless says what came in place of a call.
func wordless(r utp.Reply) string {
	switch {
	case len(r.Problems) > 0:
		return "a call that cannot be read: " + r.Problems[0].Error()
	case strings.TrimSpace(r.Text()) == "" && r.Thinking() != "":
		return "thought, and said nothing"
	case strings.TrimSpace(r.Text()) == "":
		return "said nothing"
	}
	return "no call, but text: " + short(r.Text())
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len([]rune(s)) > 60 {
		s = string([]rune(s)[:60]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

func bothCalls(form string, r utp.Reply) (Verdict, string) {
	var text string
	for _, c := range r.Calls() {
		text += string(c.Args)
	}
	switch n := len(r.Calls()); {
	case n == 0:
		return No, wordless(r)
	case n == 1:
		return No, "one call in place of two"
	case !strings.Contains(text, "Oslo") || !strings.Contains(text, "Rome"):
		return No, "called with " + text
	}
	return Yes, fmt.Sprintf("%d calls", len(r.Calls()))
}

// behindThinking looks where the call of a model that thinks is.
func behindThinking(form string, r utp.Reply) (Verdict, string) {
	switch thinks := r.Thinking() != ""; {
	case !thinks && len(r.Calls()) > 0:
		return Skipped, "does not think"
	case len(r.Calls()) > 0:
		return Yes, "thinks, and its call is found"
	case thinks:
		return No, "thinks, and " + wordless(r)
	}
	return No, wordless(r)
}

// answer wants the number of the result.
func answer(_ string, r utp.Reply) (Verdict, string) {
	switch {
	case strings.Contains(r.Text(), "17.3"):
		return Yes, "cites the result"
	case len(r.Calls()) > 0:
		return No, "calls " + r.Calls()[0].Name + " again"
	case strings.TrimSpace(r.Text()) == "":
		return No, "says nothing to a result"
	}
	return No, "does not cite the result: " + short(r.Text())
}
