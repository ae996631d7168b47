// Package fleet says what the replicas of a gateway share, behind two interfaces.
// State may be lost: rates, running requests, conversations, pauses that a server
// has asked for. The Ledger may not: keys, teams, budgets, what was reserved and
// spent, and who changed what. Packages fleet/database and fleet/cache keep them.
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

// ErrUnknown is a key, a team or a reservation that is not there.
var ErrUnknown = errors.New("not in the ledger")

// ErrTaken is a name that another key or team has.
var ErrTaken = errors.New("the name is taken")

// ErrInUse is a team that has keys, and so is not deleted.
var ErrInUse = errors.New("keys belong to it")

// Per says in which time an amount may be used: a minute, a day or a month of UTC.
type Per string

// The times, from the shortest to the longest.
const (
	Minute Per = "minute"
	Day    Per = "day"
	Month  Per = "month"
)

// Pers lists them.
var Pers = []Per{Minute, Day, Month}

// Start is when the window began in which a time lies, and End when it ends.
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

// End is when the window ends in which a time lies.
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

// Amount is what a window holds, or may hold. In a Budget 0 is no limit.
type Amount struct {
	Requests int64       `json:"requests,omitempty"`
	Tokens   int64       `json:"tokens,omitempty"`
	Money    price.Money `json:"money,omitempty"`
}

// Budget is what may be used in each window. Requests of a minute are a rate, which
// State counts; all else is decided by the Ledger.
type Budget map[Per]Amount

// Kept reports whether the Ledger has to decide.
func (b Budget) Kept() bool {
	for p, a := range b {
		if a.Tokens > 0 || a.Money > 0 || a.Requests > 0 && p != Minute {
			return true
		}
	}
	return false
}

// Money reports whether money is bounded.
func (b Budget) Money() bool {
	for _, a := range b {
		if a.Money > 0 {
			return true
		}
	}
	return false
}

// Tokens reports whether tokens or money are bounded, and so the length of a reply is.
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
	Models   []string `json:"models,omitempty"` // names or globs; none is any
	Parallel int      `json:"parallel,omitempty"`
	Budget   Budget   `json:"budget,omitempty"`
}

// Allows reports whether a model may be asked for.
func (l Limits) Allows(model string) bool {
	return len(l.Models) == 0 || slices.ContainsFunc(l.Models, func(glob string) bool {
		flat := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "\x00") }
		ok, _ := path.Match(flat(glob), flat(model))
		return ok
	})
}

// Check refuses limits that are none.
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

// Team is keys with limits that they share.
type Team struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Limits
}

// Key is who may ask. The key itself is nowhere kept, only its hash.
type Key struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Team     *Team     `json:"team,omitempty"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero"` // zero: never
	Disabled bool      `json:"disabled,omitempty"`
	Limits
}

// Why says why the key is not good at a time; "" if it is.
func (k *Key) Why(now time.Time) string {
	switch {
	case k.Disabled:
		return "disabled"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return "expired"
	}
	return ""
}

// Allows reports whether the key and its team may ask for a model.
func (k *Key) Allows(model string) bool {
	return k.Limits.Allows(model) && (k.Team == nil || k.Team.Limits.Allows(model))
}

// PersonID is how the ids of keys begin that nobody holds: they are persons, whose
// tokens an issuer signs.
const PersonID = "oidc-"

// Kept reports whether the Ledger decides about requests of the key.
func (k *Key) Kept() bool { return k.Budget.Kept() || k.Team != nil && k.Team.Budget.Kept() }

// Pays reports whether money is bounded for the key.
func (k *Key) Pays() bool { return k.Budget.Money() || k.Team != nil && k.Team.Budget.Money() }

// Tokens reports whether tokens or money are bounded for the key.
func (k *Key) Tokens() bool { return k.Budget.Tokens() || k.Team != nil && k.Team.Budget.Tokens() }

// Subject is who has a budget: a key or a team, by id.
type Subject struct {
	ID     string
	Kind   string // "key" or "team"
	Name   string
	Limits Limits
}

// Subjects are the key and its team.
func (k *Key) Subjects() []Subject {
	out := []Subject{{k.ID, "key", k.Name, k.Limits}}
	if k.Team != nil {
		out = append(out, Subject{k.Team.ID, "team", k.Team.Name, k.Team.Limits})
	}
	return out
}

// Hash is the SHA-256 of a key, by which it is found.
type Hash = [sha256.Size]byte

// NoPrice is in place of the day of a price where a model has none: what a request came
// to is not known, and its money is 0.
const NoPrice = "unknown"

// Reservation is set aside before a request goes to a backend: the most that it can
// cost.
type Reservation struct {
	ID      string // its own, never used before
	Key     *Key
	Replica string // whose lease it lives by
	Request string // the id of the client's request
	Backend string
	Model   string
	Dated   string // of the price, or NoPrice
	At      time.Time
	Most    Amount
}

// Ending is how a reservation ended.
type Ending string

// The endings. A reservation that is Open has not ended.
const (
	Open      Ending = "open"
	Settled   Ending = "settled"   // by the provider's count
	Estimated Ending = "estimated" // by what was seen: the provider gave no count
	Refused   Ending = "refused"   // it was not served, and costs nothing
	Unsettled Ending = "unsettled" // its replica is gone; it is charged in full until it is settled
)

// Settlement ends a reservation.
type Settlement struct {
	ID     string
	Ending Ending
	Usage  utp.Usage
	Amount Amount // what it comes to
	At     time.Time
}

// Line is a request that is booked when it is over.
type Line struct {
	Reservation
	Settlement
}

// Outcome is what a settlement led to.
type Outcome struct {
	Late bool // it had been charged in full before
	Over bool // it came to more than was reserved
}

// Spent is the state of a window of a subject.
type Spent struct {
	Subject  Subject   `json:"-"`
	Per      Per       `json:"per"`
	Start    time.Time `json:"start"`
	Limit    Amount    `json:"limit"`
	Settled  Amount    `json:"settled"`
	Reserved Amount    `json:"reserved"`
}

// Left is what is left of a limit; a limit of 0 is none, and what is used above it
// leaves nothing.
func (s Spent) Left() Amount {
	left := func(limit, used int64) int64 { return max(0, limit-used) }
	return Amount{left(s.Limit.Requests, s.Settled.Requests+s.Reserved.Requests), left(s.Limit.Tokens, s.Settled.Tokens+s.Reserved.Tokens),
		price.Money(left(int64(s.Limit.Money), int64(s.Settled.Money+s.Reserved.Money)))}
}

// Over is a reservation that a budget does not allow.
type Over struct {
	Spent        // the window
	Unit  string // "requests", "tokens" or "money"
	Want  Amount
}

// Passing reports that the budget is not used up: what others have reserved may come to
// less, and then there is room.
func (o *Over) Passing() bool {
	s := o.Spent
	s.Reserved = Amount{}
	return s.Broken(o.Want) == ""
}

// Error says which budget it is.
func (o *Over) Error() string {
	limit, used, open := fmt.Sprint(o.Limit.Requests), fmt.Sprint(o.Settled.Requests), fmt.Sprint(o.Reserved.Requests)
	want, less := fmt.Sprint(o.Want.Requests), "; a lower limit of its reply makes that less"
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

// Broken names the unit of a limit that a window breaks when want is added to it;
// "" if it does not.
func (s Spent) Broken(want Amount) string {
	breaks := func(limit, settled, reserved, want int64) bool { return limit > 0 && want > limit-settled-reserved } // want may be all that a number holds
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
	Late    bool      `json:"late,omitempty"` // it was unsettled before
	Usage   utp.Usage `json:"usage,omitzero"`
	Most    Amount    `json:"most"`
	Amount  Amount    `json:"amount"`
}

// Query selects entries; zero fields select all.
type Query struct {
	KeyID   string
	Key     string // the name that the key had
	Team    string // the id or the name of the team
	Model   string // as the backend was asked for it, or a glob such as "claude-*"
	Since   time.Time
	Before  time.Time
	Endings []Ending
	Limit   int // 0: all
}

// By is what entries have in common that are added up.
type By string

// What entries can be added up by. Days and months are those of UTC.
const (
	ByKey     By = "key"
	ByTeam    By = "team"
	ByModel   By = "model"
	ByBackend By = "backend"
	ByDay     By = "day"
	ByMonth   By = "month"
	ByEnding  By = "ending"
)

// Bys lists them.
var Bys = []By{ByKey, ByTeam, ByModel, ByBackend, ByDay, ByMonth, ByEnding}

// Sum is what entries come to together.
type Sum struct {
	Of       []string // what they have in common, one for each By
	Requests int64    // how many they are, whatever they came to
	Usage    utp.Usage
	Amount   Amount // what they cost
	Reserved Amount // by those that are open
}

// Act is a line of the audit.
type Act struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	What string    `json:"what"`
	On   string    `json:"on"`            // the id of the key or the team
	How  string    `json:"how,omitempty"` // the limits that were set
}

// Ledger keeps what must not be lost. What it cannot do now is an error; *Over and
// ErrUnknown are answers.
type Ledger interface {
	// Key finds a key by its hash, with its team; ErrUnknown if there is none.
	Key(ctx context.Context, hash Hash) (*Key, error)
	// Reserve sets an amount aside in all windows of the key and its team, or in
	// none: then it is an *Over.
	Reserve(ctx context.Context, r Reservation) ([]Spent, error)
	// Settle ends a reservation. Of several settlements of one id the first counts,
	// but for Unsettled, which any other corrects.
	Settle(ctx context.Context, s Settlement) (Outcome, error)
	// Record books requests that nothing was reserved for, of keys without a budget.
	Record(ctx context.Context, lines []Line) error
	// Windows are those of now, of the key and its team.
	Windows(ctx context.Context, k *Key, now time.Time) ([]Spent, error)
	// Lease says that a replica lives until a time.
	Lease(ctx context.Context, replica string, until time.Time) error
	// Sweep charges in full what is reserved by replicas whose lease is over.
	Sweep(ctx context.Context, now time.Time) (charged int, err error)

	Books
}

// Books are the Ledger for whoever administers it. by is who, for the audit.
type Books interface {
	CreateTeam(ctx context.Context, by string, t Team) error
	Teams(ctx context.Context) ([]Team, error)
	// SetTeam and SetKey change a team or a key as it is now, so that of changes at one
	// time none is lost. set may be called more than once, and asks nothing of the Ledger.
	SetTeam(ctx context.Context, by, id string, set func(*Limits) error, now time.Time) error
	DeleteTeam(ctx context.Context, by, id string, now time.Time) error
	// CreateKey and SetKey are ErrUnknown where the key's team is not there any more.
	CreateKey(ctx context.Context, by string, k Key, hash Hash) error
	// Keys are all, or those whose name or id is one of these.
	Keys(ctx context.Context, called ...string) ([]Key, error)
	SetKey(ctx context.Context, by, id string, set func(*Key) error, now time.Time) error
	// Rotate gives a key another hash; the old one is good until a time.
	Rotate(ctx context.Context, by, id string, hash Hash, old, now time.Time) error
	DeleteKey(ctx context.Context, by, id string, now time.Time) error
	Entries(ctx context.Context, q Query, each func(Entry) error) error
	// Sums adds up the entries that have the same in common, in the order of that.
	Sums(ctx context.Context, q Query, by []By, each func(Sum) error) error
	Audit(ctx context.Context, each func(Act) error) error
}

// Rate is what a client may do in a minute and at once; 0 is no limit.
type Rate struct {
	Owner    string // whose it is: the id of a key or a team
	Requests int64
	Tokens   int64
	Parallel int
}

// Visit is a request that wants in.
type Visit struct {
	ID    string    // of the request
	Rates []Rate    // all of them must let it in
	Until time.Time // a running request that nobody has renewed is over then
}

// Pass is what a visit was told.
type Pass struct {
	Refused string        // "requests", "tokens" or "parallel"; "": it is in
	Owner   string        // by whose rate
	Wait    time.Duration // until there is something again
	Left    []int64       // requests left, one a rate; of one without a limit -1
}

// Item is something kept for a while.
type Item struct {
	Owner string // the id of the key that it belongs to
	Key   string
	Value []byte
}

// State keeps what may be lost.
type State interface {
	// Enter lets a request in if all its rates do, in one round trip.
	Enter(ctx context.Context, v Visit, now time.Time) (Pass, error)
	// Leave ends a visit and takes the tokens that it used.
	Leave(ctx context.Context, v Visit, tokens int64, now time.Time) error
	// Renew says that visits go on.
	Renew(ctx context.Context, visits []Visit, now time.Time) error
	// Get gives what is kept under keys, in their order, nil for what is not, in one
	// round trip. What was got is kept for Keep again.
	Get(ctx context.Context, owner string, keys []string, now time.Time) ([][]byte, error)
	Put(ctx context.Context, items []Item, now time.Time) error
	// Forget drops all that is kept for an owner.
	Forget(ctx context.Context, owner string) error
	// Cool says that a target wants no requests before a time; Cooling lists those.
	Cool(ctx context.Context, target string, until, now time.Time) error
	Cooling(ctx context.Context, now time.Time) (map[string]time.Time, error)
	// Ping reports whether it is there.
	Ping(ctx context.Context) error
}

// Keep is how long an item is kept after it was last used.
const Keep = 24 * time.Hour
