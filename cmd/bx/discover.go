package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/backend/extract"
	"github.com/unifiedtoolprotocol/utp/backend/local"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
)

// toConnect is what to do where no model was found.
const toConnect = "start a server, or name one with OLLAMA_HOST, OPENAI_BASE_URL or a profile"

// discover looks for a server on this machine. Without one bx answers by
// search alone, unless the user asked for a model by name.
func (j *job) discover(ctx context.Context) (*connection, error) {
	s, model, why := j.find(ctx)
	switch {
	case model != "":
		c, err := j.open(ctx, s.Provider(), s.URL, model, why)
		if err == nil && j.set.Model == "" {
			c.why = fmt.Sprintf("model %s (%s)", model, why) // which names the server
		}
		return c, err
	case j.app.model != "" || j.app.env("BX_MODEL") != "":
		return nil, fail(exitBackend, "there is nobody to ask for model %s: %s; %s", j.set.Model, why, toConnect)
	}
	return j.searchAlone(why), nil
}

// find chooses of the servers on this machine. Without one s has no kind, without
// a model to choose model is "".
func (j *job) find(ctx context.Context) (s local.Server, model, why string) {
	found := local.Finder{Waiting: j.waiting}.Find(ctx)
	if want := j.set.Model; want != "" && len(found.Servers) > 0 {
		return having(found.Servers, want), want, "found on this machine"
	}
	return local.Choose(found)
}

// having is the server that has a model, else the first, which will say that
// it does not.
func having(servers []local.Server, model string) local.Server {
	i := slices.IndexFunc(servers, func(s local.Server) bool {
		return slices.ContainsFunc(s.Models, func(m backend.Model) bool { return m.ID == model || m.ID == model+":latest" })
	})
	return servers[max(i, 0)]
}

// searchGrowth is how much the heap may grow between collections, in percent, where
// nothing but a search runs: it lives shorter than its garbage is worth keeping.
const searchGrowth = 50

// searchAlone is the built-in model that only searches.
func (j *job) searchAlone(why string) *connection {
	what := "no model: answering by search alone"
	if j.serves {
		what = "no model"
	} else if j.app.env("GOGC") == "" {
		debug.SetGCPercent(searchGrowth)
	}
	j.view.Unmarked = true
	return &connection{model: extract.New(), name: extract.Name, tools: j.offers("", ""), why: what + " (" + why + ")", absent: why}
}

// meantModel adds to the error of a model that is not there the name of one that
// is, and may have been meant.
func (j *job) meantModel(ctx context.Context, err error) error {
	var said *backend.Error
	if !errors.As(err, &said) || said.Status() != http.StatusNotFound || j.model == nil || j.model.client == nil {
		return err
	}
	models, listErr := j.model.client.Models(ctx)
	if listErr != nil {
		return err
	}
	var names []string
	for _, m := range models {
		names = append(names, m.ID)
	}
	if near := nearModel(j.model.name, names); near != "" {
		return fmt.Errorf("%w; did you mean --model %s?", err, near)
	}
	return err
}

// nearModel is the model whose name, with or without its tag and its maker, is the
// nearest to a name; "" is none.
func nearModel(name string, known []string) string {
	plain := func(s string) string {
		s, _, _ = strings.Cut(s[strings.LastIndexByte(s, '/')+1:], ":")
		return strings.ToLower(s)
	}
	var bases []string
	for _, k := range known {
		switch base := plain(k); {
		case base == plain(name), len(name) > 2 && strings.HasPrefix(base, plain(name)):
			return k
		default:
			bases = append(bases, base)
		}
	}
	if i := slices.Index(bases, config.Meant(plain(name), bases)); i >= 0 {
		return known[i]
	}
	return ""
}
