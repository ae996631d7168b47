package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Route sends models to backends.
type Route struct {
	Match  []string // models' names, or globs in which "*" stands for any letters: "claude-*"; none is "*"
	To     []Target // one of them by weight; a conversation stays with its own
	Else   []Target // one after the other where that fails before the first byte
	Once   bool     // a reply whose call is broken is not asked for once more
	Hidden bool     // not in the lists of models
}

// Target is a model behind a backend.
type Target struct {
	Name    string // for headers, the log and the metrics; "" is the backend's API
	Backend Backend
	Model   string // the name that the backend is asked for; "" is the client's
	Weight  int    // beside the other targets of its route; 0 is 1
}

func (r *Route) check() error {
	if len(r.To) == 0 {
		return errors.New("it leads nowhere: want at least one target")
	}
	for _, t := range slices.Concat(r.To, r.Else) {
		if t.Backend == nil {
			return fmt.Errorf("target %q has no backend", t.Name)
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

// matches compares without the slashes, which are letters like others in a
// model's name.
func matches(pattern, model string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, _ := path.Match(flat(pattern), flat(model))
	return ok
}

func (r *Route) serves(model string) bool {
	return len(r.Match) == 0 || slices.ContainsFunc(r.Match, func(m string) bool { return matches(m, model) })
}

// route finds the way for a model. Ollama's names end in ":latest" where nothing
// else is said.
func (h *house) route(model string) (*Route, error) {
	for _, name := range []string{model, strings.TrimSuffix(model, ":latest")} {
		for i := range h.Routes {
			if h.Routes[i].serves(name) {
				return &h.Routes[i], nil
			}
		}
	}
	var known []string
	for _, r := range h.Routes {
		known = append(known, r.Match...)
	}
	return nil, &wire.Error{Status: 404, Code: "model_not_found", Message: fmt.Sprintf("no route for model %q: there are %s", model, strings.Join(known, ", "))}
}

// targets are those to try, in order. Which of To comes first is decided by the
// conversation's beginning, so that a backend finds its prompt in the cache.
func (r *Route) targets(q *utp.Request) []Target {
	to := r.To
	if len(to) > 1 {
		i := pick(to, beginning(q))
		to = slices.Concat(to[i:], to[:i])
	}
	return slices.Concat(to, r.Else)
}

func pick(to []Target, seed uint64) int {
	sum := 0
	for _, t := range to {
		sum += max(t.Weight, 1)
	}
	at := int(seed % uint64(sum))
	for i, t := range to {
		if at -= max(t.Weight, 1); at < 0 {
			return i
		}
	}
	return 0
}

// beginning is a number of the messages up to the first of the user's.
func beginning(q *utp.Request) uint64 {
	sum := fnv.New64a()
	for _, m := range q.Messages {
		sum.Write([]byte(m.Text()))
		if m.Role == utp.User {
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
	yes := true
	for i, list := range lists {
		for _, m := range list {
			if m.Offer == "prompted" {
				m.Tools = &yes // the client need not know how
			}
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

// answers asks all targets at once for their models, until one has some to say.
func (h *house) answers(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	targets := map[string]Target{}
	for i, r := range h.Routes {
		for j, t := range slices.Concat(r.To, r.Else) {
			targets[cmp.Or(t.Name, fmt.Sprintf("%d.%d", i, j))] = t
		}
	}
	said := make(chan error, len(targets))
	for _, t := range targets {
		go func() {
			_, err := t.Backend.Models(ctx)
			said <- err
		}()
	}
	for range targets {
		if <-said == nil {
			return true
		}
	}
	return false
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
		if theirs[i], failed = t.Backend.Models(ctx); err == nil {
			err = failed
		}
	}
	for _, m := range match {
		if !strings.ContainsAny(m, "*?[") {
			out = append(out, named(m, r.To[0].asked(m), theirs[0]))
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
	if t.Model != "" {
		theirs = []wire.Model{named(t.Model, t.Model, theirs)}
	}
	for _, m := range theirs {
		if matches(glob, m.ID) {
			out = append(out, m)
		}
	}
	return out
}

// named is a model under the name that clients use.
func named(name, asked string, theirs []wire.Model) wire.Model {
	for _, t := range theirs {
		if t.ID == asked || t.ID == asked+":latest" {
			t.ID = name
			return t
		}
	}
	return wire.Model{ID: name, Chat: true}
}

// asked is the name that the backend is asked for.
func (t Target) asked(model string) string {
	if t.Model != "" {
		return t.Model
	}
	return model
}
