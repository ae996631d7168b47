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
	Once    bool     // a reply whose call is broken is not asked for once more
	Hidden  bool     // not in the lists of models
	Learned bool     // each conversation gets its tools in the form that works best, by Config.Lessons

	Content bool // Config.Content gets the requests that come by it
}

// Target is a model behind a backend.
type Target struct {
	Name    string // for headers, the log and the metrics; "" is the backend's API
	Backend Backend
	Keys    []Key  // that the server may be asked with, where there are several; Backend is then not asked
	Model   string // the name that the backend is asked for; "" is the client's
	Own     bool   // a name that the backend lists is asked for by itself; Model, or without one the best that it lists, is for the others
	Weight  int    // beside the other targets of its route: of the conversations, or of the requests under way; 0 is 1
	Retries int    // further tries if the client has seen nothing, no other target is left, and the client does not ask again by itself; 0 is 2, below 0 none
	Breaker Breaker

	stock *stock
	key   string // the name of that of Keys which Backend has
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

// name is how the target is called for people.
func (t Target) name() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Backend.API()
}

// spot is the model behind the backend, for what is known of how it fares.
func (t Target) spot(model string) spot { return spot{t.name(), t.asked(model), ""} }

func (t Target) retries() int {
	if t.Retries == 0 {
		return 2
	}
	return max(0, t.Retries)
}

// matches compares without the slashes, which are letters like others in a
// model's name.
func matches(pattern, model string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, _ := path.Match(flat(pattern), flat(model))
	return ok
}

// serves reports whether the route is one for a name, in either spelling.
func (r *Route) serves(model string) bool {
	return len(r.Match) == 0 || slices.ContainsFunc(spellings(model), func(name string) bool {
		return slices.ContainsFunc(r.Match, func(m string) bool { return matches(m, name) })
	})
}

// route finds the way for a model.
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

// ways are all the routes for a model, in order.
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

// lookUp asks the backends whose lists count for a name, all at once: those that
// were never asked, and where none is known to have it, the others too.
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

// askable refuses a request that names no model, and one that comes before there
// is any.
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

// unknown is the error for a name that leads nowhere. It tells no more than the
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

// targets are those to try, in order, each with the name that it is asked for.
// Which of To comes first is decided by the conversation's beginning, so that a
// backend finds its prompt in the cache, unless Choose says otherwise (choose); but those that list the model come before
// those where another one would answer.
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

// standIn is 1 for a target where another model would answer for one that it does
// not list.
func standIn(t Target, model string) int {
	if t.Own && t.Model != "" && !sameModel(t.Model, model) {
		return 1
	}
	return 0
}

// resolved is the target with the name that it is asked for.
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

// drawn is the order of n things that belongs to a seed. Each place is drawn by weight
// from those that are left, so that what one has lost goes to all others.
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

// mixing is an odd number near 2⁶⁴ divided by the golden ratio: multiplied with a seed it
// gives another one.
const mixing = 0x9e3779b97f4a7c15

// beginning is a number of the messages up to the first of the user's, 0 without any.
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

// models lists what can be asked for: the names of the routes, and for a glob
// the backends' models that it matches. A backend that does not answer is left
// out; err is its error where nothing else is left.
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

// promising is a model as clients see it: one whose tools go into its prompt takes
// tools, too.
func promising(m wire.Model) wire.Model {
	if m.Offer == "prompted" {
		yes := true
		m.Tools = &yes
	}
	return m
}

// answers asks all targets at once for their models, until one has some to say.
// Without any it gives what each said, by name.
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

// models are those of the first target for a name, and for a glob those of all.
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

// matched are the models of a target that a glob matches: of one that is asked
// for a single model, that one.
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

// under is a model under the name that clients use.
func under(name, asked string, theirs []wire.Model) wire.Model {
	if m := named(theirs, asked); m != nil {
		out := *m
		out.ID = name
		return out
	}
	return wire.Model{ID: name, Chat: true}
}

// asked is the name that the backend is asked for.
func (t Target) asked(model string) string { return cmp.Or(t.Model, model) }

// Shadowed says which names and globs lead nowhere, because a route before theirs
// takes all that they match.
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

// takes is the glob of a route that matches all that another one does: that holds
// where it matches the other's letters and has no sign but "*".
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
