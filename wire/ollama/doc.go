// Package ollama speaks Ollama's own API: Back calls /api/chat, Front poses as a
// server with /api/chat, /api/generate and the lists of models.
//
// Source: Ollama docs/api.md, api/types.go and server/routes.go.
package ollama
