// Package responses speaks OpenAI's Responses API, /v1/responses: Back calls a
// server that has it, Front poses as one. Nothing is stored: a request holds its
// whole conversation.
//
// Source: the types of github.com/openai/openai-go, package responses, and
// OpenAI's API reference, "Responses" and "Streaming events".
package responses
