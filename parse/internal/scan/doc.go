// Package scan is the ground floor of package parse: it fits markers, compiled
// from the templates of a grammar, to the text at hand, and finds which of many
// literals begin it. What it says depends on its arguments alone.
package scan
