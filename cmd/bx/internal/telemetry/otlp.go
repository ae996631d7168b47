package telemetry

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
)

// The messages of OTLP in their JSON form: names in lowerCamelCase, enums as
// numbers, ids in hexadecimal, 64-bit integers as decimal strings.
// Source: opentelemetry-proto v1.11, and opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding".

// whole is a 64-bit integer.
type whole int64

// MarshalJSON writes a decimal string.
func (w whole) MarshalJSON() ([]byte, error) {
	return append(strconv.AppendInt([]byte{'"'}, int64(w), 10), '"'), nil
}

type attr struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

// anyValue has one field set.
type anyValue struct {
	String *string    `json:"stringValue,omitempty"`
	Bool   *bool      `json:"boolValue,omitempty"`
	Int    *whole     `json:"intValue,omitempty"`
	Double *float64   `json:"doubleValue,omitempty"`
	Array  *arrayJSON `json:"arrayValue,omitempty"`
}

type arrayJSON struct {
	Values []anyValue `json:"values"`
}

type resourceJSON struct {
	Attributes []attr `json:"attributes"`
}

type scopeJSON struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

func attrs(list []attribute.KeyValue) []attr {
	out := make([]attr, 0, len(list))
	for _, kv := range list {
		out = append(out, attr{string(kv.Key), valueOf(kv.Value)})
	}
	return out
}

func valueOf(v attribute.Value) anyValue {
	switch v.Type() {
	case attribute.BOOL:
		return anyValue{Bool: new(v.AsBool())}
	case attribute.INT64:
		return anyValue{Int: new(whole(v.AsInt64()))}
	case attribute.FLOAT64:
		return anyValue{Double: new(v.AsFloat64())}
	case attribute.STRINGSLICE:
		list := arrayJSON{Values: []anyValue{}}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, anyValue{String: new(s)})
		}
		return anyValue{Array: &list}
	}
	return anyValue{String: new(v.String())}
}

func about(r *resource.Resource) resourceJSON { return resourceJSON{attrs(r.Attributes())} }

func scopeOf(s instrumentation.Scope) scopeJSON { return scopeJSON{s.Name, s.Version} }
