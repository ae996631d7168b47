package telemetry_test

import (
	"bytes"
	"iter"
	"slices"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/collector"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// turn is a turn with one call found in text, one refused, and an answer.
func turn(err error) iter.Seq2[agent.Event, error] {
	call := &utp.Call{ID: "c1", Name: "search", Source: "text:hermes", Fixes: []utp.Fix{{Why: "single quotes"}}}
	other := &utp.Call{ID: "c2", Name: "rm", Source: utp.Native}
	finish := func(stop utp.Stop) agent.Event {
		return agent.Event{Kind: agent.Stream, Model: &utp.Event{Kind: utp.Finish, End: &utp.End{Stop: stop, Model: "m-1", Usage: utp.Usage{Input: 7, Output: 3}}}}
	}
	events := []agent.Event{
		{Kind: agent.Round}, {Kind: agent.Parsed, Call: call}, {Kind: agent.Parsed, Call: other}, finish(utp.StopTool),
		{Kind: agent.Started, Call: call}, {Kind: agent.Failed, Call: other, Refusal: agent.AboveTier}, {Kind: agent.Succeeded, Call: call},
		{Kind: agent.Round}, {Kind: agent.Text, Text: "private"}, finish(utp.StopEnd),
		{Kind: agent.Final, Answer: &agent.Answer{Text: "private", Rounds: 1, Usage: utp.Usage{Input: 14, Output: 6}, Stop: utp.StopEnd}},
	}
	return func(yield func(agent.Event, error) bool) {
		for i, e := range events {
			if err != nil && i == 8 {
				yield(agent.Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestTurn(t *testing.T) {
	c, _ := collect(t)
	told := open(t)
	n := 0
	for _, err := range told.Turn(t.Context(), "ollama", &utp.Request{Model: "m", Stream: true}, turn(nil)) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	shut(t, told)
	by := map[string][]*tracepb.Span{}
	for _, s := range c.Spans() {
		by[s.Name] = append(by[s.Name], s)
	}
	if n != 11 || len(by["invoke_agent bx"]) != 1 || len(by["chat m"]) != 2 || len(by["execute_tool search"]) != 1 || len(by["execute_tool rm"]) != 1 {
		t.Fatalf("%d events, spans %v", n, by)
	}
	root := by["invoke_agent bx"][0]
	for _, s := range c.Spans() {
		if !bytes.Equal(s.TraceId, root.TraceId) || s.Name != root.Name && !bytes.Equal(s.ParentSpanId, root.SpanId) {
			t.Errorf("%s is not below the turn", s.Name)
		}
	}
	if a := collector.Attributes(root.Attributes); a["gen_ai.usage.input_tokens"] != int64(14) || a["gen_ai.provider.name"] != "ollama" || a["bx.rounds"] != int64(1) {
		t.Errorf("turn %v", a)
	}
	if a := collector.Attributes(by["chat m"][0].Attributes); a["bx.calls.dialects"] != "hermes" || a["bx.calls"] != int64(2) || a["bx.fixes"] != int64(1) || a["gen_ai.response.model"] != "m-1" || a["gen_ai.usage.output_tokens"] != int64(3) {
		t.Errorf("chat %v", a)
	}
	if a := collector.Attributes(by["execute_tool search"][0].Attributes); a["gen_ai.tool.call.id"] != "c1" || a["error.type"] != nil {
		t.Errorf("tool %v", a)
	}
	if a := collector.Attributes(by["execute_tool rm"][0].Attributes); a["error.type"] != "tier" {
		t.Errorf("refused tool %v", a)
	}
	keepsTo(t, c, "private")
}

// A turn that fails, or whose reader leaves, leaves no span open.
func TestTurnThatEndsEarly(t *testing.T) {
	for name, want := range map[string]string{"fails": "500", "left": ""} {
		t.Run(name, func(t *testing.T) {
			c, _ := collect(t)
			told := open(t)
			for e, err := range told.Turn(t.Context(), "ollama", &utp.Request{Model: "m"}, turn(&wire.Error{Status: 500})) {
				if name == "left" && e.Kind == agent.Started || err != nil {
					break
				}
			}
			shut(t, told)
			var names []string
			for _, s := range c.Spans() {
				if names = append(names, s.Name); s.Name == "invoke_agent bx" {
					if class, _ := collector.Attributes(s.Attributes)["error.type"].(string); class != want {
						t.Errorf("class %q, want %q", class, want)
					}
				}
			}
			if !slices.Contains(names, "invoke_agent bx") || !slices.Contains(names, "chat m") || !slices.Contains(names, "execute_tool search") {
				t.Errorf("spans %q", names)
			}
		})
	}
}
