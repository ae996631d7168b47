// Package fleet defines what the replicas of a gateway share, as two interfaces.
// State may be lost: rates, running requests, conversations, and pauses that servers
// asked for. The Ledger may not: keys, teams, budgets, reservations, spending, and
// the audit. Packages fleet/cache and fleet/database implement them.
package fleet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/price"
)

// ErrUnknown is returned for a key, a team or a reservation that does not exist.
var ErrUnknown = errors.New("not in the ledger")

// ErrTaken is returned for a name that another key or team already has.
var ErrTaken = errors.New("the name is taken")

// ErrInUse is returned when a team that still has keys is to be deleted.
var ErrInUse = errors.New("keys belong to it")

// Per is the window that an amount applies to: a minute, a day or a month, in UTC.
type Per string

// The windows, from the shortest to the longest.
const (
	Minute Per = "minute"
	Day    Per = "day"
	Month  Per = "month"
)

// Pers lists the windows, shortest first.
var Pers = []Per{Minute, Day, Month}

// Start returns the start of the window that contains at.
func (p Per) Start(at time.Time) time.Time {
	at = at.UTC()
	switch p {
	case Minute:
		return at.Truncate(time.Minute)
	case Day:
		return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	}
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// End returns the end of the window that contains at.
func (p Per) End(at time.Time) time.Time {
	start := p.Start(at)
	switch p {
	case Minute:
		return start.Add(time.Minute)
	case Day:
		return start.AddDate(0, 0, 1)
	}
	return start.AddDate(0, 1, 0)
}

// Amount is what was used in a window, or may be. In a Budget, 0 means no limit.
type Amount struct {
	Requests int64       `json:"requests,omitempty"`
	Tokens   int64       `json:"tokens,omitempty"`
	Money    price.Money `json:"money,omitempty"`
}

// Budget limits what may be used in each window. Requests per minute are a rate, which
// State counts; the Ledger decides everything else.
type Budget map[Per]Amount

// Kept reports whether the budget has a limit that the Ledger decides.
func (b Budget) Kept() bool {
	for p, a := range b {
		if a.Tokens > 0 || a.Money > 0 || a.Requests > 0 && p != Minute {
			return true
		}
	}
	return false
}

// Money reports whether the budget limits money.
func (b Budget) Money() bool {
	for _, a := range b {
		if a.Money > 0 {
			return true
		}
	}
	return false
}

// Tokens reports whether the budget limits tokens or money, and so the length of a reply.
func (b Budget) Tokens() bool {
	for _, a := range b {
		if a.Tokens > 0 || a.Money > 0 {
			return true
		}
	}
	return false
}

// Limits are what a key or a team may do.
type Limits struct {
	Models   []string `json:"models,omitempty"` // names or globs; empty: any model
	Parallel int      `json:"parallel,omitempty"`
	Budget   Budget   `json:"budget,omitempty"`
}

// Allows reports whether the limits permit a model.
func (l Limits) Allows(model string) bool {
	return len(l.Models) == 0 || slices.ContainsFunc(l.Models, func(glob string) bool {
		flat := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "\x00") }
		ok, _ := path.Match(flat(glob), flat(model))
		return ok
	})
}

// Check returns an error for limits that are not valid.
func (l Limits) Check() error {
	if l.Parallel < 0 {
		return fmt.Errorf("parallel = %d: want 0 or more", l.Parallel)
	}
	for _, m := range l.Models {
		if _, err := path.Match(m, ""); err != nil || m == "" {
			return fmt.Errorf("model %q: want a name or a glob such as claude-*", m)
		}
	}
	for p, a := range l.Budget {
		if !slices.Contains(Pers, p) {
			return fmt.Errorf("budget of %q: want minute, day or month", p)
		}
		if a.Requests < 0 || a.Tokens < 0 || a.Money < 0 {
			return fmt.Errorf("budget of a %s: want 0 or more", p)
		}
	}
	return nil
}

// Team is a group of keys that share limits.
type Team struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Limits
}

// Key describes an API key. The key itself is never stored, only its hash.
type Key struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Team     *Team     `json:"team,omitempty"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"` // zero: never
	Disabled bool      `json:"disabled,omitempty"`
	Limits
}

// Why returns why the key is not valid at a time, "" if it is.
func (k *Key) Why(now time.Time) string {
	switch {
	case k.Disabled:
		return "disabled"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return "expired"
	}
	return ""
}

// Allows reports whether the limits of the key and of its team permit a model.
func (k *Key) Allows(model string) bool {
	return k.Limits.Allows(model) && (k.Team == nil || k.Team.Limits.Allows(model))
}

// PersonID is the prefix of the ids of keys that stand for persons, who come with an
// issuer's token instead of a key.
const PersonID = "oidc-"

// Kept reports whether the Ledger decides on requests of the key.
func (k *Key) Kept() bool { return k.Budget.Kept() || k.Team != nil && k.Team.Budget.Kept() }

// Pays reports whether the key or its team has a budget of money.
func (k *Key) Pays() bool { return k.Budget.Money() || k.Team != nil && k.Team.Budget.Money() }

// Tokens reports whether the key or its team has a budget of tokens or money.
func (k *Key) Tokens() bool { return k.Budget.Tokens() || k.Team != nil && k.Team.Budget.Tokens() }

// Subject is the owner of a budget: a key or a team.
type Subject struct {
	ID     string
	Kind   string // "key" or "team"
	Name   string
	Limits Limits
}

// Subjects returns the key and, if it has one, its team.
func (k *Key) Subjects() []Subject {
	out := []Subject{{k.ID, "key", k.Name, k.Limits}}
	if k.Team != nil {
		out = append(out, Subject{k.Team.ID, "team", k.Team.Name, k.Team.Limits})
	}
	return out
}

// Hash is the SHA-256 of a key, under which it is looked up.
type Hash = [sha256.Size]byte

// NoPrice stands for the date of a price where a model has none: the cost of the
// request is not known, and its money is 0.
const NoPrice = "unknown"

// Reservation is the most that a request can cost, set aside before it goes to a
// backend.
type Reservation struct {
	ID      string // unique
	Key     *Key
	Replica string // it is charged in full once this replica's lease ends
	Request string // the id of the client's request
	Backend string
	Model   string
	Dated   string // the date of the price, or NoPrice
	At      time.Time
	Most    Amount
}

// Ending is how a reservation ended.
type Ending string

// The endings. An Open reservation has not ended.
const (
	Open      Ending = "open"
	Settled   Ending = "settled"   // by the provider's count
	Estimated Ending = "estimated" // from the reply: the provider sent no count
	Refused   Ending = "refused"   // the request was not served and costs nothing
	Unsettled Ending = "unsettled" // its replica is gone; it is charged in full until it is settled
)

// Settlement ends a reservation.
type Settlement struct {
	ID     string
	Ending Ending
	Usage  utp.Usage
	Amount Amount // the cost
	At     time.Time
}

// Line is a request that is booked after it ended, without a reservation.
type Line struct {
	Reservation
	Settlement
}

// Outcome is the result of a settlement.
type Outcome struct {
	Late bool // the reservation had already been charged in full
	Over bool // the request cost more than was reserved
}

// Spent is what a subject has used and reserved in a window.
type Spent struct {
	Subject  Subject   `json:"-"`
	Per      Per       `json:"per"`
	Start    time.Time `json:"start"`
	Limit    Amount    `json:"limit"`
	Settled  Amount    `json:"settled"`
	Reserved Amount    `json:"reserved"`
}

// Left returns what is left of the limit, never below 0. Where there is no limit it is 0.
func (s Spent) Left() Amount {
	left := func(limit, used int64) int64 { return max(0, limit-used) }
	return Amount{left(s.Limit.Requests, s.Settled.Requests+s.Reserved.Requests), left(s.Limit.Tokens, s.Settled.Tokens+s.Reserved.Tokens),
		price.Money(left(int64(s.Limit.Money), int64(s.Settled.Money+s.Reserved.Money)))}
}

// Over is the error for a reservation that exceeds a budget.
type Over struct {
	Spent        // the window that it exceeds
	Unit  string // "requests", "tokens" or "money"
	Want  Amount
}

// Passing reports whether the request would fit without what others have reserved: they
// may cost less, so it is worth another try.
func (o *Over) Passing() bool {
	s := o.Spent
	s.Reserved = Amount{}
	return s.Broken(o.Want) == ""
}

// Error says which budget is exceeded, and by what.
func (o *Over) Error() string {
	limit, used, open := fmt.Sprint(o.Limit.Requests), fmt.Sprint(o.Settled.Requests), fmt.Sprint(o.Reserved.Requests)
	want, less := fmt.Sprint(o.Want.Requests), "; a lower limit on its reply reduces that"
	switch o.Unit {
	case "requests":
		less = ""
	case "tokens":
		limit, used, open, want = fmt.Sprint(o.Limit.Tokens), fmt.Sprint(o.Settled.Tokens), fmt.Sprint(o.Reserved.Tokens), fmt.Sprint(o.Want.Tokens)
	case "money":
		limit, used, open, want = o.Limit.Money.String(), o.Settled.Money.String(), o.Reserved.Money.String(), o.Want.Money.String()
	}
	return fmt.Sprintf("the budget of this %s for the %s is %s %s: %s are used, %s reserved, and this request may take %s%s", o.Subject.Kind, o.Per, limit, o.Unit, used, open, want, less)
}

// Broken returns the unit whose limit the window would exceed with want added, "" if
// none.
func (s Spent) Broken(want Amount) string {
	breaks := func(limit, settled, reserved, want int64) bool { return limit > 0 && want > limit-settled-reserved } // a sum with want could overflow
	switch {
	case s.Per != Minute && breaks(s.Limit.Requests, s.Settled.Requests, s.Reserved.Requests, want.Requests):
		return "requests"
	case breaks(s.Limit.Tokens, s.Settled.Tokens, s.Reserved.Tokens, want.Tokens):
		return "tokens"
	case breaks(int64(s.Limit.Money), int64(s.Settled.Money), int64(s.Reserved.Money), int64(want.Money)):
		return "money"
	}
	return ""
}

// Entry is a line of the ledger: a request to a backend, and what it cost.
type Entry struct {
	ID      string    `json:"id"`
	KeyID   string    `json:"key_id"`
	Key     string    `json:"key"`
	Team    string    `json:"team,omitempty"`
	Request string    `json:"request"`
	Backend string    `json:"backend"`
	Model   string    `json:"model"`
	Dated   string    `json:"price_dated,omitempty"`
	At      time.Time `json:"at"`
	Ended   time.Time `json:"ended,omitzero"`
	Ending  Ending    `json:"ending"`
	Late    bool      `json:"late,omitempty"` // it had been charged in full before
	Usage   utp.Usage `json:"usage,omitzero"`
	Most    Amount    `json:"most"`
	Amount  Amount    `json:"amount"`
}

// Query selects entries; zero fields select all.
type Query struct {
	KeyID   string
	Key     string // the name of the key at the time
	Team    string // the id or the name of the team
	Model   string // the name sent to the backend, or a glob such as "claude-*"
	Since   time.Time
	Before  time.Time
	Endings []Ending
	Limit   int // 0: all
}

// By is a property that entries are grouped by.
type By string

// The properties that entries can be grouped by. Days and months are in UTC.
const (
	ByKey     By = "key"
	ByTeam    By = "team"
	ByModel   By = "model"
	ByBackend By = "backend"
	ByDay     By = "day"
	ByMonth   By = "month"
	ByEnding  By = "ending"
)

// Bys lists the properties.
var Bys = []By{ByKey, ByTeam, ByModel, ByBackend, ByDay, ByMonth, ByEnding}

// Sum is the total of a group of entries.
type Sum struct {
	Of       []string // the values that the group shares, one for each By
	Requests int64    // all entries, whatever their ending
	Usage    utp.Usage
	Amount   Amount // what they cost
	Reserved Amount // by those still open
}

// Act is an entry of the audit log.
type Act struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	What string    `json:"what"`
	On   string    `json:"on"`            // the id of the key or the team
	How  string    `json:"how,omitempty"` // the limits that were set
}

// Ledger keeps what must not be lost. *Over and ErrUnknown are answers; any other error
// means that it could not answer.
type Ledger interface {
	// Key returns the key with this hash, with its team, or ErrUnknown.
	Key(ctx context.Context, hash Hash) (*Key, error)
	// Reserve sets an amount aside in all windows of the key and its team and returns
	// them. If one has no room it reserves nothing and returns an *Over.
	Reserve(ctx context.Context, r Reservation) ([]Spent, error)
	// Settle ends a reservation. The first settlement of an id counts, except that any
	// other replaces Unsettled.
	Settle(ctx context.Context, s Settlement) (Outcome, error)
	// Record books requests of keys without a budget, for which nothing was reserved.
	Record(ctx context.Context, lines []Line) error
	// Windows returns the current windows of the key and its team.
	Windows(ctx context.Context, k *Key, now time.Time) ([]Spent, error)
	// Lease extends a replica's lease until a time.
	Lease(ctx context.Context, replica string, until time.Time) error
	// Sweep charges in full the open reservations of replicas whose lease has expired,
	// and returns how many there were.
	Sweep(ctx context.Context, now time.Time) (charged int, err error)

	Books
}

// Books is the part of the Ledger for its administrators. by names the administrator in
// the audit log.
type Books interface {
	CreateTeam(ctx context.Context, by string, t Team) error
	Teams(ctx context.Context) ([]Team, error)
	// SetTeam and SetKey change the current team or key, so that no concurrent change is
	// lost. set may be called more than once and must not use the Ledger.
	SetTeam(ctx context.Context, by, id string, set func(*Limits) error, now time.Time) error
	DeleteTeam(ctx context.Context, by, id string, now time.Time) error
	// CreateKey and SetKey return ErrUnknown if the key's team no longer exists.
	CreateKey(ctx context.Context, by string, k Key, hash Hash) error
	// Keys returns the keys with these names or ids, or all if called is empty.
	Keys(ctx context.Context, called ...string) ([]Key, error)
	SetKey(ctx context.Context, by, id string, set func(*Key) error, now time.Time) error
	// Rotate sets a new hash for a key; the one before stays valid until old.
	Rotate(ctx context.Context, by, id string, hash Hash, old, now time.Time) error
	DeleteKey(ctx context.Context, by, id string, now time.Time) error
	Entries(ctx context.Context, q Query, each func(Entry) error) error
	// Sums groups the entries and calls each with the total of every group, sorted by Of.
	Sums(ctx context.Context, q Query, by []By, each func(Sum) error) error
	Audit(ctx context.Context, each func(Act) error) error
}

// Rate limits a client's requests and tokens per minute and its concurrent requests; 0
// means no limit.
type Rate struct {
	Owner    string // the id of a key or a team
	Requests int64
	Tokens   int64
	Parallel int
}

// Visit is a request that asks to be admitted.
type Visit struct {
	ID    string    // of the request
	Rates []Rate    // all of them must let it in
	Until time.Time // if not renewed by then, it counts as ended
}

// Pass is the answer to a visit.
type Pass struct {
	Refused string        // "requests", "tokens" or "parallel"; "": admitted
	Owner   string        // of the rate that refused it
	Wait    time.Duration // before another try is worthwhile
	Left    []int64       // requests left, one for each rate; -1: no limit
}

// Item is a value that State keeps for a while.
type Item struct {
	Owner string // the id of the key that it belongs to
	Key   string
	Value []byte
}

// State keeps what may be lost.
type State interface {
	// Enter admits a request if all its rates allow it, in one round trip.
	Enter(ctx context.Context, v Visit, now time.Time) (Pass, error)
	// Leave ends a visit and charges the tokens that it used.
	Leave(ctx context.Context, v Visit, tokens int64, now time.Time) error
	// Renew extends running visits.
	Renew(ctx context.Context, visits []Visit, now time.Time) error
	// Get returns the values of keys, in their order, nil for a missing one, in one
	// round trip. Reading a value keeps it for another Keep.
	Get(ctx context.Context, owner string, keys []string, now time.Time) ([][]byte, error)
	Put(ctx context.Context, items []Item, now time.Time) error
	// Forget drops all that is kept for an owner.
	Forget(ctx context.Context, owner string) error
	// Cool records that a target takes no requests before a time; Cooling returns all
	// such targets.
	Cool(ctx context.Context, target string, until, now time.Time) error
	Cooling(ctx context.Context, now time.Time) (map[string]time.Time, error)
	// Ping returns an error if State does not answer.
	Ping(ctx context.Context) error
}

// Keep is how long an item is kept after it was last used.
const Keep = 24 * time.Hour
