// Package parse finds the tool calls in a model's text while it arrives. It is
// the only parser: a whole text is a stream of one chunk.
//
// A Parser is fed text and gives events: text, thinking, and calls with their
// arguments. What it promises, for every input and every grammar:
//
//   - However the text is cut into chunks, the events are the same, up to where
//     runs of text, thinking and arguments are cut.
//   - The Raws of the events, joined, are the text.
//   - Text that was given out never becomes part of a call. Only what may still
//     turn out to be markup is held back, and only so many bytes of it.
//   - Feed never fails. A call that cannot be read is a Problem, and its text
//     stays text; that of one which the output ended in stands in the Problem.
//   - A call that was cut off, or whose arguments could not be read, never ends
//     in EventCallEnd. What was mended is listed in the call's Fixes.
//   - The pieces of a call's arguments, joined, are its arguments: a JSON object.
//   - Cost grows with the text, not with the number of chunks.
//
// Without Config.Grammars every dialect is read, told apart by what stands in
// the text. Forms that are also ordinary text (JSON, f(x), "Action:" lines)
// count only with the name of a tool in Config.Tools, and only at a line start.
package parse
