// Package dialect writes a tool's JSON Schema as a provider understands it, says
// what that lost, and brings the arguments of calls back to the schema's own.
package dialect
