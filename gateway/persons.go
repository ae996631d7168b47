package gateway

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
)

// byIssuer is the name in the audit log for changes made when a person arrives or moves
// to another team.
const byIssuer = "oidc"

// person returns the client of an issuer's token. It is a key of the Ledger with no
// text, in the team that the token names, created at the person's first request.
func (s *sharing) person(ctx context.Context, h *house, token string) (*Client, error) {
	p, err := h.Issuer.Verify(ctx, token)
	var refused *oidc.Refusal
	switch {
	case errors.As(err, &refused) && refused.Team:
		return nil, denied(http.StatusForbidden, "no_team", "%s", refused.Why)
	case errors.As(err, &refused):
		return nil, denied(http.StatusUnauthorized, "bad_token", "%s", refused.Why)
	case errors.Is(err, oidc.ErrAway):
		h.Log.Error("a token cannot be verified", "error", err.Error())
		return nil, denial503("issuer_away", "the issuer of tokens does not answer, and its keys are not known: ask again in a moment")
	case err != nil:
		return nil, err
	}
	hash := p.Hash()
	known := sha512.Sum512_256(append(hash[:], p.Team...))
	return s.find(ctx, h, known, func(ctx context.Context) (*fleet.Key, error) { return keyOfPerson(ctx, h, p) },
		denied(http.StatusForbidden, "no_team", "the token is for the team %q, which the ledger does not have: whoever runs the gateway makes it with bx keys team create", p.Team))
}

// keyOfPerson returns a person's key in the Ledger, or ErrUnknown if its team does not
// exist.
func keyOfPerson(ctx context.Context, h *house, p oidc.Person) (*fleet.Key, error) {
	k, err := h.Ledger.Key(ctx, p.Hash())
	if err == nil && k.Team != nil && k.Team.Name == p.Team {
		return k, nil
	}
	if err != nil && !errors.Is(err, fleet.ErrUnknown) {
		return nil, err
	}
	teams, failed := h.Ledger.Teams(ctx)
	if failed != nil {
		return nil, failed
	}
	for _, t := range teams {
		switch {
		case t.Name != p.Team:
		case err == nil:
			err = h.Ledger.SetKey(ctx, byIssuer, k.ID, func(now *fleet.Key) error {
				now.Team, k = &t, now
				return nil
			}, h.Now())
			return k, err
		default:
			return newPerson(ctx, h, p, &t)
		}
	}
	return nil, fleet.ErrUnknown
}

// newPerson creates the key of a person, under the first of their names that is free.
// Another replica may do so at the same time.
func newPerson(ctx context.Context, h *house, p oidc.Person, team *fleet.Team) (*fleet.Key, error) {
	hash := p.Hash()
	k := fleet.Key{ID: fleet.PersonID + hex.EncodeToString(hash[:12]), Team: team, Created: h.Now()}
	host := ""
	if at, err := url.Parse(h.Issuer.Issuer); err == nil {
		host = at.Host
	}
	for _, k.Name = range []string{nameOf(p.Name), nameOf(p.Name) + "@" + host, k.ID} {
		err := h.Ledger.CreateKey(ctx, byIssuer, k, hash)
		if err != nil && !errors.Is(err, fleet.ErrTaken) {
			return nil, err
		}
		if found, err := h.Ledger.Key(ctx, hash); !errors.Is(err, fleet.ErrUnknown) {
			return found, err
		}
	}
	return nil, fleet.ErrTaken
}

// maxName bounds the name of a person.
const maxName = 60

// nameOf returns a person's name in a form fit for the command line, the log and paths
// of the administration.
func nameOf(name string) string {
	name = strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' || c == '/' {
			return '_'
		}
		return c
	}, name)
	if name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "_")
	}
	return name[:min(len(name), maxName)]
}
