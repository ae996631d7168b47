package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The issuer's keys are asked for when a token is signed by one that is not known, at
// most once in fetchEvery, or in fetchAgain where the last question failed, and beside
// a request when they are as old as keysFresh, so that one which the issuer has taken
// back does not count for ever.
const (
	fetchEvery = 10 * time.Second
	fetchAgain = 5 * time.Second
	keysFresh  = 15 * time.Minute
	fetchTime  = 5 * time.Second
	maxKeys    = 1 << 20 // bytes of a document
	minRSA     = 2048    // bits
)

// key is one of the issuer's.
type key struct {
	id, alg string
	public  any
}

// sameSafety follows a redirect only to where an issuer might be.
func sameSafety(r *http.Request, via []*http.Request) error {
	if !safe(r.URL) || len(via) >= 5 {
		return errors.New("it leads to an address without https")
	}
	return nil
}

// key finds the key that has signed a token, by what its head says. The head is not
// to be believed yet: only the issuer's own keys are taken, each for its own algorithm.
func (i *Issuer) key(ctx context.Context, t *jwt.Token) (any, error) {
	if _, has := t.Header["crit"]; has {
		return nil, refuse("the token demands something that is not known here (crit)")
	}
	id, _ := t.Header["kid"].(string)
	for {
		i.mu.Lock()
		found := i.find(id, t.Method.Alg())
		age, known, since, busy, failed := i.now().Sub(i.got), !i.got.IsZero(), i.now().Sub(i.asked), i.busy, i.failed
		pause := fetchEvery
		if failed != nil {
			pause = fetchAgain
		}
		may := busy == nil && (i.asked.IsZero() || since >= pause)
		if may && (found == nil || age >= keysFresh) {
			busy = make(chan struct{})
			i.busy, i.asked = busy, i.now()
			go i.fetch(context.WithoutCancel(ctx), busy)
		}
		i.mu.Unlock()
		switch {
		case found != nil:
			return found, nil
		case busy != nil:
			select {
			case <-busy:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case !known:
			return nil, fmt.Errorf("%w: %w", ErrAway, failed)
		default:
			return nil, refuse("the issuer has no key %q for %s", printable(id), t.Method.Alg())
		}
	}
}

// printable is a name of a key as an error may say it.
func printable(id string) string {
	return strings.ToValidUTF8(id[:min(len(id), 64)], "?")
}

// find is the key of a name for an algorithm; without a name the only one for it. The
// caller has the lock.
func (i *Issuer) find(id, alg string) (found any) {
	for _, k := range i.keys {
		if k.alg != alg || id != "" && k.id != id {
			continue
		}
		if found != nil {
			return nil // which of them, nobody says
		}
		found = k.public
	}
	return found
}

// fetch asks the issuer for its keys. If it does not answer, those that are known stay.
func (i *Issuer) fetch(ctx context.Context, done chan struct{}) {
	keys, err := i.ask(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	if err == nil {
		i.keys, i.got = keys, i.now()
	}
	i.failed, i.busy = err, nil
	close(done)
}

// Fetch asks the issuer for its keys, and tells why they did not come.
func (i *Issuer) Fetch(ctx context.Context) error {
	i.mu.Lock()
	busy := i.busy
	if busy == nil {
		busy = make(chan struct{})
		i.busy, i.asked = busy, i.now()
		go i.fetch(context.WithoutCancel(ctx), busy)
	}
	i.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-busy:
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}

// ask reads the issuer's discovery document and the keys that it names.
func (i *Issuer) ask(ctx context.Context) ([]key, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	place := strings.TrimSuffix(i.Issuer, "/") + "/.well-known/openid-configuration"
	if err := i.get(ctx, place, &about); err != nil {
		return nil, err
	}
	if about.Issuer != i.Issuer {
		return nil, fmt.Errorf("%s is of the issuer %q: write it so in [oidc]", place, about.Issuer)
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := i.get(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	var keys []key
	for _, j := range set.Keys {
		if public, alg := j.public(); public != nil {
			keys = append(keys, key{j.ID, alg, public})
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s has no key for %s", about.Keys, strings.Join(i.Algorithms, ", "))
	}
	return keys, nil
}

func (i *Issuer) get(ctx context.Context, place string, into any) error {
	at, err := url.Parse(place)
	if err != nil || !safe(at) {
		return fmt.Errorf("%q: want an address with https", place)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return err
	}
	resp, err := i.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", place, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxKeys)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}

// jwk is a public key as RFC 7517 and RFC 8037 write it.
type jwk struct {
	ID    string `json:"kid"`
	Kind  string `json:"kty"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	Curve string `json:"crv"`
	N     number `json:"n"`
	E     number `json:"e"`
	X     number `json:"x"`
	Y     number `json:"y"`
}

// number is bytes in base64 without padding.
type number []byte

// UnmarshalText leaves what is no base64 empty: such a key is no key.
func (n *number) UnmarshalText(b []byte) error {
	*n, _ = base64.RawURLEncoding.DecodeString(strings.TrimRight(string(b), "="))
	return nil
}

// public is the key and the only algorithm that it counts for; nil if it is none for
// signatures that are taken here.
func (j jwk) public() (public any, alg string) {
	switch {
	case j.Use != "" && j.Use != "sig":
		return nil, ""
	case j.Kind == "RSA":
		n, e := new(big.Int).SetBytes(j.N), new(big.Int).SetBytes(j.E)
		if n.BitLen() < minRSA || !e.IsInt64() || e.Int64() < 3 || e.Int64() > 1<<31-1 {
			return nil, ""
		}
		public, alg = &rsa.PublicKey{N: n, E: int(e.Int64())}, "RS256"
	case j.Kind == "EC" && j.Curve == "P-256" && len(j.X) == 32 && len(j.Y) == 32:
		k, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, j.X...), j.Y...))
		if err != nil {
			return nil, ""
		}
		public, alg = k, "ES256"
	case j.Kind == "OKP" && j.Curve == "Ed25519" && len(j.X) == ed25519.PublicKeySize:
		public, alg = ed25519.PublicKey(j.X), "EdDSA"
	}
	if j.Alg != "" && j.Alg != alg && (j.Alg != "Ed25519" || alg != "EdDSA") {
		return nil, ""
	}
	return public, alg
}
