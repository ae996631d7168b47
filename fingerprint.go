package utp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Fingerprint is equal for calls of one tool with equal arguments, whatever
// the order of their keys and the blanks between them: "call_" and the SHA-256
// of the name, a colon and the arguments as canonical JSON, in hexadecimal.
// Numbers count as they are written. It tells calls apart, and is no ID: two
// equal calls of a conversation have one Fingerprint and two IDs.
// Source: Autobyteus, the base of its call ids.
func (c Call) Fingerprint() string {
	sum := sha256.Sum256([]byte(c.Name + ":" + c.canonical()))
	return "call_" + hex.EncodeToString(sum[:])
}

// canonical is the call's input with sorted keys, without blanks and with no
// character escaped that need not be; an input that is no JSON stays as written.
func (c Call) canonical() string {
	if c.Kind == CustomCall {
		return c.RawArgs
	}
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(c.Args) + c.RawArgs
	}
	b, err := encode(v)
	if err != nil {
		return string(c.Args)
	}
	return lineBreaks.Replace(string(b))
}

// lineBreaks undoes the two escapes that package json always writes. A
// backslash before them was escaped itself.
var lineBreaks = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")
