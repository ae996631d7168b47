package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// spanExporter sends spans for the SDK.
type spanExporter struct{ *sender }

type spansJSON struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource resourceJSON `json:"resource"`
	Scopes   []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scopeJSON  `json:"scope"`
	Spans []spanJSON `json:"spans"`
}

type spanJSON struct {
	TraceID       string      `json:"traceId"`
	SpanID        string      `json:"spanId"`
	TraceState    string      `json:"traceState,omitempty"`
	Parent        string      `json:"parentSpanId,omitempty"`
	Flags         uint32      `json:"flags"`
	Name          string      `json:"name"`
	Kind          int         `json:"kind"` // as the API numbers them
	Start         whole       `json:"startTimeUnixNano"`
	End           whole       `json:"endTimeUnixNano"`
	Attributes    []attr      `json:"attributes"`
	Dropped       int         `json:"droppedAttributesCount,omitempty"`
	Events        []eventJSON `json:"events,omitempty"`
	DroppedEvents int         `json:"droppedEventsCount,omitempty"`
	Status        statusJSON  `json:"status"`
}

type eventJSON struct {
	Time       whole  `json:"timeUnixNano"`
	Name       string `json:"name"`
	Attributes []attr `json:"attributes"`
}

type statusJSON struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// ExportSpans sends a batch.
func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	e.send(ctx, spansOf(spans)) // tells itself what goes wrong; the SDK would print it
	return nil
}

// Shutdown has nothing to do: nothing is kept.
func (spanExporter) Shutdown(context.Context) error { return nil }

// spansOf makes a message of spans, which are all of this program.
func spansOf(spans []sdktrace.ReadOnlySpan) spansJSON {
	out := resourceSpans{Resource: about(spans[0].Resource())}
	place := map[instrumentation.Scope]int{}
	for _, s := range spans {
		i, known := place[s.InstrumentationScope()]
		if !known {
			i = len(out.Scopes)
			place[s.InstrumentationScope()] = i
			out.Scopes = append(out.Scopes, scopeSpans{Scope: scopeOf(s.InstrumentationScope())})
		}
		out.Scopes[i].Spans = append(out.Scopes[i].Spans, spanOf(s))
	}
	return spansJSON{[]resourceSpans{out}}
}

func spanOf(s sdktrace.ReadOnlySpan) spanJSON {
	own, parent := s.SpanContext(), s.Parent()
	j := spanJSON{
		TraceID: own.TraceID().String(), SpanID: own.SpanID().String(), TraceState: own.TraceState().String(), Flags: flags(own, parent),
		Name: s.Name(), Kind: int(s.SpanKind()), Start: nanos(s.StartTime()), End: nanos(s.EndTime()),
		Attributes: attrs(s.Attributes()), Dropped: s.DroppedAttributes(), DroppedEvents: s.DroppedEvents(), Status: statusOf(s.Status()),
	}
	if parent.HasSpanID() {
		j.Parent = parent.SpanID().String()
	}
	for _, e := range s.Events() {
		j.Events = append(j.Events, eventJSON{nanos(e.Time), e.Name, attrs(e.Attributes)})
	}
	return j
}

// flags are the trace's flags, and whether the parent is of another process.
func flags(own, parent trace.SpanContext) uint32 {
	const known, remote = 0x100, 0x200
	f := uint32(own.TraceFlags()) | known
	if parent.IsRemote() {
		f |= remote
	}
	return f
}

func statusOf(s sdktrace.Status) statusJSON {
	switch s.Code {
	case codes.Ok:
		return statusJSON{Code: 1}
	case codes.Error:
		return statusJSON{Code: 2, Message: s.Description}
	}
	return statusJSON{}
}
