// Package sdktest drives the module's programs with clients of other vendors,
// as a second opinion: their SDKs for models, in Go and in npm, and an MCP
// client. It is a module of its own, needs node, and runs with "make sdktest".
// See docs/sdks.md.
package sdktest
