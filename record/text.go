package record

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/unifiedtoolprotocol/utp"
)

// hashed is how much of a conversation's beginning its hash is of, in bytes.
const hashed = 4 << 10

// ConversationOf is a short hash of how a conversation begins: of the first
// message that is no system message.
func ConversationOf(r *utp.Request) string {
	for _, m := range r.Messages {
		if m.Role == utp.RoleSystem {
			continue
		}
		text := m.Text()
		sum := sha256.Sum256([]byte(text[:min(len(text), hashed)]))
		return hex.EncodeToString(sum[:6])
	}
	return ""
}
