package telemetry

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// settings are what the environment asks for. A nil place: nothing is sent.
type settings struct {
	traces, metrics *place
	delta           bool // metrics since the last sending, not since the start
}

// place is where one signal goes.
type place struct {
	url     string
	headers map[string]string
	within  time.Duration // for one sending, with its repetitions
	gzip    bool
}

// environment reads the variables of the SDK's specification that concern
// exporters. The SDK reads the others itself.
// Source: opentelemetry.io/docs/specs/otel/protocol/exporter and …/configuration/sdk-environment-variables.
func environment() (s settings, err error) {
	if strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true") {
		return s, nil
	}
	if s.traces, err = placeOf("TRACES", "/v1/traces"); err != nil {
		return s, err
	}
	if s.metrics, err = placeOf("METRICS", "/v1/metrics"); err != nil {
		return s, err
	}
	switch p := strings.ToLower(os.Getenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")); p {
	case "delta", "lowmemory":
		s.delta = true
	}
	return s, nil
}

// variable gives the value for a signal, or else that for all, and its name.
func variable(signal, name string) (value, from string) {
	own, all := "OTEL_EXPORTER_OTLP_"+signal+"_"+name, "OTEL_EXPORTER_OTLP_"+name
	if v := strings.TrimSpace(os.Getenv(own)); v != "" {
		return v, own
	}
	return strings.TrimSpace(os.Getenv(all)), all
}

func placeOf(signal, path string) (*place, error) {
	to, from := variable(signal, "ENDPOINT")
	switch exporter := os.Getenv("OTEL_" + signal + "_EXPORTER"); {
	case exporter == "none", exporter == "" && to == "":
		return nil, nil
	case exporter != "" && exporter != "otlp":
		return nil, fmt.Errorf("OTEL_%s_EXPORTER=%s: want otlp or none", signal, exporter)
	}
	if protocol, name := variable(signal, "PROTOCOL"); protocol != "" && !strings.HasPrefix(protocol, "http/") {
		return nil, fmt.Errorf("%s=%s: want http/json and the collector's port for HTTP, 4318 as a rule", name, protocol)
	}
	if from == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		to = strings.TrimSuffix(cmp.Or(to, "http://localhost:4318"), "/") + path
	}
	if u, err := url.Parse(to); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: want an address such as http://localhost:4318", from)
	}
	p := &place{url: to, within: 10 * time.Second}
	return p, p.rest(signal)
}

// rest reads how to send.
func (p *place) rest(signal string) (err error) {
	list, name := variable(signal, "HEADERS")
	if p.headers, err = headers(list); err != nil {
		return fmt.Errorf("%s: %w", name, err) // never its value: it holds keys
	}
	if ms, name := variable(signal, "TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return fmt.Errorf("%s=%s: want milliseconds", name, ms)
		}
		p.within = time.Duration(n) * time.Millisecond
	}
	switch packed, name := variable(signal, "COMPRESSION"); packed {
	case "gzip":
		p.gzip = true
	case "", "none":
	default:
		return fmt.Errorf("%s=%s: want gzip or none", name, packed)
	}
	return nil
}

// headers reads "name=value,name=value", with values as in a URL.
func headers(list string) (map[string]string, error) {
	out := map[string]string{}
	for i, pair := range strings.Split(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil {
			return nil, fmt.Errorf("header %d: want name=value", i+1)
		}
		out[name] = value
	}
	return out, nil
}
