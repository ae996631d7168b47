package gateway

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Report describes a finished request, without its content. The log, the metrics and
// Config.Observe are fed from it.
type Report struct {
	record.Reply
	Operation string // "chat", "count_tokens", "list", "pass", "probe" or "nothing"
	ClientID  string // what the client calls the request (x-request-id); "": it did not say
	ReplyID   string // the target's
	Parent    string // the client's traceparent header (W3C Trace Context); "": it sent none
	Chosen    string // why its target was asked, as in the log; "": there is only one
	Key       string // the name of the key that the target was asked with; "": it has only one
	Fixes     []utp.Fix
	Lost      []wire.Loss // Losses, one by one
	Warnings  []string
	Cost      price.Money // of all its requests to backends, as booked in the Ledger
	Err       error
}

// dialects returns the dialect of each call found in text.
func (r *Report) dialects() (out []string) {
	for _, c := range r.Calls {
		if c.Source != utp.SourceNative {
			out = append(out, c.Source)
		}
	}
	return out
}

// warning returns what the client is told without asking: the warnings, and the first
// loss that matters.
func (r *Report) warning() string {
	words := r.Warnings
	if i := slices.IndexFunc(r.Lost, wire.Loss.Matters); i >= 0 {
		l := r.Lost[i]
		words = append(slices.Clip(words), l.Path+": "+l.What+": "+l.Why)
	}
	return strings.Join(words, "; ")
}

// close adds what is known only at the end: what the text says of calls, and the losses
// grouped without the numbers of messages and tools.
func (r *Report) close(text string, tools []utp.Tool) {
	if len(tools) > 0 {
		r.Markup, r.Announced = format.Left(text, tools)
	}
	for _, l := range r.Lost {
		r.Lose(places.ReplaceAllString(l.Path, "[]") + ": " + l.What)
	}
}

// places are the numbers in the path of a loss.
var places = regexp.MustCompile(`\[\d+\]`)

// log writes a line without anything of the content.
func (r *Report) log(ctx context.Context, to *slog.Logger) {
	attrs := []slog.Attr{slog.String("id", r.ID), slog.String("operation", r.Operation), slog.String("api", r.API),
		slog.Int("status", r.Status), slog.String("reason", r.Reason), slog.Float64("seconds", r.Took.Duration().Seconds())}
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
	dialects := r.dialects()
	add("client", r.Client)
	add("model", r.Route)
	if r.Route != "" && !sameModel(r.Asked, r.Route) {
		add("asked", r.Asked) // another model answers
	}
	add("target", r.Backend)
	add("chosen", r.Chosen)
	add("key", r.Key)
	attrs = append(attrs, slog.Bool("stream", r.Stream))
	for _, c := range []struct {
		name string
		n    int
	}{{"tools", r.Tools}, {"calls", len(r.Calls)}, {"from_text", len(dialects)}, {"fixes", len(r.Fixes)}, {"problems", len(r.Problems)},
		{"losses", len(r.Lost)}, {"in", r.Usage.Prompt()}, {"out", r.Usage.Completion()}} {
		count(c.name, c.n)
	}
	if r.Cost > 0 {
		add("cost", r.Cost.String())
	}
	add("dialects", strings.Join(slices.Compact(slices.Sorted(slices.Values(dialects))), ","))
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
	to := labels(label("api", r.API), label("target", r.Backend), label("model", m.model(r)))
	m.add("bx_requests_total", labels(label("operation", r.Operation), to, label("client", r.Client),
		label("status", strconv.Itoa(r.Status)), label("reason", r.Reason)), 1)
	if r.Operation == opChat || r.Operation == opPass || r.Operation == opEmbed {
		m.observe("bx_request_seconds", to, r.Took.Duration().Seconds())
	}
	if r.First > 0 {
		m.observe("bx_first_byte_seconds", to, r.First.Duration().Seconds())
	}
	dialects := r.dialects()
	for _, c := range []struct {
		name, labels string
		n            int
	}{
		{"bx_calls_total", label("source", "native"), len(r.Calls) - len(dialects)},
		{"bx_fixes_total", "", len(r.Fixes)}, {"bx_losses_total", "", len(r.Lost)},
		{"bx_tokens_total", label("direction", "in"), r.Usage.Prompt()}, {"bx_tokens_total", label("direction", "out"), r.Usage.Completion()},
		{"bx_fallbacks_total", "", max(0, r.Tries-1)},
	} {
		if c.n > 0 {
			m.add(c.name, c.labels, float64(c.n))
		}
	}
	for _, d := range dialects {
		m.add("bx_calls_total", labels(label("source", "text"), label("dialect", d)), 1)
	}
	for _, p := range r.Problems {
		m.add("bx_problems_total", label("kind", string(p.Kind)), 1)
	}
	if r.Again != "" {
		m.add("bx_second_requests_total", label("why", r.Again), 1)
	}
}
