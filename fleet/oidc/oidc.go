// Package oidc tells whose a token of an OpenID Connect issuer is: a JSON Web Token
// (JWT) that the issuer has signed for the gateway, with a claim that names a team.
// Sources: OpenID Connect Core 1.0 and Discovery 1.0, RFC 7517 (JWK), RFC 7519 (JWT),
// RFC 8725 (best practices).
package oidc

import (
	"context"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// Algorithms are those by which a token may be signed.
var Algorithms = []string{"RS256", "ES256", "EdDSA"}

// Config is an issuer, and what the gateway believes of its tokens.
type Config struct {
	Issuer     string   // its address, as its tokens say it: "https://login.example.com/realms/dev"; http only on this machine
	Audience   string   // for whom its tokens must be
	Algorithms []string // of Algorithms; none: RS256
	Claim      string   // what names the team: a claim, or a path of members joined by dots; its value is a text or a list of texts
	Teams      []Team   // the first whose value the claim has counts
	Name       string   // a claim, or a path, by which persons are called; "", and where a token lacks it: sub
}

// Team is a team for a value of the claim.
type Team struct {
	Value string // of the claim
	Team  string // the name of a team of the ledger
}

// Check says what is missing or wrong. Its error begins with the field's name in small
// letters.
func (c Config) Check() error {
	at, err := url.Parse(c.Issuer)
	switch {
	case c.Issuer == "" || err != nil || at.Host == "":
		return fmt.Errorf(`issuer = %q: want the issuer's address, such as "https://login.example.com/realms/dev"`, c.Issuer)
	case !safe(at) || at.RawQuery != "" || at.Fragment != "":
		return fmt.Errorf("issuer = %q: want https (http only on this machine), without ? and #", c.Issuer)
	case c.Audience == "":
		return errors.New("audience is missing: want what the issuer writes into the aud of tokens for this gateway")
	case c.Claim == "":
		return errors.New(`claim is missing: want the claim that names the team, such as "groups"`)
	case len(c.Teams) == 0:
		return errors.New("teams is missing: want at least one [[oidc.teams]] with value and team")
	}
	for _, a := range c.Algorithms {
		if !slices.Contains(Algorithms, a) {
			return fmt.Errorf("algorithms: %q: want some of %s", a, strings.Join(Algorithms, ", "))
		}
	}
	for _, t := range c.Teams {
		if t.Value == "" || t.Team == "" {
			return errors.New("teams: want value and team in each [[oidc.teams]]")
		}
	}
	return nil
}

// safe reports an address at which nobody can read along or answer in another's place.
func safe(at *url.URL) bool {
	ip := net.ParseIP(at.Hostname())
	return at.Scheme == "https" || at.Scheme == "http" && (at.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Person is whose a token is.
type Person struct {
	Subject string // the token's sub
	Name    string // what the person is called, which is no proof of who it is
	Team    string // the name of the team
	hash    fleet.Hash
}

// Hash names the person in the ledger. It is no SHA-256, so that no text that somebody
// sends as a key has it as its hash.
func (p Person) Hash() fleet.Hash { return p.hash }

// Refusal is a token that does not count.
type Refusal struct {
	Team bool // the token is good, and names no team
	Why  string
}

func (r *Refusal) Error() string { return r.Why }

func refuse(format string, a ...any) error { return &Refusal{Why: fmt.Sprintf(format, a...)} }

// ErrAway is an issuer whose keys are not known because it does not answer.
var ErrAway = errors.New("the issuer of tokens does not answer")

// leeway is how far the issuer's clock may be from this one.
const leeway = 30 * time.Second

// Issuer verifies tokens. It is safe for concurrent use.
type Issuer struct {
	Config
	http   *http.Client
	now    func() time.Time
	parser *jwt.Parser

	mu     sync.Mutex
	keys   []key
	got    time.Time     // when the keys came; zero: never
	asked  time.Time     // when they were last asked for
	busy   chan struct{} // closed when the question on its way is answered; nil: none is
	failed error         // why the keys did not come when they were last asked for
}

// New checks the configuration. It sends nothing: the issuer's keys are asked for when
// a token comes. h may be nil, and so may now.
func New(c Config, h *http.Client, now func() time.Time) (*Issuer, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("oidc: %w", err)
	}
	if len(c.Algorithms) == 0 {
		c.Algorithms = []string{"RS256"}
	}
	if now == nil {
		now = time.Now
	}
	own := http.Client{}
	if h != nil {
		own = *h
	}
	own.Timeout, own.CheckRedirect = fetchTime, sameSafety
	return &Issuer{Config: c, http: &own, now: now, parser: jwt.NewParser(jwt.WithValidMethods(c.Algorithms), jwt.WithIssuer(c.Issuer),
		jwt.WithAudience(c.Audience), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway), jwt.WithTimeFunc(now), jwt.WithJSONNumber())}, nil
}

// LooksLike reports a text with the form of a JWT, which no key of the gateway has.
func LooksLike(token string) bool {
	return strings.HasPrefix(token, "eyJ") && strings.Count(token, ".") == 2
}

// maxToken bounds the length of a token.
const maxToken = 16 << 10

// Verify tells whose a token is. Its errors are a *Refusal, ErrAway, or that of ctx.
func (i *Issuer) Verify(ctx context.Context, token string) (Person, error) {
	if len(token) > maxToken {
		return Person{}, refuse("the token is longer than %d bytes", maxToken)
	}
	claims := jwt.MapClaims{}
	var failed error // of the search for the key
	_, err := i.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		var found any
		found, failed = i.key(ctx, t)
		return found, failed
	})
	switch {
	case failed != nil:
		return Person{}, failed
	case errors.Is(err, jwt.ErrTokenExpired):
		return Person{}, refuse("the token has expired: log in again")
	case errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return Person{}, refuse("the token was issued in the future: the issuer's clock and the gateway's do not agree")
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return Person{}, refuse("the token is not valid yet")
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return Person{}, refuse("the token is of another issuer than %s", i.Issuer)
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return Person{}, refuse("the token is not for the audience %q", i.Audience)
	case err != nil:
		return Person{}, refuse("the token cannot be believed: %s", strings.ReplaceAll(err.Error(), "\n", ": "))
	}
	subject, err := claims.GetSubject()
	if err != nil || subject == "" {
		return Person{}, refuse("the token does not say whose it is (sub)")
	}
	p := Person{Subject: subject, Name: subject, hash: sha512.Sum512_256([]byte(i.Issuer + "\x00" + subject))}
	if called := texts(claims, i.Config.Name); i.Config.Name != "" && len(called) > 0 && called[0] != "" {
		p.Name = called[0]
	}
	has := texts(claims, i.Claim)
	for _, t := range i.Teams {
		if slices.Contains(has, t.Value) {
			p.Team = t.Team
			return p, nil
		}
	}
	return Person{}, &Refusal{Team: true, Why: fmt.Sprintf("the claim %q of the token names no team of this gateway", i.Claim)}
}

// texts are the values of a claim: one of that name, or the member at its path.
func texts(claims map[string]any, name string) (out []string) {
	value, has := claims[name]
	if !has {
		var at any = claims
		for word := range strings.SplitSeq(name, ".") {
			members, _ := at.(map[string]any)
			at = members[word]
		}
		value = at
	}
	list, _ := value.([]any)
	for _, v := range append(list, value) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		}
	}
	return out
}
