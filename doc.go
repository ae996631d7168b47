// Package utp is the model of a conversation with tools that every other
// package speaks: tools, calls, results, messages, requests, replies, and the
// events of a reply in motion. It knows no provider and no dialect.
//
// A model's text becomes events in package parse, a provider's wire format in
// package wire. Collect turns events into a Reply, Replay a Reply into events.
package utp
