package telemetry

import (
	"context"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// metricExporter sends metrics for the SDK.
type metricExporter struct {
	*sender
	delta bool
}

type figuresJSON struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource resourceJSON   `json:"resource"`
	Scopes   []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scopeJSON    `json:"scope"`
	Metrics []metricJSON `json:"metrics"`
}

// metricJSON has one of Sum and Histogram.
type metricJSON struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Unit        string     `json:"unit,omitempty"`
	Sum         *pointsFor `json:"sum,omitempty"`
	Histogram   *pointsFor `json:"histogram,omitempty"`
}

type pointsFor struct {
	Points      []pointJSON `json:"dataPoints"`
	Temporality int         `json:"aggregationTemporality"`
	Monotonic   bool        `json:"isMonotonic,omitempty"` // of a sum
}

type pointJSON struct {
	Attributes []attr    `json:"attributes"`
	Start      whole     `json:"startTimeUnixNano"`
	Time       whole     `json:"timeUnixNano"`
	Int        *whole    `json:"asInt,omitempty"` // of a sum; the rest is a histogram's
	Count      *whole    `json:"count,omitempty"`
	Total      *float64  `json:"sum,omitempty"`
	Counts     []whole   `json:"bucketCounts,omitempty"`
	Bounds     []float64 `json:"explicitBounds,omitempty"`
	Min        *float64  `json:"min,omitempty"`
	Max        *float64  `json:"max,omitempty"`
}

// Temporality is the environment's choice.
func (e metricExporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	if e.delta {
		return metricdata.DeltaTemporality
	}
	return metricdata.CumulativeTemporality
}

// Aggregation is the SDK's choice.
func (metricExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// Export sends what was measured.
func (e metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	if out := figuresOf(m); len(out.Scopes) > 0 {
		e.send(ctx, figuresJSON{[]resourceMetrics{out}}) // tells itself what goes wrong; the SDK would print it
	}
	return nil
}

// ForceFlush has nothing to do: nothing is kept.
func (metricExporter) ForceFlush(context.Context) error { return nil }

// Shutdown has nothing to do: nothing is kept.
func (metricExporter) Shutdown(context.Context) error { return nil }

func figuresOf(m *metricdata.ResourceMetrics) resourceMetrics {
	out := resourceMetrics{Resource: about(m.Resource)}
	for _, s := range m.ScopeMetrics {
		j := scopeMetrics{Scope: scopeOf(s.Scope)}
		for _, one := range s.Metrics {
			j.Metrics = append(j.Metrics, metricOf(one))
		}
		out.Scopes = append(out.Scopes, j)
	}
	return out
}

// metricOf knows the kinds of metrics that there are in this package.
func metricOf(m metricdata.Metrics) metricJSON {
	j := metricJSON{Name: m.Name, Description: m.Description, Unit: m.Unit}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		j.Sum = &pointsFor{Temporality: temporality(data.Temporality), Monotonic: data.IsMonotonic}
		for _, p := range data.DataPoints {
			j.Sum.Points = append(j.Sum.Points, pointJSON{Attributes: attrs(p.Attributes.ToSlice()), Start: nanos(p.StartTime), Time: nanos(p.Time), Int: new(whole(p.Value))})
		}
	case metricdata.Histogram[float64]:
		j.Histogram = histogramOf(data)
	case metricdata.Histogram[int64]:
		j.Histogram = histogramOf(data)
	}
	return j
}

func histogramOf[N int64 | float64](h metricdata.Histogram[N]) *pointsFor {
	out := &pointsFor{Temporality: temporality(h.Temporality)}
	for _, p := range h.DataPoints {
		j := pointJSON{Attributes: attrs(p.Attributes.ToSlice()), Start: nanos(p.StartTime), Time: nanos(p.Time),
			Count: new(whole(p.Count)), Total: new(float64(p.Sum)), Bounds: p.Bounds}
		for _, n := range p.BucketCounts {
			j.Counts = append(j.Counts, whole(n))
		}
		if v, ok := p.Min.Value(); ok {
			j.Min = new(float64(v))
		}
		if v, ok := p.Max.Value(); ok {
			j.Max = new(float64(v))
		}
		out.Points = append(out.Points, j)
	}
	return out
}

func temporality(t metricdata.Temporality) int {
	if t == metricdata.DeltaTemporality {
		return 1
	}
	return 2
}
