package dash

import (
	"context"
	"errors"
	"time"
)

// Source is what the views are read from.
type Source interface {
	// Overview adds up the replies that a filter lets through.
	Overview(ctx context.Context, f Filter) (*Overview, error)
	// Replies lists n of them from the from-th on, the latest first.
	Replies(ctx context.Context, f Filter, from, n int) (*List, error)
	// Reply gives all that is known of one; its error wraps ErrNone.
	Reply(ctx context.Context, id string) (*Reply, error)
	// Since lists what came behind a place, at most n; "" is now. next is the
	// place behind it.
	Since(ctx context.Context, place string, n int) (rows []Row, next string, err error)
}

// ErrNone is wrapped where there is no such reply.
var ErrNone = errors.New("there is no such reply in the store")

// Filter says which replies count.
type Filter struct {
	Since   time.Time
	Until   time.Time
	Model   string
	Outcome string // good, bad, silent or uncounted
}

// Row is a reply in a list. Times are in microseconds.
type Row struct {
	ID       string   `json:"id"`
	Time     int64    `json:"time"` // Unix, in milliseconds
	By       string   `json:"by"`
	Client   string   `json:"client,omitempty"`
	Model    string   `json:"model"`
	Backend  string   `json:"backend,omitempty"`
	Form     string   `json:"form,omitempty"`
	Dialects []string `json:"dialects,omitempty"` // of the calls, each once
	Names    []string `json:"names,omitempty"`    // of the tools that were called, each once
	Outcome  string   `json:"outcome"`
	Why      string   `json:"why,omitempty"` // it is bad
	Status   int      `json:"status,omitempty"`
	Took     int64    `json:"took"`
	First    int64    `json:"first,omitempty"`
	In       int      `json:"in"`
	Out      int      `json:"out"`
	Calls    int      `json:"calls"`
	Fixes    int      `json:"fixes"`
	Problems int      `json:"problems"`
	Losses   int      `json:"losses"`
}

// List is a part of the replies.
type List struct {
	Total int   `json:"total"`
	From  int   `json:"from"`
	Rows  []Row `json:"rows"`
}

// Overview is what the replies add up to.
type Overview struct {
	Total    Tally    `json:"total"`
	Starts   []int64  `json:"starts"` // of the buckets, Unix in seconds
	Width    int64    `json:"width"`  // of a bucket, in seconds
	Models   []Series `json:"models"` // the busiest first
	Dialects []Count  `json:"dialects"`
	Forms    []Count  `json:"forms"`
	Fixes    []Count  `json:"fixes"`
	Problems []Count  `json:"problems"`
	Losses   []Count  `json:"losses"`
	Invented []Count  `json:"invented"` // names of tools that were not offered
	Tools    []Tool   `json:"tools"`    // of bx, the slowest first
	Names    []string `json:"names"`    // of all models, for the filter
}

// Tally adds up replies.
type Tally struct {
	Replies   int      `json:"replies"`
	Good      int      `json:"good"`
	Bad       int      `json:"bad"`
	Silent    int      `json:"silent"`
	Uncounted int      `json:"uncounted"`
	Calls     int      `json:"calls"`
	Fixes     int      `json:"fixes"` // of calls
	In        int      `json:"in"`    // tokens
	Cached    int      `json:"cached"`
	Out       int      `json:"out"`
	Took      int64    `json:"took"`           // microseconds, all together
	Cost      *float64 `json:"cost,omitempty"` // in dollars; nil: no price is known
	Low       float64  `json:"low"`            // the interval of good among good and bad, 95 %
	High      float64  `json:"high"`
}

// Series is a model over time.
type Series struct {
	Name  string `json:"name"`
	Total Tally  `json:"total"`
	Good  []int  `json:"good"` // a bucket each
	Bad   []int  `json:"bad"`
	In    []int  `json:"in"`
	Out   []int  `json:"out"`
}

// Count is how often something was.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Bad   int    `json:"bad,omitempty"` // of Count
}

// Tool is what bx's own runs of a tool took, in microseconds.
type Tool struct {
	Name    string `json:"name"`
	Calls   int    `json:"calls"`
	Failed  int    `json:"failed"`
	Refused int    `json:"refused"`
	Mean    int64  `json:"mean"`
	P50     int64  `json:"p50"` // half of the runs took at most so long
	P95     int64  `json:"p95"`
	Spent   int64  `json:"spent"` // all together
}

// Reply is all that is known of a reply.
type Reply struct {
	Row
	API     string       `json:"api,omitempty"`
	Speaks  string       `json:"speaks,omitempty"`
	Asked   string       `json:"asked,omitempty"`
	Answer  string       `json:"answered,omitempty"`
	FormWhy string       `json:"form_why,omitempty"`
	Trial   bool         `json:"trial,omitempty"`
	Stream  bool         `json:"stream"`
	Offered int          `json:"offered"`
	Stop    string       `json:"stop,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Tries   int          `json:"tries,omitempty"`
	Again   string       `json:"again,omitempty"`
	Made    []MadeCall   `json:"made"`
	Broken  []BrokenCall `json:"broken"`
	Lost    []Count      `json:"lost"`
	Content *Content     `json:"-"`
	Read    any          `json:"read,omitempty"` // the content, as Reader reads it
	Request string       `json:"request,omitempty"`
	Cut     bool         `json:"cut,omitempty"`     // the content was too long to be kept whole
	Nothing string       `json:"nothing,omitempty"` // why there is no content, and what to do about it
}

// MadeCall is a call of a reply, without its arguments.
type MadeCall struct {
	Name     string   `json:"name"`
	Source   string   `json:"source"`
	Fixes    []string `json:"fixes,omitempty"`
	Guessed  bool     `json:"guessed,omitempty"`
	Invented bool     `json:"invented,omitempty"`
	Invalid  bool     `json:"invalid,omitempty"` // its arguments do not fit the tool
	Refusal  string   `json:"refusal,omitempty"`
	Outcome  string   `json:"outcome,omitempty"`
	Took     int64    `json:"took,omitempty"`
}

// BrokenCall is a call that could not be made.
type BrokenCall struct {
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"`
	Dialect string `json:"dialect,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Content is what was written.
type Content struct {
	Request string
	Raw     string
	Cut     bool
}
