package gateway

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// Route sends models to a backend.
type Route struct {
	Match   string // the model's name, or a glob in which "*" stands for any letters: "claude-*"; "" is "*"
	Backend Backend
	Model   string // the name that the backend is asked for; "" is the client's
}

func (r Route) check() error {
	if r.Backend == nil {
		return fmt.Errorf("gateway: route %q has no backend", r.Match)
	}
	if _, err := path.Match(r.Match, ""); err != nil {
		return fmt.Errorf("gateway: route %q: want a name or a glob such as claude-*: %w", r.Match, err)
	}
	return nil
}

// matches compares without the slashes, which are letters like others in a
// model's name.
func (r Route) matches(model string) bool {
	if r.Match == "" || r.Match == "*" {
		return true
	}
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, _ := path.Match(flat(r.Match), flat(model))
	return ok
}

// route finds the way for a model.
func (g *Gateway) route(model string) (Route, error) {
	for _, r := range g.cfg.Routes {
		if r.matches(model) {
			return r, nil
		}
	}
	var known []string
	for _, r := range g.cfg.Routes {
		known = append(known, r.Match)
	}
	return Route{}, &wire.Error{Status: 404, Code: "model_not_found", Message: fmt.Sprintf("no route for model %q: there are %s", model, strings.Join(known, ", "))}
}

// models lists what can be asked for: the names of the routes, and for a glob
// the backend's models that it matches. A backend that does not answer is left
// out; err is its error where nothing else is left.
func (g *Gateway) models(ctx context.Context) (out []wire.Model, err error) {
	lists := make([][]wire.Model, len(g.cfg.Routes))
	errs := make([]error, len(lists))
	var wg sync.WaitGroup
	for i, r := range g.cfg.Routes {
		wg.Go(func() { lists[i], errs[i] = r.models(ctx) })
	}
	wg.Wait()
	for i, list := range lists {
		for _, m := range list {
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

func (r Route) models(ctx context.Context) (out []wire.Model, err error) {
	theirs, err := r.Backend.Models(ctx)
	if r.Match != "" && !strings.ContainsAny(r.Match, "*?[") {
		m := wire.Model{ID: r.Match, Chat: true}
		for _, t := range theirs {
			if t.ID == r.asked(r.Match) {
				m = t
				m.ID = r.Match
			}
		}
		return []wire.Model{m}, nil
	}
	for _, t := range theirs {
		if r.matches(t.ID) {
			out = append(out, t)
		}
	}
	return out, err
}

// asked is the name that the backend is asked for.
func (r Route) asked(model string) string {
	if r.Model != "" {
		return r.Model
	}
	return model
}
