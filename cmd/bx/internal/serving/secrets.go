package serving

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
)

// OIDC is an issuer of OpenID Connect, whose tokens are accepted like keys, for teams of
// the ledger.
type OIDC struct {
	Issuer     string   `toml:"issuer"`     // as in its tokens; "": there is none
	Audience   string   `toml:"audience"`   // that its tokens must name
	Algorithms []string `toml:"algorithms"` // RS256, ES256, EdDSA; none: RS256
	Claim      string   `toml:"claim"`      // what names the team
	Teams      []Member `toml:"teams"`      // the first whose value is in the claim counts
	Name       string   `toml:"name"`       // the claim with a person's name; "": sub
}

// Member is a team for a value of the claim.
type Member struct {
	Value string `toml:"value"`
	Team  string `toml:"team"` // of the ledger
}

// Set reports whether the file names an issuer.
func (o OIDC) Set() bool { return o.Issuer != "" }

// Config returns the rules for its tokens.
func (o OIDC) Config() oidc.Config {
	c := oidc.Config{Issuer: o.Issuer, Audience: o.Audience, Algorithms: o.Algorithms, Claim: o.Claim, Name: o.Name}
	for _, t := range o.Teams {
		c.Teams = append(c.Teams, oidc.Team{Value: t.Value, Team: t.Team})
	}
	return c
}

func (o OIDC) check(f *File) error {
	if !o.Set() && o.Audience == "" && o.Claim == "" && o.Name == "" && len(o.Algorithms)+len(o.Teams) == 0 {
		return nil
	}
	if err := o.Config().Check(); err != nil {
		return err
	}
	if f.Ledger == (Ledger{}) {
		return errors.New("issuer: there is no [ledger], whose teams its tokens could name")
	}
	return nil
}

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

// Secrets returns the backend's keys, read from where the file says. There is always at
// least one.
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
