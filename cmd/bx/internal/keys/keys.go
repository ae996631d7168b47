// Package keys administers the keys, teams and budgets of a ledger: for bx keys, and
// over HTTP for whoever has the key of its operator.
package keys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

// Desk is where they are administered.
type Desk struct {
	Books  fleet.Ledger
	State  fleet.State   // what is kept for keys; nil: nothing is
	NewID  func() string // of keys and teams
	NewKey func() string // the text of a key
	Now    func() time.Time
	By     string // who does it, for the audit
}

// Change is what is set of a key or a team. Nil fields stay as they are.
type Change struct {
	Team     *string      `json:"team"` // the name; "" takes the key out of its team
	Models   *[]string    `json:"models"`
	Parallel *int         `json:"parallel"`
	Budget   fleet.Budget `json:"budget"`  // the times that are named; an amount of zeros takes the limit away
	Expires  *time.Time   `json:"expires"` // the zero time: never
	Disabled *bool        `json:"disabled"`
}

func (c Change) limits(l fleet.Limits) (fleet.Limits, error) {
	if c.Models != nil {
		l.Models = *c.Models
	}
	if c.Parallel != nil {
		l.Parallel = *c.Parallel
	}
	l.Budget = maps.Clone(l.Budget)
	for p, a := range c.Budget {
		if l.Budget == nil {
			l.Budget = fleet.Budget{}
		}
		if l.Budget[p] = a; a == (fleet.Amount{}) {
			delete(l.Budget, p)
		}
	}
	if err := l.Check(); err != nil {
		return l, &bad{err}
	}
	return l, nil
}

func (d *Desk) change(ctx context.Context, k *fleet.Key, c Change) (err error) {
	if k.Limits, err = c.limits(k.Limits); err != nil {
		return err
	}
	if c.Team != nil {
		if k.Team = nil; *c.Team != "" {
			if k.Team, err = d.team(ctx, *c.Team); err != nil {
				return err
			}
		}
	}
	if c.Expires != nil {
		k.Expires = *c.Expires
	}
	if c.Disabled != nil {
		k.Disabled = *c.Disabled
	}
	return nil
}

// NameError is a name that nothing has, or that nothing may have.
type NameError struct {
	Unknown bool // nothing has it
	what    string
}

func (e *NameError) Error() string { return e.what }

// Key finds a key by its name or its id.
func (d *Desk) Key(ctx context.Context, name string) (*fleet.Key, error) {
	all, err := d.Books.Keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if k.Name == name || k.ID == name {
			return &k, nil
		}
	}
	return nil, &NameError{true, fmt.Sprintf("there is no key %q: bx keys list shows them", name)}
}

func (d *Desk) team(ctx context.Context, name string) (*fleet.Team, error) {
	all, err := d.Books.Teams(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Name == name || t.ID == name {
			return &t, nil
		}
	}
	return nil, &NameError{true, fmt.Sprintf("there is no team %q: bx keys team list shows them", name)}
}

// named refuses a name that cannot stand in a path or a line of a log.
func named(name string) error {
	if name == "" || len(name) > 100 || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == '/' || c == 127 }) {
		return &NameError{false, fmt.Sprintf("the name %q: want letters and signs without spaces and slashes, at most 100", name)}
	}
	return nil
}

// Create makes a key and gives its text, which is not kept.
func (d *Desk) Create(ctx context.Context, name string, c Change) (k fleet.Key, secret string, err error) {
	if err := named(name); err != nil {
		return k, "", err
	}
	k = fleet.Key{ID: d.NewID(), Name: name, Created: d.Now()}
	if err := d.change(ctx, &k, c); err != nil {
		return k, "", err
	}
	secret = d.NewKey()
	return k, secret, d.taken(name, d.Books.CreateKey(ctx, d.By, k, sha256.Sum256([]byte(secret))))
}

func (d *Desk) taken(name string, err error) error {
	if errors.Is(err, fleet.ErrTaken) {
		return &NameError{false, fmt.Sprintf("the name %q is taken: choose another one", name)}
	}
	return err
}

// Set changes a key.
func (d *Desk) Set(ctx context.Context, name string, c Change) (*fleet.Key, error) {
	k, err := d.Key(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := d.change(ctx, k, c); err != nil {
		return nil, err
	}
	return k, d.Books.SetKey(ctx, d.By, *k, d.Now())
}

// Rotate gives a key another text; the old one is good for a while.
func (d *Desk) Rotate(ctx context.Context, name string, grace time.Duration) (secret string, err error) {
	k, err := d.Key(ctx, name)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(k.ID, fleet.PersonID) {
		return "", &bad{fmt.Errorf("%s logs in at the issuer of [oidc] and has no key: bx keys disable %s shuts the person out", k.Name, k.Name)}
	}
	secret, now := d.NewKey(), d.Now()
	return secret, d.Books.Rotate(ctx, d.By, k.ID, sha256.Sum256([]byte(secret)), now.Add(max(grace, time.Microsecond)), now)
}

// Delete deletes a key, and with purge what is kept of its conversations. What it
// has spent stays in the ledger.
func (d *Desk) Delete(ctx context.Context, name string, purge bool) error {
	k, err := d.Key(ctx, name)
	if err != nil {
		return err
	}
	if err := d.Books.DeleteKey(ctx, d.By, k.ID, d.Now()); err != nil || !purge || d.State == nil {
		return err
	}
	return d.State.Forget(ctx, k.ID)
}

// CreateTeam makes a team.
func (d *Desk) CreateTeam(ctx context.Context, name string, c Change) (t fleet.Team, err error) {
	if err := named(name); err != nil {
		return t, err
	}
	t = fleet.Team{ID: d.NewID(), Name: name, Created: d.Now()}
	if t.Limits, err = c.limits(t.Limits); err != nil {
		return t, err
	}
	return t, d.taken(name, d.Books.CreateTeam(ctx, d.By, t))
}

// SetTeam changes a team.
func (d *Desk) SetTeam(ctx context.Context, name string, c Change) (*fleet.Team, error) {
	t, err := d.team(ctx, name)
	if err != nil {
		return nil, err
	}
	if t.Limits, err = c.limits(t.Limits); err != nil {
		return nil, err
	}
	return t, d.Books.SetTeam(ctx, d.By, t.ID, t.Limits, d.Now())
}

// DeleteTeam deletes a team without keys.
func (d *Desk) DeleteTeam(ctx context.Context, name string) error {
	t, err := d.team(ctx, name)
	if err != nil {
		return err
	}
	return d.Books.DeleteTeam(ctx, d.By, t.ID, d.Now())
}

// Set reads amounts by times, "day=5,month=100", into a budget.
func Set(b fleet.Budget, unit, text string) error {
	for word := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(word), "=")
		p := fleet.Per(name)
		if !found || !slices.Contains(fleet.Pers, p) {
			return fmt.Errorf("%q: want minute=N, day=N or month=N", word)
		}
		a, err := b[p], error(nil)
		switch unit {
		case "money":
			var m price.Money
			err = m.UnmarshalText([]byte(value))
			a.Money = m
		case "tokens":
			a.Tokens, err = strconv.ParseInt(value, 10, 64)
		default:
			a.Requests, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return fmt.Errorf("%q: want a number behind %s=", word, p)
		}
		b[p] = a
	}
	return nil
}

// Words are limits for people: "5 money/day, 60 requests/minute, 4 at once, claude-*".
func Words(l fleet.Limits) string {
	var out []string
	for _, p := range fleet.Pers {
		a := l.Budget[p]
		if a.Money > 0 {
			out = append(out, a.Money.String()+" money/"+string(p))
		}
		if a.Tokens > 0 {
			out = append(out, fmt.Sprintf("%d tokens/%s", a.Tokens, p))
		}
		if a.Requests > 0 {
			out = append(out, fmt.Sprintf("%d requests/%s", a.Requests, p))
		}
	}
	if l.Parallel > 0 {
		out = append(out, fmt.Sprintf("%d at once", l.Parallel))
	}
	return strings.Join(append(out, l.Models...), ", ")
}
