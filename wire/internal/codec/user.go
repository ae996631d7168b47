package codec

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// MaxUser is the longest name of a user that OpenAI's APIs take.
// Source: refusals of longer ones.
const MaxUser = 64

// User is a request's user as a server may be told who it is: by a hash where the
// name is longer than most, or the id of a person's device, which concerns only
// the provider that it was made for.
func (o *Outgoing) User(user string, most int) string {
	why := ""
	switch {
	case isDevice(user):
		why = "it is the id of a person's device, meant for another provider"
	case utf8.RuneCountInString(user) > most:
		why = "at most " + strconv.Itoa(most) + " characters are taken"
	default:
		return user
	}
	o.Lose("params.user", "sent as a hash", why)
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:16])
}

// deviceID is how Claude Code named its user up to version 2.0.
var deviceID = regexp.MustCompile(`^user_[0-9a-f]{16,}_account_`)

// isDevice reports what Claude Code sends as the user: the ids of a device, an
// account and a session.
func isDevice(user string) bool {
	all, err := shape.Members(shape.Value{Raw: []byte(user)})
	return err == nil && (all.Get("device_id") != nil || all.Get("account_uuid") != nil) || deviceID.MatchString(user)
}
