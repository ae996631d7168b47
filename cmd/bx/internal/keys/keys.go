// Package keys administers the keys, teams and budgets of a ledger, for bx keys and, with
// the operator's key, over HTTP.
package keys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// Desk administers a ledger.
type Desk struct {
	Books  fleet.Ledger
	State  fleet.State   // holds what is kept for keys; nil: nothing is kept
	NewID  func() string // of keys and teams
	NewKey func() string // the text of a key
	Now    func() time.Time
	By     string       // the administrator, for the audit log
	Log    *slog.Logger // of requests over HTTP; nil: no log
}

// Change is a change to a key or a team. Nil fields stay as they are.
type Change struct {
	Team     *string      `json:"team"` // the name; "" takes the key out of its team
	Models   *[]string    `json:"models"`
	Parallel *int         `json:"parallel"`
	Budget   fleet.Budget `json:"budget"`  // only the windows named; an amount of zeros removes the limit
	Expires  *time.Time   `json:"expires"` // the zero time: never
	Disabled *bool        `json:"disabled"`

	// Amounts sets single amounts by their unit and leaves the others: "money": "day=5,month=100".
	Amounts map[string]string `json:"-"`
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
	for _, unit := range slices.Sorted(maps.Keys(c.Amounts)) {
		if l.Budget == nil {
			l.Budget = fleet.Budget{}
		}
		if err := set(l.Budget, unit, c.Amounts[unit]); err != nil {
			return l, &InputError{fmt.Errorf("%s: %w", unit, err)}
		}
	}
	if err := l.Check(); err != nil {
		return l, &InputError{err}
	}
	return l, nil
}

// joined returns the team that a change names, nil if it names none.
func (d *Desk) joined(ctx context.Context, c Change) (*fleet.Team, error) {
	if c.Team == nil || *c.Team == "" {
		return nil, nil
	}
	return d.Team(ctx, *c.Team)
}

// of applies the change to a key. team is the one that joined returned.
func (c Change) of(k *fleet.Key, team *fleet.Team) (err error) {
	if k.Limits, err = c.limits(k.Limits); err != nil {
		return err
	}
	if c.Team != nil {
		k.Team = team
	}
	if c.Expires != nil {
		k.Expires = *c.Expires
	}
	if c.Disabled != nil {
		k.Disabled = *c.Disabled
	}
	return nil
}

// InputError is the error for input that is not valid or cannot be carried out.
type InputError struct{ error }

func (e *InputError) Unwrap() error { return e.error }

// NameError is the error for a name that is unknown, taken or not valid.
type NameError struct {
	Unknown bool // no key or team has it
	Clash   bool // it is taken, or what has it is still in use
	what    string
}

func (e *NameError) Error() string { return e.what }

// Key returns the key with a name or an id.
func (d *Desk) Key(ctx context.Context, name string) (*fleet.Key, error) {
	found, err := d.Books.Keys(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, k := range found {
		if k.Name == name || len(found) == 1 { // a name may be another's id
			return &k, nil
		}
	}
	return nil, &NameError{Unknown: true, what: fmt.Sprintf("there is no key %q: bx keys list shows them", name)}
}

// Team returns the team with a name or an id.
func (d *Desk) Team(ctx context.Context, name string) (*fleet.Team, error) {
	all, err := d.Books.Teams(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Name == name || t.ID == name {
			return &t, nil
		}
	}
	return nil, &NameError{Unknown: true, what: fmt.Sprintf("there is no team %q: bx keys team list shows them", name)}
}

// named returns an error for a name that is not fit for a path or a line of a log.
func named(name string) error {
	odd := func(c rune) bool { return c == '/' || unicode.IsSpace(c) || !unicode.IsGraphic(c) }
	if name == "" || name == "." || name == ".." || len(name) > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return &NameError{what: fmt.Sprintf("the name %q: want letters and signs that can be seen, without spaces and slashes, at most 100 bytes", name)}
	}
	return nil
}

// Create creates a key and returns its text, which is not kept.
func (d *Desk) Create(ctx context.Context, name string, c Change) (k fleet.Key, secret string, err error) {
	if err := named(name); err != nil {
		return k, "", err
	}
	k = fleet.Key{ID: d.NewID(), Name: name, Created: d.Now()}
	team, err := d.joined(ctx, c)
	if err == nil {
		err = c.of(&k, team)
	}
	if err != nil {
		return k, "", err
	}
	secret = d.NewKey()
	return k, secret, told(name, d.Books.CreateKey(ctx, d.By, k, sha256.Sum256([]byte(secret))))
}

// told returns an error of the Ledger in words for people.
func told(name string, err error) error {
	switch {
	case errors.Is(err, fleet.ErrTaken):
		return &NameError{Clash: true, what: fmt.Sprintf("the name %q is taken: choose another one", name)}
	case errors.Is(err, fleet.ErrUnknown):
		return &NameError{Unknown: true, what: fmt.Sprintf("%q, or its team, was deleted a moment ago", name)}
	}
	return err
}

// Set changes a key.
func (d *Desk) Set(ctx context.Context, name string, c Change) (*fleet.Key, error) {
	k, err := d.Key(ctx, name)
	if err != nil {
		return nil, err
	}
	team, err := d.joined(ctx, c)
	if err != nil {
		return nil, err
	}
	err = d.Books.SetKey(ctx, d.By, k.ID, func(now *fleet.Key) error {
		k = now
		return c.of(now, team)
	}, d.Now())
	return k, told(name, err)
}

// Grace reads how long the old text of a key stays valid: "24h", "30d"; "" is 0.
func Grace(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	const day = 24 * time.Hour
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, failed := strconv.ParseUint(days, 10, 16)
		d, err = time.Duration(n)*day, failed
	}
	if err != nil || d < 0 {
		return 0, &InputError{fmt.Errorf("grace %q: want a time such as 24h or 30d", text)}
	}
	return d, nil
}

// Rotate returns a new text for a key. The old one stays valid for grace.
func (d *Desk) Rotate(ctx context.Context, name string, grace time.Duration) (secret string, err error) {
	k, err := d.Key(ctx, name)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(k.ID, fleet.PersonID) {
		return "", &InputError{fmt.Errorf("%s logs in at the issuer of [oidc] and has no key: bx keys disable %s shuts the person out", k.Name, k.Name)}
	}
	secret, now := d.NewKey(), d.Now()
	return secret, told(name, d.Books.Rotate(ctx, d.By, k.ID, sha256.Sum256([]byte(secret)), now.Add(max(grace, time.Microsecond)), now))
}

// Delete deletes a key and, with purge, what is kept of its conversations. What it has
// spent stays in the ledger. If purge fails the key stays, as without it nothing could
// be purged later.
func (d *Desk) Delete(ctx context.Context, name string, purge bool) error {
	k, err := d.Key(ctx, name)
	if err != nil {
		return err
	}
	if purge {
		if d.State == nil {
			return &InputError{fmt.Errorf("what is kept of the conversations of %s is in the memory of bx serve and goes when it ends: delete the key without purge", k.Name)}
		}
		if err := d.State.Forget(ctx, k.ID); err != nil {
			return fmt.Errorf("nothing is deleted, as what is kept of conversations ([state]) does not answer: %w", err)
		}
	}
	if err := d.Books.DeleteKey(ctx, d.By, k.ID, d.Now()); err != nil || !purge {
		return told(name, err)
	}
	if err := d.State.Forget(ctx, k.ID); err != nil { // what was kept meanwhile
		return fmt.Errorf("%s is deleted, but what it kept a moment ago stays for a day: %w", k.Name, err)
	}
	return nil
}

// CreateTeam creates a team.
func (d *Desk) CreateTeam(ctx context.Context, name string, c Change) (t fleet.Team, err error) {
	if err := named(name); err != nil {
		return t, err
	}
	t = fleet.Team{ID: d.NewID(), Name: name, Created: d.Now()}
	if t.Limits, err = c.limits(t.Limits); err != nil {
		return t, err
	}
	return t, told(name, d.Books.CreateTeam(ctx, d.By, t))
}

// SetTeam changes a team.
func (d *Desk) SetTeam(ctx context.Context, name string, c Change) (fleet.Team, error) {
	t, err := d.Team(ctx, name)
	if err != nil {
		return fleet.Team{}, err
	}
	err = d.Books.SetTeam(ctx, d.By, t.ID, func(l *fleet.Limits) (err error) {
		*l, err = c.limits(*l)
		t.Limits = *l
		return err
	}, d.Now())
	return *t, told(name, err)
}

// maxNamed is how many keys an error names at most.
const maxNamed = 10

// DeleteTeam deletes a team without keys.
func (d *Desk) DeleteTeam(ctx context.Context, name string) error {
	t, err := d.Team(ctx, name)
	if err != nil {
		return err
	}
	err = d.Books.DeleteTeam(ctx, d.By, t.ID, d.Now())
	if !errors.Is(err, fleet.ErrInUse) {
		return told(name, err)
	}
	all, err := d.Books.Keys(ctx)
	if err != nil {
		return err
	}
	var of []string
	for _, k := range all {
		if k.Team != nil && k.Team.ID == t.ID {
			of = append(of, k.Name)
		}
	}
	if n := len(of) - maxNamed; n > 1 {
		of = append(of[:maxNamed], fmt.Sprintf("%d more", n))
	}
	return &NameError{Clash: true, what: fmt.Sprintf("the team %q has keys (%s): delete them, or take them out of it with bx keys limit KEY --team \"\"", t.Name, strings.Join(of, ", "))}
}

// set reads amounts by window, "day=5,month=100", into a budget.
func set(b fleet.Budget, unit, text string) error {
	var seen []fleet.Per
	for word := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(word), "=")
		p := fleet.Per(name)
		if !found || !slices.Contains(fleet.Pers, p) {
			return fmt.Errorf("%q: want minute=N, day=N or month=N", word)
		}
		if slices.Contains(seen, p) {
			return fmt.Errorf("%q: there is a %s before it", word, p)
		}
		seen = append(seen, p)
		a, err := b[p], error(nil)
		switch unit {
		case "money":
			if err := a.Money.UnmarshalText([]byte(value)); err != nil {
				return fmt.Errorf("%q: %w", word, err)
			}
		case "tokens":
			a.Tokens, err = strconv.ParseInt(value, 10, 64)
		default:
			a.Requests, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return fmt.Errorf("%q: want a whole number after %s=", word, p)
		}
		if b[p] = a; a == (fleet.Amount{}) {
			delete(b, p)
		}
	}
	return nil
}

// Words returns limits for people: "5 money/day, 60 requests/minute, 4 at once, claude-*".
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
