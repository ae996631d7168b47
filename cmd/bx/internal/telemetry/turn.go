package telemetry

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Turn passes on the events of a turn of the agent and makes spans of them: one
// of the turn, below it one of each request and each tool that ran. api is
// that of the model's server.
func (t *Telemetry) Turn(ctx context.Context, api string, r *utp.Request, events iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	if t == nil {
		return events
	}
	return func(yield func(agent.Event, error) bool) {
		w := t.watch(ctx, api, r)
		defer w.over()
		for e, err := range events {
			w.see(e, err)
			if !yield(e, err) {
				return
			}
		}
	}
}

// watching is a turn that runs.
type watching struct {
	*Telemetry
	ctx     context.Context // of the turn's span
	span    trace.Span
	asking  *Chat // the request that runs; nil: none
	model   Chat  // what all requests have in common
	failure string
	tools   map[string]trace.Span // that run, by the call's id
}

func (t *Telemetry) watch(ctx context.Context, api string, r *utp.Request) *watching {
	w := &watching{Telemetry: t, model: Chat{API: api, Asked: r.Model, Stream: r.Stream}, tools: map[string]trace.Span{}}
	l := list{attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", "bx")}
	l.text("gen_ai.provider.name", providerName(api))
	l.text("gen_ai.request.model", r.Model)
	w.ctx, w.span = t.tracer.Start(ctx, "invoke_agent bx", trace.WithAttributes(l...))
	return w
}

// see takes an event.
func (w *watching) see(e agent.Event, err error) {
	if err != nil {
		w.failure = classOf(err)
		w.settle(w.failure)
		return
	}
	switch e.Kind {
	case agent.Round, agent.Summing:
		w.settle("")
		w.asking = new(w.model)
		w.asking.Began = time.Now()
	case agent.Text, agent.Think, agent.Stream, agent.Parsed, agent.Problem:
		w.hear(e)
	case agent.Started:
		w.settle("")
		w.begin(e)
	case agent.Succeeded, agent.Failed, agent.Denied:
		w.settle("")
		w.end(e)
	case agent.Final:
		w.settle("")
		w.span.SetAttributes(spent(e.Answer.Usage, e.Answer.Stop)...)
		w.span.SetAttributes(attribute.Int("bx.rounds", e.Answer.Rounds))
	}
}

// hear takes a piece of the reply.
func (w *watching) hear(e agent.Event) {
	c := w.asking
	if c == nil {
		return
	}
	if c.Took = time.Since(c.Began); c.First == 0 {
		c.First = c.Took
	}
	switch {
	case e.Kind == agent.Problem && e.Problem != nil:
		c.Problems = append(c.Problems, e.Problem.Kind)
	case e.Kind == agent.Parsed && e.Call.FromText():
		c.Dialects = append(c.Dialects, strings.TrimPrefix(e.Call.Source, "text:"))
		c.Fixes = append(c.Fixes, e.Call.Fixes...)
	case e.Kind == agent.Parsed:
		c.Native++
		c.Fixes = append(c.Fixes, e.Call.Fixes...)
	case e.Model != nil && e.Model.Kind == utp.Finish && e.Model.End != nil:
		end := e.Model.End
		c.Usage, c.Stop, c.Answered, c.ReplyID = end.Usage, end.Stop, end.Model, end.ID
	}
}

// settle records the request that is over.
func (w *watching) settle(failure string) {
	c := w.asking
	if c == nil {
		return
	}
	if c.Failure = failure; c.Took == 0 {
		c.Took = time.Since(c.Began)
	}
	w.Chat(w.ctx, *c)
	w.asking = nil
}

// begin opens the span of a tool.
func (w *watching) begin(e agent.Event) {
	l := list{attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.type", "function")}
	l.text("gen_ai.tool.name", e.Call.Name)
	l.text("gen_ai.tool.call.id", e.Call.ID)
	_, w.tools[e.Call.ID] = w.tracer.Start(w.ctx, nameOf("execute_tool", e.Call.Name), trace.WithAttributes(l...))
}

// end closes the span of a tool; of one that did not run it makes one without length.
func (w *watching) end(e agent.Event) {
	if w.tools[e.Call.ID] == nil {
		w.begin(e)
	}
	span := w.tools[e.Call.ID]
	delete(w.tools, e.Call.ID)
	if e.Kind != agent.Succeeded {
		class := string(e.Refusal)
		if class == "" {
			class = "tool_error"
		}
		span.SetAttributes(attribute.String("error.type", class))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// over closes what is open: a reader may leave at any event.
func (w *watching) over() {
	w.settle("canceled")
	for _, span := range w.tools {
		span.End()
	}
	if w.failure != "" {
		w.span.SetAttributes(attribute.String("error.type", w.failure))
		w.span.SetStatus(codes.Error, "")
	}
	w.span.End()
}

// classOf is the class of an error of the agent's.
func classOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	var theirs *wire.Error
	if errors.As(err, &theirs) && theirs.Status != 0 {
		return strconv.Itoa(theirs.Status)
	}
	return "broken"
}
