package collector

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// Attributes are values by key: string, bool, int64, float64; of a list of
// strings the words in one.
func Attributes(list []*commonpb.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range list {
		out[kv.Key] = value(kv.Value)
	}
	return out
}

func value(v *commonpb.AnyValue) any {
	switch v := v.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_ArrayValue:
		var words []string
		for _, one := range v.ArrayValue.Values {
			words = append(words, fmt.Sprint(value(one)))
		}
		return strings.Join(words, " ")
	}
	return nil
}

// String has a line of each span and each point of a metric:
//
//	span chat qwen3:8b, client, trace 4bf9…, parent 00f0…: bx.calls=1 …
//	metric bx.calls: bx.call.source=native …
//
// The attributes are in the order of their names.
func (c *Collector) String() string {
	var b strings.Builder
	for _, s := range c.Spans() {
		kind := strings.ToLower(strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"))
		fmt.Fprintf(&b, "span %s, %s, trace %s, parent %s:%s\n", s.Name, kind, hex.EncodeToString(s.TraceId), hex.EncodeToString(s.ParentSpanId), line(s.Attributes))
	}
	for name, m := range c.Metrics() {
		for _, point := range points(m) {
			fmt.Fprintf(&b, "metric %s:%s\n", name, line(point))
		}
	}
	return b.String()
}

// points are the attributes of a sum's or a histogram's points.
func points(m *metricspb.Metric) (all [][]*commonpb.KeyValue) {
	for _, p := range m.GetSum().GetDataPoints() {
		all = append(all, p.Attributes)
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		all = append(all, p.Attributes)
	}
	return all
}

func line(list []*commonpb.KeyValue) string {
	var words []string
	for key, v := range Attributes(list) {
		words = append(words, fmt.Sprintf(" %s=%v", key, v))
	}
	slices.Sort(words)
	return strings.Join(words, "")
}
