package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/doctor"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/record"
)

// lookBack is how far back replies count for learned forms.
const lookBack = 30 * 24 * time.Hour

// evidence is what is known of a model's forms: what bx doctor --full found, at
// this server if it was examined there, and what was seen since. key says whose
// replies count for a tenth at most; "" in full.
func (j *job) evidence(ctx context.Context, url, model string, ours func(record.Reply) bool, key func(record.Reply) string) *learn.Evidence {
	dir, err := j.app.dataDir(j.set.Session.Storage)
	if err != nil {
		return learn.New()
	}
	var found *doctor.State
	for _, s := range doctor.States(dir) {
		if s.Model == model && (found == nil || sameServer(s.Server, url)) {
			found = &s
		}
	}
	if found == nil {
		return learn.New()
	}
	e := found.Evidence()
	err = j.replies(ctx, time.Now().Add(-lookBack), func(r record.Reply) {
		if r.Model() != model || !ours(r) {
			return
		}
		e.Running(r.Version())
		outcome, _ := record.Judge(&r)
		e.Add(r.Form, key(r), outcome, r.Trial)
	})
	if err != nil {
		j.view.Warn("%v: what was seen of %s is left out", err, model)
	}
	return e
}

func sameServer(a, b string) bool {
	bare := func(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "/"), "/v1") }
	return bare(a) == bare(b)
}

// learns reports whether the form of a model's tools is to be learned.
func (j *job) learns(provider, model string) bool {
	if provider == string(j.set.Provider) {
		provider = string(j.set.Kind)
	}
	c, err := format.Choose(j.set.Formats, format.Facts{Provider: provider, Model: model, Own: j.dialects()})
	return err == nil && c.Learned
}

// pickForm is the form of this conversation's tools, where it is learned: drawn by
// the question that begins it. One that is continued keeps its form; where that is
// not known it gets the one that is proved best, and no draw.
func (j *job) pickForm(ctx context.Context, conf backend.Config, model string) (p learn.Pick) {
	if j.serves || model == "" || !j.learns(conf.Provider, model) {
		return p
	}
	if p, ok := j.picks[model]; ok {
		return p
	}
	had := learn.Pick{}
	e := j.evidence(ctx, conf.URL, model, func(r record.Reply) bool {
		if r.By == record.ByBx && r.Session == j.app.going && r.Session != "" {
			had = learn.Pick{Form: r.Form, Why: "the one of this session", Trial: r.Trial}
		}
		return r.By == record.ByBx
	}, func(record.Reply) string { return "" })
	if c, err := backend.New(conf); err == nil {
		j.digests[model] = c.Digest(ctx, model)
		e.Running(j.digests[model])
	}
	switch a := j.app; {
	case len(e.Forms()) == 0:
		j.view.Line(view.Normal, "tool_format = learned: nothing is known of %s yet: bx doctor --full %s finds out which forms work", model, model)
	case slices.Contains(e.Forms(), had.Form):
		p = had
	case a.goOn || a.session != "" || a.resume:
		p = e.Best()
	default:
		p = e.Choose(learn.Seed(cmp.Or(j.question, time.Now().String())), "")
	}
	j.picks[model] = p
	return p
}

// lessons is what the gateway begins with where a route learns the form.
func (s *server) lessons(target, model string) *learn.Evidence {
	f := s.read
	url := s.set.URL
	if b, ok := f.Backends[target]; ok {
		url = b.URL
	}
	trusted := map[string]bool{}
	for _, c := range f.Clients {
		trusted[c.Name] = c.Trusted
	}
	e := s.evidence(context.Background(), url, model, func(r record.Reply) bool { return r.By == record.ByServe && r.Backend == target }, func(r record.Reply) string {
		if trusted[r.Client] {
			return ""
		}
		return r.Client
	})
	if len(e.Forms()) == 0 {
		s.view.Warn("tool_format = learned: nothing is known of %s: bx doctor --full %s finds out which forms work", model, model)
	}
	return e
}

// withForm puts a form that was picked before what is set.
func withForm(p learn.Pick, set []format.Layer) []format.Layer {
	if p.Form == "" {
		return set
	}
	return slices.Insert(slices.Clone(set), 0, format.Layer{Level: format.Call, From: format.Learned + ", " + p.Why, Format: p.Form})
}
