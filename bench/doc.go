// Package bench measures our parser beside the Go parsers of Ollama, on the same
// texts in the same pieces. It is a module of its own, because Ollama's has many
// dependencies. See docs/performance.md for the figures.
package bench
