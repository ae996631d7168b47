// Package agent answers a question by letting a model call tools.
//
// Turn asks the Model, runs the calls of its reply through the Gate, gives the
// results back, and repeats until the model answers. Every step is an Event.
// The Gate alone decides what runs; the package knows no wire format and no
// dialect of tool calls.
package agent
