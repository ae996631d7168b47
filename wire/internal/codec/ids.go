package codec

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// maxClientID is how long an id may be that every client takes.
// Source: OpenAI refuses more than 40 characters in tool_call_id.
const maxClientID = 40

const escaped = "utp_"

// ClientID is an id for a client: the id as it is if it has at most 40 letters,
// digits, "_" and "-", else a spelling that OriginID reads back, else "call_"
// and a hash.
func ClientID(id string) string {
	if legal(id, maxClientID) && !strings.HasPrefix(id, escaped) {
		return id
	}
	var b strings.Builder
	b.WriteString(escaped)
	for _, c := range []byte(id) {
		if c == '-' || illegal(rune(c)) {
			fmt.Fprintf(&b, "-%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	if b.Len() <= maxClientID {
		return b.String()
	}
	return "call_" + base62(id, 22)
}

// OriginID is the id that ClientID spelt, where it can be read back.
func OriginID(id string) string {
	rest, ours := strings.CutPrefix(id, escaped)
	if !ours {
		return id
	}
	var out []byte
	for {
		plain, code, more := strings.Cut(rest, "-")
		out = append(out, plain...)
		if !more {
			return string(out)
		}
		c, err := hex.DecodeString(code[:min(2, len(code))])
		if err != nil || len(c) != 1 {
			return id
		}
		out, rest = append(out, c...), code[2:]
	}
}

// MintID is the id of a call that came without one: a hash of its turn in the
// conversation, its place in the turn and its name.
func MintID(turn, place int, name string) string {
	return "call_" + base62(fmt.Sprintf("%d %d %s", turn, place, name), 22)
}
