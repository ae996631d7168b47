// Package mcp serves tools over the Model Context Protocol.
//
// It lists utp tools and hands each call to a Runner; it decides nothing
// itself. A Runner that needs the user's word calls Confirm, which asks
// through the client.
package mcp
