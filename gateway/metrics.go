package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// metrics are counters and histograms in the text form of Prometheus.
// Source: Prometheus, "Text-based format".
type metrics struct {
	mu       sync.Mutex
	counters map[string]map[string]float64 // name, labels
	times    map[string]map[string]*histogram
	models   map[string]bool // those with a label of their own
}

// bounds are the bounds of the buckets of a histogram, in seconds.
var bounds = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}

type histogram struct {
	counts []int // one more than bounds
	sum    float64
	n      int
}

// help has the help text of each metric.
var help = map[string]string{
	"bx_requests_total":         "Requests by what they were for, the client's API and key, who answered, HTTP status, and how they ended.",
	"bx_request_seconds":        "Time from a request for a reply to the end of it.",
	"bx_first_byte_seconds":     "Time from a request to the first byte of its reply.",
	"bx_calls_total":            "Tool calls given to clients, by where they were found, and in which dialect of text.",
	"bx_fixes_total":            "Repairs of tool calls.",
	"bx_losses_total":           "Parts of requests and replies that the other side could not be told.",
	"bx_tokens_total":           "Tokens as the backends count them.",
	"bx_fallbacks_total":        "Targets that were asked after another had failed.",
	"bx_problems_total":         "Tool calls that could not be read, by kind.",
	"bx_budget_refusals_total":  "Requests that a budget did not allow, by its unit, its time and whose it is.",
	"bx_budget_debts_total":     "Requests that came to more than was reserved for them.",
	"bx_settlements_total":      "Reservations that ended, by how.",
	"bx_late_settlements_total": "Reservations that were charged in full and corrected later.",
	"bx_unbooked_total":         "Requests of keys without a budget that found no room while the ledger was away.",
	"bx_targets_chosen_total":   "Requests to targets and with keys that were chosen among several, by why.",
	"bx_second_requests_total":  "Replies asked for once more, by reason.",
}

func label(name, value string) string {
	return name + `="` + escape.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

// escape escapes the value of a label.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func labels(of ...string) string { return strings.Join(of, ",") }

func (m *metrics) add(name, labels string, n float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counters == nil {
		m.counters = map[string]map[string]float64{}
	}
	if m.counters[name] == nil {
		m.counters[name] = map[string]float64{}
	}
	m.counters[name][labels] += n
}

func (m *metrics) observe(name, labels string, v float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.times == nil {
		m.times = map[string]map[string]*histogram{}
	}
	if m.times[name] == nil {
		m.times[name] = map[string]*histogram{}
	}
	h := m.times[name][labels]
	if h == nil {
		h = &histogram{counts: make([]int, len(bounds)+1)}
		m.times[name][labels] = h
	}
	i, _ := slices.BinarySearch(bounds, v)
	h.counts[i]++
	h.sum += v
	h.n++
}

// maxModels is how many models can have a label of their own.
const maxModels = 100

// model returns the label of a request's model: its name once it has answered a
// request, else "other", so that no client can fill the memory with names.
func (m *metrics) model(r *Report) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r.Asked == "" || m.models[r.Asked]:
		return r.Asked
	case r.Reason != "ok" || len(m.models) >= maxModels:
		return "other"
	case m.models == nil:
		m.models = map[string]bool{}
	}
	m.models[r.Asked] = true
	return r.Asked
}

// text returns all metrics, sorted.
func (m *metrics) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.counters)) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", name, help[name], name)
		for _, l := range slices.Sorted(maps.Keys(m.counters[name])) {
			fmt.Fprintf(&b, "%s%s %g\n", name, braced(l), m.counters[name][l])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.times)) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s histogram\n", name, help[name], name)
		for _, l := range slices.Sorted(maps.Keys(m.times[name])) {
			m.times[name][l].text(&b, name, l)
		}
	}
	return b.String()
}

func (h *histogram) text(b *strings.Builder, name, l string) {
	sum := 0
	for i, n := range h.counts {
		sum += n
		bound := "+Inf"
		if i < len(bounds) {
			bound = fmt.Sprintf("%g", bounds[i])
		}
		fmt.Fprintf(b, "%s_bucket%s %d\n", name, braced(strings.TrimPrefix(l+","+label("le", bound), ",")), sum)
	}
	fmt.Fprintf(b, "%s_sum%s %g\n%s_count%s %d\n", name, braced(l), h.sum, name, braced(l), h.n)
}

func braced(labels string) string {
	if labels == "" {
		return ""
	}
	return "{" + labels + "}"
}

// sharedGauges writes the gauges of State and the Ledger, if there are any.
func (x *exchange) sharedGauges(b *strings.Builder) {
	away := func(name, what string, p *presence) {
		n := 0.0
		if p.until.Load() != 0 {
			n = 1
		}
		gauge{name, "gauge", "1 while " + what + " does not answer.", n}.text(b)
	}
	if x.State != nil {
		away("bx_state_away", "what replicas share and may lose", &x.gate.shared.state)
	}
	if x.Ledger != nil {
		away("bx_ledger_away", "the ledger of keys and budgets", &x.gate.shared.ledger)
		gauge{"bx_settlements_waiting", "gauge", "Settlements that the ledger has not taken yet.", float64(x.gate.shared.owed.len())}.text(b)
	}
}

// scraped answers GET /metrics.
func (x *exchange) scraped() error {
	var b strings.Builder
	b.WriteString(x.gate.metrics.text())
	gauge{"bx_requests_running", "gauge", "Requests for a reply that are not over.", float64(x.gate.running.Load())}.text(&b)
	b.WriteString("# HELP bx_target_left_alone Targets that failed too often, or want fewer requests, and are not asked for a while.\n# TYPE bx_target_left_alone gauge\n")
	for _, at := range x.gate.breaks.open(x.Now()) {
		fmt.Fprintf(&b, "bx_target_left_alone{%s} 1\n", at.labels())
	}
	x.gate.loads.gauges(&b)
	x.sharedGauges(&b)
	process(&b, x.Build)
	x.told = true
	x.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = x.w.Write([]byte(b.String())) // a client that has gone needs no answer
	return nil
}
