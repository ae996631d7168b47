package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Route sends models to backends.
type Route struct {
	Match   []string // models' names, or globs in which "*" stands for any letters: "claude-*"; none is "*"
	Listed  bool     // only names that one of its targets lists
	To      []Target // one of them, by Choose; a conversation stays with its own
	Choose  Choose   // how; "" is ByWeight
	Else    []Target // one after the other where that fails before the client has seen anything
	Once    bool     // no second try for a reply whose call is broken
	Hidden  bool     // not in the lists of models
	Learned bool     // each conversation gets the form of tools that works best, by Config.Lessons

	Content bool // Config.Content gets its requests
}

// Target is a model at a backend.
type Target struct {
	Name    string // for headers, the log and the metrics; "" is the backend's API
	Backend Backend
	Keys    []Key  // several keys of the server, used in place of Backend
	Model   string // the name sent to the backend; "" is the client's
	Own     bool   // names that the backend lists are sent as they are; the others become Model or, without one, the best that it lists
	Weight  int    // its share among the targets of its route, of conversations or running requests; 0 is 1
	Retries int    // further tries if the client has seen nothing, no other target is left, and the client does not retry by itself; 0 is 2, below 0 none
	Breaker Breaker

	stock *stock
	key   string // the name of the key in use, one of Keys
	spare bool   // it is one of Else
}

func (r *Route) check() error {
	if len(r.To) == 0 {
		return errors.New("it leads nowhere: want at least one target")
	}
	if r.Choose != "" && !slices.Contains(Chooses, r.Choose) {
		return fmt.Errorf("choose = %q: want weight, least-busy or latency", r.Choose)
	}
	for _, t := range slices.Concat(r.To, r.Else) {
		if t.Backend == nil {
			return fmt.Errorf("target %q has no backend", t.Name)
		}
		if err := checkKeys(t.Keys); err != nil {
			return fmt.Errorf("target %q: %w", t.Name, err)
		}
		if t.Weight < 0 {
			return fmt.Errorf("target %q: weight %d: want 0 or more", t.Name, t.Weight)
		}
	}
	for _, m := range r.Match {
		if _, err := path.Match(m, ""); err != nil {
			return fmt.Errorf("match %q: want a name or a glob such as claude-*: %w", m, err)
		}
	}
	return nil
}

// name returns the name of the target for people.
func (t Target) name() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Backend.API()
}

// spot returns the model at the backend, as breakers and loads know it.
func (t Target) spot(model string) spot { return spot{t.name(), t.asked(model), ""} }

func (t Target) retries() int {
	if t.Retries == 0 {
		return 2
	}
	return max(0, t.Retries)
}

// matches reports whether a glob matches a model's name, where "*" also matches slashes.
func matches(pattern, model string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, _ := path.Match(flat(pattern), flat(model))
	return ok
}

// serves reports whether the route matches a name, in either spelling.
func (r *Route) serves(model string) bool {
	return len(r.Match) == 0 || slices.ContainsFunc(spellings(model), func(name string) bool {
		return slices.ContainsFunc(r.Match, func(m string) bool { return matches(m, name) })
	})
}

// route returns the route for a model.
func (h *house) route(ctx context.Context, model string) (*Route, error) {
	if err := h.askable(model); err != nil {
		return nil, err
	}
	h.lookUp(ctx, model)
	for i := range h.Routes {
		if r := &h.Routes[i]; r.takesUp(model) {
			return r, nil
		}
	}
	return nil, h.unknown(model)
}

// ways returns all routes for a model, in order.
func (h *house) ways(ctx context.Context, model string) (out []*Route) {
	h.lookUp(ctx, model)
	for i := range h.Routes {
		if r := &h.Routes[i]; r.takesUp(model) {
			out = append(out, r)
		}
	}
	return out
}

func (r *Route) takesUp(model string) bool { return r.serves(model) && (!r.Listed || r.lists(model)) }

// lookUp fetches the lists that decide on a name, all at once: of the backends never
// asked before and, if none is known to have it, of the others too.
func (h *house) lookUp(ctx context.Context, model string) {
	if !h.looks {
		return
	}
	var stocks []*stock
	had := false
	for _, r := range h.Routes {
		if !r.serves(model) {
			continue
		}
		for _, t := range slices.Concat(r.To, r.Else) {
			if (r.Listed || t.Own) && !slices.Contains(stocks, t.stock) {
				stocks = append(stocks, t.stock)
				had = had || t.stock.had(model) != nil
			}
		}
		if len(stocks) == 0 { // it is decided
			return
		}
	}
	var wg sync.WaitGroup
	for _, s := range stocks {
		if !had || s.never() {
			wg.Go(func() { s.known(ctx, model) })
		}
	}
	wg.Wait()
}

// askable returns an error for a request without a model, or while there is no route.
func (h *house) askable(model string) error {
	switch {
	case model == "":
		return &wire.InputError{Path: "model", Offset: -1, Want: "the name of a model"}
	case len(h.Routes) == 0:
		return denied(http.StatusServiceUnavailable, "no_backend", "%s", h.Absent)
	}
	return nil
}

// lists reports whether a target lists a model.
func (r *Route) lists(model string) bool {
	return slices.ContainsFunc(slices.Concat(r.To, r.Else), func(t Target) bool { return t.stock.had(model) != nil })
}

// unknown returns the error for a name without a route. It reveals no more than the
// lists of models do.
func (h *house) unknown(model string) error {
	var known []string
	for _, r := range h.Routes {
		if r.Hidden {
			continue
		}
		known = append(known, slices.DeleteFunc(slices.Clone(r.Match), isGlob)...)
		for _, t := range r.To {
			for _, name := range t.stock.names() {
				if (r.Listed || t.Own) && r.serves(name) {
					known = append(known, name)
				}
			}
		}
	}
	text := fmt.Sprintf("there is no model %q", model)
	if near := schema.Near(model, known); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, ", ") + "?"
	}
	return &denial{"no_model", &wire.Error{Status: http.StatusNotFound, Code: "model_not_found", Message: text}}
}

func isGlob(match string) bool { return strings.ContainsAny(match, "*?[\\") }

// targets returns the targets to try, in order, each with the name to send. Unless
// Choose says otherwise, the conversation's beginning decides which of To comes first,
// so that a backend finds its prompt in the cache. Targets that list the model precede
// those that would answer with another.
func (r *Route) targets(q *utp.Request) []Target {
	to := slices.Concat(r.To, r.Else)
	if len(r.To) > 1 {
		for i, at := range drawn(len(r.To), func(i int) int { return r.To[i].Weight }, beginning(q)) {
			to[i] = r.To[at]
		}
	}
	for i := range to {
		to[i] = to[i].resolved(q.Model)
		to[i].spare = i >= len(r.To)
	}
	slices.SortStableFunc(to[:len(r.To)], func(a, b Target) int { return standIn(a, q.Model) - standIn(b, q.Model) })
	return to
}

// standIn returns 1 for a target that would answer with another model, as it does not
// list this one.
func standIn(t Target, model string) int {
	if t.Own && t.Model != "" && !sameModel(t.Model, model) {
		return 1
	}
	return 0
}

// resolved returns the target with the name to send to it.
func (t Target) resolved(model string) Target {
	if !t.Own {
		return t
	}
	if m := t.stock.had(model); m != nil {
		t.Model = m.ID
	} else if t.Model == "" {
		t.Model = t.stock.best()
	}
	return t
}

// drawn returns an order of n things, the same for the same seed. Each place is drawn by
// weight from those left, so that the share of one that fails is spread over the others.
func drawn(n int, weight func(i int) int, seed uint64) (order []int) {
	var left []int
	for i := range n {
		left = append(left, i)
	}
	for len(left) > 0 {
		sum := 0
		for _, i := range left {
			sum += max(weight(i), 1)
		}
		at := int(seed % uint64(sum))
		next := slices.IndexFunc(left, func(i int) bool { at -= max(weight(i), 1); return at < 0 })
		order, left = append(order, left[next]), slices.Delete(left, next, next+1)
		seed = seed * mixing >> 7
	}
	return order
}

// mixing is an odd number near 2⁶⁴ divided by the golden ratio. A seed times mixing is
// another seed.
const mixing = 0x9e3779b97f4a7c15

// beginning returns a hash of the messages up to the user's first, 0 if there are none.
func beginning(q *utp.Request) uint64 {
	if len(q.Messages) == 0 {
		return 0
	}
	sum := fnv.New64a()
	for _, m := range q.Messages {
		sum.Write([]byte(m.Text()))
		if m.Role == utp.RoleUser {
			break
		}
	}
	return sum.Sum64() >> 3 // the low bits of FNV mix least
}

// models lists the models that clients can ask for: the names of the routes and, for a
// glob, the backends' models that it matches. It leaves out backends that do not answer,
// and returns an error only if nothing else is left.
func (h *house) models(ctx context.Context) (out []wire.Model, err error) {
	lists := make([][]wire.Model, len(h.Routes))
	errs := make([]error, len(lists))
	var wg sync.WaitGroup
	for i := range h.Routes {
		if !h.Routes[i].Hidden {
			wg.Go(func() { lists[i], errs[i] = h.Routes[i].models(ctx) })
		}
	}
	wg.Wait()
	for i, list := range lists {
		for _, m := range list {
			m = promising(m)
			if !slices.ContainsFunc(out, func(o wire.Model) bool { return o.ID == m.ID }) {
				out = append(out, m)
			}
		}
		if err == nil {
			err = errs[i]
		}
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
}

// promising returns a model as clients see it: it supports tools even if they have to go
// into its prompt.
func promising(m wire.Model) wire.Model {
	if m.Offer == "prompted" {
		yes := true
		m.Tools = &yes
	}
	return m
}

// answers asks all targets at once for their models, until one answers. If none does,
// it returns why not, by target.
func (h *house) answers(ctx context.Context) (ok bool, why map[string]string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	targets := map[string]Target{}
	for i, r := range h.Routes {
		for j, t := range slices.Concat(r.To, r.Else) {
			targets[cmp.Or(t.Name, fmt.Sprintf("%d.%d", i+1, j+1))] = t
		}
	}
	type answer struct {
		name string
		err  error
	}
	said := make(chan answer, len(targets))
	for _, t := range targets {
		go func() {
			_, err := t.models(ctx)
			said <- answer{t.name(), err}
		}()
	}
	why = map[string]string{}
	for range targets {
		a := <-said
		if a.err == nil {
			return true, nil
		}
		why[a.name] = utp.Redact(a.err.Error())
	}
	return false, why
}

// models returns the models of the first target for a name, of all targets for a glob.
func (r *Route) models(ctx context.Context) (out []wire.Model, err error) {
	match := r.Match
	if len(match) == 0 {
		match = []string{"*"}
	}
	theirs := make([][]wire.Model, len(r.To))
	for i, t := range r.To {
		var failed error
		if theirs[i], failed = t.models(ctx); err == nil {
			err = failed
		}
	}
	for _, m := range match {
		if !isGlob(m) {
			out = append(out, under(m, r.To[0].asked(m), theirs[0]))
			continue
		}
		for i, t := range r.To {
			out = append(out, matched(m, t, theirs[i])...)
		}
	}
	return out, err
}

// matched returns the models of a target that match a glob. A target with a Model has
// only that one.
func matched(glob string, t Target, theirs []wire.Model) (out []wire.Model) {
	if t.Model != "" && !t.Own {
		theirs = []wire.Model{under(t.Model, t.Model, theirs)}
	}
	for _, m := range theirs {
		if matches(glob, m.ID) {
			out = append(out, m)
		}
	}
	return out
}

// under returns a model under the name that clients use.
func under(name, asked string, theirs []wire.Model) wire.Model {
	if m := named(theirs, asked); m != nil {
		out := *m
		out.ID = name
		return out
	}
	return wire.Model{ID: name, Chat: true}
}

// asked returns the name of the model to send to the backend.
func (t Target) asked(model string) string { return cmp.Or(t.Model, model) }

// Shadowed returns a message for each name or glob that has no effect, because an
// earlier route takes all that it matches.
func Shadowed(routes []Route) (out []string) {
	for i, r := range routes {
		for _, match := range r.Match {
			for j, before := range routes[:i] {
				if taken := before.takes(match); taken != "" {
					out = append(out, fmt.Sprintf("route %d: %q leads nowhere: route %d takes %q", i+1, match, j+1, taken))
					break
				}
			}
		}
		if len(r.Match) == 0 && slices.ContainsFunc(routes[:i], func(b Route) bool { return b.takes("*") != "" }) {
			out = append(out, fmt.Sprintf("route %d leads nowhere: a route before it takes every name", i+1))
		}
	}
	return out
}

// takes returns the glob of the route that matches everything that match does: one that
// matches it as a text and has no special sign but "*".
func (r *Route) takes(match string) string {
	own := r.Match
	if len(own) == 0 {
		own = []string{"*"}
	}
	for _, m := range own {
		if !r.Listed && (m == match || !strings.ContainsAny(m, "?[\\") && matches(m, match)) {
			return m
		}
	}
	return ""
}
