package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// stock is a backend's list of models. It is fetched again when a client asks for a name
// that is not in it, so that a newly installed model is found.
type stock struct {
	list func(context.Context) ([]wire.Model, error)
	now  func() time.Time

	mu     sync.Mutex
	models []wire.Model
	chosen string        // the model for names that are not listed
	asked  time.Time     // when the list was last fetched; zero: never
	busy   chan struct{} // closed when the running fetch ends; nil: none runs
}

const (
	listEvery = 2 * time.Second // the least time between two fetches
	listTime  = 3 * time.Second // the time limit of a fetch
)

// known returns a model by either of its names, nil if the backend does not list it. It
// fetches the list for a name not in it.
func (s *stock) known(ctx context.Context, name string) *wire.Model {
	for {
		s.mu.Lock()
		m := named(s.models, name)
		busy := s.busy
		if m != nil || busy == nil && !s.asked.IsZero() && s.now().Sub(s.asked) < listEvery {
			s.mu.Unlock()
			return m
		}
		if busy == nil {
			s.busy = make(chan struct{})
			s.mu.Unlock()
			s.refresh(ctx)
			continue
		}
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil
		}
	}
}

// refresh fetches the list. Callers share one fetch, which goes on if the first of them
// leaves.
func (s *stock) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listTime)
	defer cancel()
	models, err := s.list(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.models = models
	}
	s.asked = s.now()
	close(s.busy)
	s.busy = nil
}

// renewEvery is how old a list may be that tells the version of a model.
const renewEvery = time.Minute

// renew fetches an old list again in the background, and waits only for the first list:
// a new version may have been pulled under the model's name.
func (s *stock) renew(ctx context.Context, name string) {
	if s == nil {
		return
	}
	if s.known(ctx, name) == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy == nil && s.now().Sub(s.asked) >= renewEvery {
		s.busy = make(chan struct{})
		go s.refresh(ctx)
	}
}

// had is known without a fetch.
func (s *stock) had(name string) *wire.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return named(s.models, name)
}

// never reports whether the list was never fetched.
func (s *stock) never() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked.IsZero()
}

// best returns the model for names that are not listed, the same one as long as the
// backend lists it; "" if it lists none.
func (s *stock) best() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chosen != "" && named(s.models, s.chosen) != nil {
		return s.chosen
	}
	s.chosen = ""
	rank := -1
	for _, m := range s.models {
		if r := m.Rank(); r > rank {
			rank, s.chosen = r, m.ID
		}
	}
	return s.chosen
}

func (s *stock) names() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.models {
		out = append(out, m.ID)
	}
	return out
}

const latest = ":latest"

// spellings returns the equivalent names of a model: Ollama's names without a tag mean
// ":latest".
func spellings(name string) []string {
	if bare, cut := strings.CutSuffix(name, latest); cut {
		return []string{name, bare}
	}
	if strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
		return []string{name}
	}
	return []string{name, name + latest}
}

// sameModel reports whether two names are spellings of one.
func sameModel(a, b string) bool {
	return strings.TrimSuffix(a, latest) == strings.TrimSuffix(b, latest)
}

// named returns the model of a list with a name, nil if there is none.
func named(models []wire.Model, name string) *wire.Model {
	for _, n := range spellings(name) {
		if i := slices.IndexFunc(models, func(m wire.Model) bool { return m.ID == n }); i >= 0 {
			return &models[i]
		}
	}
	return nil
}

// equipped returns a house with the lists of its backends. Targets with one name share a
// list.
func equipped(c Config) *house {
	stocks := map[string]*stock{}
	equip := func(route int, targets []Target, kind string) []Target {
		targets = slices.Clone(targets)
		for i := range targets {
			t := &targets[i]
			key := cmp.Or(t.Name, fmt.Sprintf("%s %d.%d", kind, route, i))
			if stocks[key] == nil {
				stocks[key] = &stock{list: t.models, now: c.Now}
			}
			t.stock = stocks[key]
		}
		return targets
	}
	h := &house{Config: c}
	h.Clients = slices.Clone(c.Clients)
	for i := range h.Clients {
		h.Clients[i] = h.Clients[i].known()
	}
	h.Routes = slices.Clone(c.Routes)
	for i := range h.Routes {
		r := &h.Routes[i]
		r.To, r.Else = equip(i, r.To, "to"), equip(i, r.Else, "else")
		h.looks = h.looks || r.Listed || slices.ContainsFunc(slices.Concat(r.To, r.Else), func(t Target) bool { return t.Own })
	}
	return h
}
