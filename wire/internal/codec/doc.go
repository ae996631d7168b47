// Package codec holds what the codecs of the providers share. For requests: names
// and ids that a provider allows, tools as functions, and what an Extra keeps of
// another provider (Names, Outgoing). For replies that are read: events from the
// pieces of native calls (Builder, Incoming). For replies that are written: the
// events in the order that every client can read (Sequence, Emitter, Compose).
package codec
