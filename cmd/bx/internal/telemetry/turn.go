package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// About is what a turn's events do not say.
type About struct {
	Model record.Reply              // what all its requests have in common
	Form  func() (form, why string) // in which the tools are told; nil: it is not known
	Keep  func(record.Reply)        // gets each request that is over; nil: nobody does
	Write func(record.Content)      // gets what was asked and written; nil: nobody does
}

// Turn passes on the events of a turn of the agent and makes spans of them: one
// of the turn, below it one of each request and each tool that ran.
func (t *Telemetry) Turn(ctx context.Context, about About, r *utp.Request, events iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	if t == nil && about.Keep == nil {
		return events
	}
	if t == nil {
		t = silent
	}
	return func(yield func(agent.Event, error) bool) {
		w := t.watch(ctx, about, r)
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
	about   About
	asking  *Chat           // the request that runs, or whose calls do; nil: none
	ids     []string        // of the calls of asking
	words   strings.Builder // the beginning of its text
	offered []utp.Tool
	sent    *utp.Request // of asking, where Write wants it
	heard   record.Heard
	failure string
	tools   map[string]trace.Span // that run, by the call's id
}

func (t *Telemetry) watch(ctx context.Context, about About, r *utp.Request) *watching {
	m := &about.Model
	m.By, m.Asked, m.Stream = record.ByBx, r.Model, r.Stream
	m.Conversation = cmp.Or(m.Conversation, record.ConversationOf(r))
	w := &watching{Telemetry: t, about: about, tools: map[string]trace.Span{}}
	l := list{attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", "bx")}
	l.text("gen_ai.provider.name", providerName(m.Speaks))
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
		w.ask(e.Request)
	case agent.Text, agent.Think, agent.Stream, agent.Parsed, agent.Problem:
		w.hear(e)
	case agent.Started:
		w.begin(e)
	case agent.Succeeded, agent.Failed, agent.Denied:
		w.outcome(e)
		w.end(e)
	case agent.Final:
		w.settle("")
		w.span.SetAttributes(spent(e.Answer.Usage, e.Answer.Stop)...)
		w.span.SetAttributes(attribute.Int("bx.rounds", e.Answer.Rounds))
	}
}

// ask begins a request.
func (w *watching) ask(r *utp.Request) {
	w.asking, w.ids, w.offered = &Chat{Reply: w.about.Model}, nil, nil
	w.words.Reset()
	w.sent, w.heard = r, record.Heard{}
	c := w.asking
	c.ID, c.Time = rand.Text(), time.Now()
	if r == nil {
		return
	}
	if r.Choice.Mode != utp.ChoiceNone {
		c.Tools, w.offered = len(r.Tools), r.Tools
	}
	c.Required = r.Choice.Mode == utp.ChoiceRequired || r.Choice.Mode == utp.ChoiceNamed
}

// hear takes a piece of the reply.
func (w *watching) hear(e agent.Event) {
	c := w.asking
	if c == nil {
		return
	}
	if c.Took = record.MicrosOf(time.Since(c.Time)); c.First == 0 {
		c.First = max(1, c.Took)
	}
	if w.about.Write != nil && e.Model != nil {
		w.heard.Hear(*e.Model)
	}
	switch {
	case e.Kind == agent.Text && w.words.Len() < format.MaxText:
		w.words.WriteString(e.Text)
	case e.Kind == agent.Problem && e.Problem != nil:
		c.Problems = append(c.Problems, record.ProblemOf(e.Problem))
	case e.Kind == agent.Parsed:
		c.Calls, w.ids = append(c.Calls, record.CallOf(*e.Call)), append(w.ids, e.Call.ID)
	case e.Model != nil && e.Model.Kind == utp.EventFinish && e.Model.End != nil:
		end := e.Model.End
		c.Usage, c.Stop, c.Answered, c.ReplyID = end.Usage, end.Stop, end.Model, end.ID
	}
}

// outcome notes what became of a call.
func (w *watching) outcome(e agent.Event) {
	c := w.asking
	if c == nil || e.Call == nil {
		return
	}
	i := slices.Index(w.ids, e.Call.ID)
	if i < 0 {
		return
	}
	call := &c.Calls[i]
	call.Refusal, call.Took = string(e.Refusal), record.MicrosOf(e.Duration)
	if e.Result != nil {
		call.Outcome = e.Result.Status
	}
	switch e.Refusal {
	case agent.UnknownTool:
		call.Hallucinated = true
	case agent.BadArguments:
		call.Invalid = true
	}
}

// settle records the request that is over.
func (w *watching) settle(failure string) {
	c := w.asking
	if c == nil {
		return
	}
	w.asking = nil
	if c.Failure = failure; c.Took == 0 {
		c.Took = record.MicrosOf(time.Since(c.Time))
	}
	c.Status, c.Reason = httpStatus(failure), failure
	if w.about.Form != nil {
		c.Form, c.Why = w.about.Form()
	}
	c.Markup, c.Announced = format.Left(w.words.String(), w.offered)
	w.Chat(w.ctx, *c)
	if w.about.Keep != nil {
		w.about.Keep(c.Reply)
	}
	if w.about.Write != nil {
		request, _ := json.Marshal(w.sent) // as far as it is known
		w.about.Write(w.heard.Content(c.ID, c.Time, string(request)))
	}
}

// httpStatus is the HTTP status that the class of an error stands for; 0: no answer
// came.
func httpStatus(failure string) int {
	if failure == "" {
		return http.StatusOK
	}
	status, _ := strconv.Atoi(failure)
	return status
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
