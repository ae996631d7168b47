// Package bench measures our parser beside the Go parsers of Ollama, on the same
// texts in the same pieces, and in its commands our gateway beside
// httputil.ReverseProxy and Bifrost, and under load. It is a module of its own,
// because theirs have many dependencies. See docs/performance.md for the figures.
package bench
