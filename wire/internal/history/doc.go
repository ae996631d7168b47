// Package history puts a conversation into the order that a provider wants:
// every call with its result behind it, turns of the user and the assistant,
// results as texts. Each repair is a wire.Loss.
package history
