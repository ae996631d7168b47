package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// connection is the model that answers.
type connection struct {
	model  agent.Model
	client *backend.Client // nil: search alone
	name   string
	why    string // which model, where, and who chose it
	absent string // why there is no client
	tools  bool   // tools may be offered to it

	provider, url string // of the client
}

// connect finds the model that answers and says so. Order: the settings (a
// flag, a profile, the environment, a file), a server on this machine, search
// alone.
func (j *job) connect(ctx context.Context) (*connection, error) {
	if j.talk != nil && j.app.team == "" {
		return j.talk.connection(ctx)
	}
	c, err := j.choose(ctx)
	if err != nil {
		return nil, err
	}
	if j.talk.news(c.why) {
		j.view.Line(view.Normal, "%s", c.why)
	}
	return c, nil
}

func (j *job) choose(ctx context.Context) (*connection, error) {
	switch j.set.Provider {
	case "":
		return j.discover(ctx)
	case config.SearchProvider:
		return j.searchAlone(j.set.Why), nil
	}
	return j.open(ctx, string(j.set.Provider), j.set.URL, j.set.Model, j.set.Why)
}

// open makes a client of a server. Without a model's name the server is asked.
func (j *job) open(ctx context.Context, provider, url, model, why string) (*connection, error) {
	client, err := j.client(ctx, provider, url, model, why)
	if err != nil {
		return nil, err
	}
	reason := "set by " + j.set.ModelWhy
	if model == "" {
		if model, reason, err = j.pickModel(ctx, client); err != nil {
			return nil, &coded{exitBackend, err}
		}
		if client, err = j.client(ctx, provider, url, model, why); err != nil {
			return nil, err
		}
	}
	c := &connection{model: client, client: client, name: model, tools: j.offers(provider, model), provider: provider, url: url}
	c.why = fmt.Sprintf("model %s (%s), %s (%s)", model, reason, client.Server(), why)
	return c, nil
}

// client is one of a server, for a model or, with "", for those that are asked
// for. Nothing is sent, unless the form of the model's tools is learned.
func (j *job) client(ctx context.Context, provider, url, model, why string) (*backend.Client, error) {
	conf := j.backendConfig(provider, url)
	conf.Model = model
	if model != "" {
		h := j.set.Habits(model)
		conf.Adapter, conf.DropEmpty = h.Adapter, h.DropEmpty
		conf.Formats = withForm(j.pickForm(ctx, conf, model), conf.Formats)
	}
	client, err := backend.New(conf)
	if err != nil {
		return nil, &config.Error{File: why, Message: err.Error(), Err: err}
	}
	return client, nil
}

// loadTime is how long a server that loads its model is waited for, and loadAgain
// the pause between two questions.
const (
	loadTime  = 30 * time.Second
	loadAgain = 200 * time.Millisecond
)

// pickModel takes the model of the highest rank, after waiting for a server that
// loads its model.
func (j *job) pickModel(ctx context.Context, client *backend.Client) (name, why string, err error) {
	models, err := client.Models(ctx)
	if loading(err) {
		j.waiting(client.Server())
	}
	for end := time.Now().Add(loadTime); loading(err) && time.Now().Before(end); models, err = client.Models(ctx) {
		select {
		case <-ctx.Done():
			return "", "", ctx.Err()
		case <-time.After(loadAgain):
		}
	}
	if err != nil {
		return "", "", err
	}
	return best(client, models)
}

func (j *job) waiting(server string) { j.view.Line(view.Normal, "waiting for %s", server) }

func loading(err error) bool {
	var said *backend.Error
	return errors.As(err, &said) && said.Loading()
}

// best is the model of the highest rank.
func best(client *backend.Client, models []backend.Model) (name, why string, err error) {
	first, points := -1, -1
	for i, m := range models {
		if p := m.Rank(); p > points {
			first, points = i, p
		}
	}
	if first < 0 {
		return "", "", fmt.Errorf("%s has no model that can answer: install one, or name it with --model", client.Server())
	}
	return models[first].ID, pickReason(models[first], len(models)), nil
}

func pickReason(m backend.Model, of int) string {
	var words []string
	if m.Loaded {
		words = append(words, "loaded")
	}
	if m.Tools != nil && *m.Tools {
		words = append(words, "takes tools")
	}
	if len(words) == 0 {
		words = append(words, "the first that can answer")
	}
	return fmt.Sprintf("%s; 1 of %d there", strings.Join(words, ", "), of)
}

func (j *job) backendConfig(provider, url string) backend.Config {
	t := j.set.Timeout
	c := backend.Config{
		Provider: provider, URL: url, APIKey: j.set.APIKey,
		Timeouts: backend.Timeouts{First: t, Idle: t}, NumCtx: j.set.NumCtx,
		HTTP:    backend.HTTP(j.app.offline, 0),
		Warn:    func(s string) { j.view.Warn("%s", s) },
		Waiting: j.waiting, Compile: j.app.schemas.Compile,
		Formats: j.set.Formats, Custom: j.set.Templates, Parse: parse.Config{Tools: j.known, More: j.dialects(), Answers: !j.serves},
	}
	if provider == string(j.set.Provider) {
		c.Kind = string(j.set.Kind)
	}
	if j.view.Level >= view.Debug {
		c.Trace = func(t backend.Trace) { j.view.Trace(t.Dialect, t.Raw, t.Decision, t.Mismatch) }
	}
	if j.servers != nil || j.talk != nil {
		c.Reads = j.reads
	}
	if j.serves {
		c.OnlyOffered, c.Literal, c.Parse.Policy.Unknown = true, true, parse.TextUnknown
	}
	return c
}

// reads has replies read by the tools that there are now, which those of MCP servers
// join while a question is answered. A connection of a conversation outlives the
// question that it was made for.
func (j *job) reads(p *parse.Config) {
	if j.talk != nil && j.app.team == "" {
		j = j.talk.job
	}
	p.Tools = j.known
	if j.servers != nil {
		p.Seen = append(slices.Clone(p.Seen), j.servers.pool.Said()...)
	}
}

// dialects are those of the user's own, the gateway's first.
func (j *job) dialects() []*grammar.Grammar { return slices.Concat(j.more, j.set.Dialects) }

// offers reports whether a model gets tools at all.
func (j *job) offers(provider, model string) bool {
	if provider == string(j.set.Provider) {
		provider = string(j.set.Kind)
	}
	c, err := format.Choose(j.set.Formats, format.Facts{Provider: provider, Model: model, Own: j.dialects()})
	return err == nil && c.Tools.Way != format.None
}
