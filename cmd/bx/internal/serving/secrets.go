package serving

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// Hash is the SHA-256 of the client's key.
func (c Client) Hash() ([sha256.Size]byte, error) { return hashOf(c.Key, "bx serve --new-key") }

func hashOf(digits, made string) (sum [sha256.Size]byte, err error) {
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != len(sum) {
		return sum, fmt.Errorf("key_sha256: want the 64 digits that %s prints", made)
	}
	return [sha256.Size]byte(b), nil
}

// Secret is one of the backend's keys.
type Secret struct {
	Name string // of the variable or the file that holds it; "": the backend has none
	Key  string
}

// Secrets are the backend's keys, read from where the file says; always one at least.
func (b Backend) Secrets(env func(string) string) (out []Secret, err error) {
	names, key := b.KeysEnv, "keys_env"
	if b.KeyEnv != "" {
		names, key = []string{b.KeyEnv}, "key_env"
	}
	for _, name := range names {
		text := env(name)
		if text == "" {
			return []Secret{{}}, fmt.Errorf("%s: the variable %s is not set", key, name)
		}
		for _, other := range out {
			if other.Key == text {
				return []Secret{{}}, fmt.Errorf("%s: the variables %s and %s hold the same key", key, other.Name, name)
			}
		}
		out = append(out, Secret{name, text})
	}
	if b.KeyFile != "" {
		text, err := os.ReadFile(b.KeyFile)
		if err != nil {
			return []Secret{{}}, fmt.Errorf("key_file: %w", err)
		}
		out = []Secret{{b.KeyFile, strings.TrimSpace(string(text))}}
	}
	if len(out) == 0 {
		out = []Secret{{}}
	}
	return out, nil
}
