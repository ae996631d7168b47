package gateway

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Report is what there is to say of a request that is over. It holds nothing of
// its content.
type Report struct {
	ID        string
	Operation string // "chat", "count_tokens", "list", "pass", "probe" or "nothing"
	ClientID  string // what the client calls the request (x-request-id); "": it did not say
	API       string // the client's
	Client    string // the name of its key
	Model     string // as the client said it
	Target    string // who answered, or was asked last
	Speaks    string // the target's API
	Asked     string // the model that the target was asked for
	Answered  string // the model as the target named it in its reply
	ReplyID   string // the target's
	Parent    string // the client's traceparent header (W3C Trace Context); "": it sent none
	Stream    bool
	Tools     int // offered
	Status    int // HTTP; StatusGone for a client that did not wait
	Began     time.Time
	First     time.Duration // to the first byte of the reply
	Took      time.Duration
	Usage     utp.Usage
	Stop      utp.Stop
	Calls     int
	FromText  int      // of the calls
	Dialects  []string // in which those were found, one a call
	Fixes     []utp.Fix
	Problems  []utp.ProblemKind
	Losses    []wire.Loss
	Warnings  []string
	Tries     int    // targets that were asked
	Again     string // why the reply was asked for once more; "": it was not
	Reason    string // how it ended, in one word: "ok", "cut", "unknown_key", …
	Err       error
}

// called counts a call.
func (r *Report) called(c utp.Call) {
	r.Calls++
	if c.FromText() {
		r.FromText++
		r.Dialects = append(r.Dialects, strings.TrimPrefix(c.Source, "text:"))
	}
	r.Fixes = append(r.Fixes, c.Fixes...)
}

// warning is what the client should hear of without asking: what may go wrong,
// and the first of what was lost and matters.
func (r *Report) warning() string {
	words := r.Warnings
	if i := slices.IndexFunc(r.Losses, wire.Loss.Matters); i >= 0 {
		l := r.Losses[i]
		words = append(slices.Clip(words), l.Path+": "+l.What+": "+l.Why)
	}
	return strings.Join(words, "; ")
}

// log writes a line without anything of the content.
func (r *Report) log(ctx context.Context, to *slog.Logger) {
	attrs := []slog.Attr{slog.String("id", r.ID), slog.String("operation", r.Operation), slog.String("api", r.API),
		slog.Int("status", r.Status), slog.String("reason", r.Reason), slog.Float64("seconds", r.Took.Round(time.Microsecond).Seconds())}
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	count := func(name string, n int) {
		if n > 0 {
			attrs = append(attrs, slog.Int(name, n))
		}
	}
	add("client", r.Client)
	add("model", r.Model)
	if r.Model != "" && !sameModel(r.Asked, r.Model) {
		add("asked", r.Asked) // another model answers
	}
	add("target", r.Target)
	attrs = append(attrs, slog.Bool("stream", r.Stream))
	for _, c := range []struct {
		name string
		n    int
	}{{"tools", r.Tools}, {"calls", r.Calls}, {"from_text", r.FromText}, {"fixes", len(r.Fixes)}, {"problems", len(r.Problems)},
		{"losses", len(r.Losses)}, {"in", r.Usage.Prompt()}, {"out", r.Usage.Completion()}} {
		count(c.name, c.n)
	}
	add("dialects", strings.Join(slices.Compact(slices.Sorted(slices.Values(r.Dialects))), ","))
	if r.Tries > 1 {
		count("tries", r.Tries)
	}
	add("again", r.Again)
	add("x_request_id", r.ClientID)
	add("reply_id", r.ReplyID)
	level := slog.LevelInfo
	if r.Operation == opList || r.Operation == opProbe {
		level = slog.LevelDebug
	}
	if len(r.Warnings) > 0 {
		level = slog.LevelWarn
	}
	add("warning", r.warning())
	if r.Err != nil {
		level = slog.LevelWarn
		add("error", wire.FaultOf(r.Err).Message)
	}
	to.LogAttrs(ctx, level, "request", attrs...)
}

// count adds the report to the metrics.
func (r *Report) count(m *metrics) {
	to := labels(label("api", r.API), label("target", r.Target), label("model", m.model(r)))
	m.add("bx_requests_total", labels(label("operation", r.Operation), to, label("client", r.Client),
		label("status", strconv.Itoa(r.Status)), label("reason", r.Reason)), 1)
	if r.Operation == opChat || r.Operation == opPass || r.Operation == opEmbed {
		m.observe("bx_request_seconds", to, r.Took.Seconds())
	}
	if r.First > 0 {
		m.observe("bx_first_byte_seconds", to, r.First.Seconds())
	}
	native := r.Calls - r.FromText
	for _, c := range []struct {
		name, labels string
		n            int
	}{
		{"bx_calls_total", label("source", "native"), native},
		{"bx_fixes_total", "", len(r.Fixes)}, {"bx_losses_total", "", len(r.Losses)},
		{"bx_tokens_total", label("direction", "in"), r.Usage.Prompt()}, {"bx_tokens_total", label("direction", "out"), r.Usage.Completion()},
		{"bx_fallbacks_total", "", max(0, r.Tries-1)},
	} {
		if c.n > 0 {
			m.add(c.name, c.labels, float64(c.n))
		}
	}
	for _, d := range r.Dialects {
		m.add("bx_calls_total", labels(label("source", "text"), label("dialect", d)), 1)
	}
	for _, p := range r.Problems {
		m.add("bx_problems_total", label("kind", string(p)), 1)
	}
	if r.Again != "" {
		m.add("bx_second_requests_total", label("why", r.Again), 1)
	}
}
