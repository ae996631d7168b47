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

// stock is what a backend lists. It is asked for again when somebody wants a name
// that is not in it, so that a model which was installed a moment ago is found.
type stock struct {
	list func(context.Context) ([]wire.Model, error)
	now  func() time.Time

	mu     sync.Mutex
	models []wire.Model
	chosen string        // for who asks for none of them
	asked  time.Time     // when the list was last asked for; zero: never
	busy   chan struct{} // closed when the question on its way is answered; nil: none is
}

const (
	listEvery = 2 * time.Second // a backend is asked for its list at most so often
	listTime  = 3 * time.Second // and has so long to answer
)

// known is a model by either of its names, as the backend lists it; the backend
// is asked if it is new. nil: the backend does not list it.
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

// refresh asks for the list. Others wait for the answer, so who asked first may
// leave without taking it along.
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

// renewEvery is how old a list may be by which it is known which version of a
// model answers.
const renewEvery = time.Minute

// renew has the list asked for again, beside the request, where it is old, and
// waits for the first one: a model may have been pulled anew under its name.
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

// had is known without a question.
func (s *stock) had(name string) *wire.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return named(s.models, name)
}

// never reports that the list was not asked for yet.
func (s *stock) never() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked.IsZero()
}

// best is the model for who asks for none that the backend lists, the same one as
// long as it is there; "" where nothing is.
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

// spellings are the names under which a model goes: where nothing is said of a
// tag, Ollama's names end in ":latest".
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

// named is the model of a list that goes by a name; nil: there is none.
func named(models []wire.Model, name string) *wire.Model {
	for _, n := range spellings(name) {
		if i := slices.IndexFunc(models, func(m wire.Model) bool { return m.ID == n }); i >= 0 {
			return &models[i]
		}
	}
	return nil
}

// equipped is a configuration with the lists of its backends. Targets of one name
// share theirs.
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
