// Package anthropic speaks Anthropic's Messages API, /v1/messages: Back calls a
// server that has it, Front poses as one.
//
// Source: the types of github.com/anthropics/anthropic-sdk-go, package message,
// and Anthropic's API reference, "Messages", "Streaming" and "Errors".
package anthropic
