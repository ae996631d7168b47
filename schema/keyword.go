package schema

import (
	"encoding/json"
)

// shapes gives, per keyword, its value in the form the validator wants.
var shapes = map[string]func(any) (any, bool){
	"title": isText, "description": isText, "$comment": isText, "pattern": isText, "$ref": isText,
	"$id": isText, "$anchor": isText, "$dynamicRef": isText, "$dynamicAnchor": isText,
	"contentEncoding": isText, "contentMediaType": isText,
	"readOnly": isBool, "writeOnly": isBool, "deprecated": isBool, "uniqueItems": isBool,
	"minLength": isCount, "maxLength": isCount, "minItems": isCount, "maxItems": isCount,
	"minProperties": isCount, "maxProperties": isCount, "minContains": isCount, "maxContains": isCount,
	"minimum": isNum, "maximum": isNum, "multipleOf": isPositive,
	"enum": isFilled, "anyOf": isFilled, "oneOf": isFilled, "allOf": isFilled, "prefixItems": isFilled,
	"examples": isList, "additionalProperties": isSchema, "additionalItems": isSchema,
}

func isText(v any) (any, bool) { _, ok := v.(string); return v, ok }
func isBool(v any) (any, bool) { _, ok := v.(bool); return v, ok }
func isList(v any) (any, bool) { _, ok := v.([]any); return v, ok }

func isFilled(v any) (any, bool) { l, ok := v.([]any); return v, ok && len(l) > 0 }

func isSchema(v any) (any, bool) {
	switch v.(type) {
	case bool, map[string]any:
		return v, true
	}
	return v, false
}

// isNum takes a number also as text: protobuf's JSON writes int64 so.
func isNum(v any) (any, bool) {
	if s, ok := v.(string); ok {
		lit, ok := number(s)
		if !ok {
			return v, false
		}
		return tame(lit), true
	}
	_, ok := v.(json.Number)
	return v, ok
}

func isCount(v any) (any, bool) {
	v, ok := isNum(v)
	if !ok {
		return v, false
	}
	lit, ok := integral(v.(json.Number).String())
	return json.Number(lit), ok && lit[0] != '-' && len(lit) < 10
}

func isPositive(v any) (any, bool) {
	v, ok := isNum(v)
	if !ok {
		return v, false
	}
	f, err := v.(json.Number).Float64()
	return v, err == nil && f > 0
}

// typeNames maps the names in use to JSON Schema's. Any means: no type.
var typeNames = map[string]string{
	"string": "string", "str": "string", "text": "string", "char": "string", "varchar": "string",
	"integer": "integer", "int": "integer", "long": "integer", "short": "integer", "byte": "integer", "bigint": "integer",
	"int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer",
	"uint": "integer", "uint8": "integer", "uint16": "integer", "uint32": "integer", "uint64": "integer",
	"number": "number", "num": "number", "float": "number", "double": "number", "decimal": "number", "float32": "number", "float64": "number",
	"boolean": "boolean", "bool": "boolean",
	"array": "array", "list": "array", "tuple": "array", "set": "array", "arraylist": "array",
	"object": "object", "dict": "object", "map": "object", "hashmap": "object", "struct": "object", "record": "object",
	"null": "null", "none": "null", "nil": "null", "nonetype": "null",
}
