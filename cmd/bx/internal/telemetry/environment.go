package telemetry

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// place is where one signal goes.
type place struct {
	url    string        // "": nowhere
	within time.Duration // for one request
}

// placeOf is where the environment sends a signal, "traces" or "metrics". The
// exporters read the variables themselves; here are those that they leave to a
// program, and those that they would pass over in silence where they are wrong.
// Source: opentelemetry.io/docs/specs/otel/protocol/exporter and …/configuration/sdk-environment-variables.
func placeOf(signal string) (p place, err error) {
	upper := strings.ToUpper(signal)
	exporter := os.Getenv("OTEL_" + upper + "_EXPORTER")
	to, from := variable(upper, "ENDPOINT")
	if to == "" || exporter == "none" {
		return p, nil
	}
	if exporter != "" && exporter != "otlp" {
		return p, fmt.Errorf("OTEL_%s_EXPORTER=%s: want otlp or none", upper, exporter)
	}
	if p.url, err = address(to, from, signal); err != nil {
		return p, err
	}
	if p.within, err = within(upper); err != nil {
		return p, err
	}
	if err := oneOf(upper, "PROTOCOL", "http/protobuf", "http/json"); err != nil {
		return p, fmt.Errorf("%w, at the collector's port for HTTP, 4318 as a rule", err)
	}
	if err := oneOf(upper, "COMPRESSION", "gzip", "none"); err != nil {
		return p, err
	}
	return p, headers(upper)
}

// variable gives the value for a signal, or else that for all, and its name.
func variable(signal, name string) (value, from string) {
	own, all := "OTEL_EXPORTER_OTLP_"+signal+"_"+name, "OTEL_EXPORTER_OTLP_"+name
	if v := strings.TrimSpace(os.Getenv(own)); v != "" {
		return v, own
	}
	return strings.TrimSpace(os.Getenv(all)), all
}

// address is a signal's own address, or the signal's path below that for all.
// The exporters would drop a query and a user, and heed …_INSECURE, which is for
// gRPC, against https.
func address(to, from, signal string) (string, error) {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return "", fmt.Errorf("%s: want an address such as http://localhost:4318; keys go into OTEL_EXPORTER_OTLP_HEADERS", from)
	}
	if from == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath("v1", signal)
	}
	return u.String(), nil
}

func within(signal string) (time.Duration, error) {
	ms, name := variable(signal, "TIMEOUT")
	if ms == "" {
		return 10 * time.Second, nil
	}
	n, err := strconv.Atoi(ms)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s=%s: want milliseconds", name, ms)
	}
	return time.Duration(n) * time.Millisecond, nil
}

func oneOf(signal, name string, words ...string) error {
	value, from := variable(signal, name)
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%s=%s: want %s", from, value, strings.Join(words, " or "))
}

// headers checks "name=value,name=value", with values as in a URL. It never tells
// them: they hold keys.
func headers(signal string) error {
	list, from := variable(signal, "HEADERS")
	for i, pair := range strings.Split(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(value)
		if err != nil || !httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) || !httpguts.ValidHeaderFieldValue(value) || !strings.Contains(pair, "=") {
			return fmt.Errorf("%s: header %d: want name=value", from, i+1)
		}
	}
	return nil
}
