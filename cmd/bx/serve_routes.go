package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// fileName is where the file is, or would be.
func (s *server) fileName() string {
	if s.flags.file != "" {
		return s.flags.file
	}
	return filepath.Join(userDir(), "serve.toml")
}

// load reads the file, if there is one, and makes a configuration of it.
func (s *server) load(ctx context.Context) (gateway.Config, error) {
	s.read, s.file = new(serving.File), ""
	name := s.fileName()
	if _, err := os.Stat(name); err == nil || s.flags.file != "" {
		f, err := serving.Load(name)
		if err != nil {
			return gateway.Config{}, err
		}
		s.read, s.file = f, name
		s.view.Line(view.Verbose, "read %s", name)
	}
	return s.config(ctx)
}

func (s *server) config(ctx context.Context) (c gateway.Config, err error) {
	f := s.read
	c = gateway.Config{
		Hosts: f.Hosts, Origins: f.Origins, Explain: f.Explain || s.flags.explain, Trace: s.trace, Observe: s.observe,
		Limits: gateway.Limits{Body: int64(f.Limits.BodyMB) << 20, Requests: f.Limits.Requests, Kept: f.Limits.KeptMB << 20,
			Heartbeat: time.Duration(f.Limits.Heartbeat), Client: time.Duration(f.Limits.Client), Retries: f.Limits.Retries},
		NewID: newReplyID, Build: versionText(), Log: s.requestLog(),
	}
	for _, k := range f.Clients {
		sum, err := k.Hash()
		if err != nil {
			return c, err
		}
		c.Clients = append(c.Clients, gateway.Client{Name: k.Name, Key: sum, Requests: k.Requests, Tokens: k.Tokens, Parallel: k.Parallel, Metrics: k.Metrics})
	}
	if len(f.Backends) == 0 {
		c.Routes, err = s.found(ctx)
		return c, err
	}
	c.Routes, err = s.routes(ctx)
	if err != nil {
		return c, &config.Error{File: s.file, Message: err.Error(), Err: err}
	}
	return c, nil
}

// found are the routes to the server that bx uses: its own models lead to
// themselves, and every other name to the model that was chosen, because
// clients ask for the models of their own vendor.
func (s *server) found(ctx context.Context) ([]gateway.Route, error) {
	s.serves = true
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if c.client == nil {
		return nil, fail(exitBackend, "there is no model to serve: start Ollama, LM Studio, llama.cpp or vLLM on this machine, name a server with OLLAMA_HOST, OPENAI_BASE_URL or a profile, or write %s", s.fileName())
	}
	routes := s.own(ctx, "", c.client)
	return append(routes, gateway.Route{To: []gateway.Target{{Backend: c.client, Model: c.name}}, Hidden: true}), nil
}

// own is the route of a server's own models.
func (s *server) own(ctx context.Context, name string, client *backend.Client) []gateway.Route {
	models, err := client.Models(ctx)
	if err != nil {
		s.view.Warn("%s does not list its models: %v", client.Server(), err)
	}
	var names []string
	for _, m := range models {
		if m.Chat {
			names = append(names, literal(m.ID))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []gateway.Route{{Match: names, To: []gateway.Target{{Name: name, Backend: client}}}}
}

// literal is a name as a pattern of itself.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// routes are those of the file. Without any, each backend serves its own models,
// and the first one every other name.
func (s *server) routes(ctx context.Context) (routes []gateway.Route, err error) {
	made := clients{server: s, by: map[string]*backend.Client{}}
	if len(s.read.Routes) > 0 {
		for _, r := range s.read.Routes {
			way, err := made.route(r)
			if err != nil {
				return nil, err
			}
			routes = append(routes, way)
		}
		return routes, nil
	}
	names := s.read.Names()
	for _, name := range names {
		c, err := made.client(name, serving.Policy{})
		if err != nil {
			return nil, err
		}
		routes = append(routes, s.own(ctx, name, c)...)
	}
	first, err := made.client(names[0], serving.Policy{})
	if err != nil {
		return nil, err
	}
	model, _, err := pickModel(ctx, first)
	if err != nil {
		s.view.Warn("only the models that are listed can be asked for: %v", err)
		model = ""
	}
	return append(routes, gateway.Route{To: []gateway.Target{{Name: names[0], Backend: first, Model: model}}, Hidden: true}), nil
}

// clients are made once for a backend and a policy.
type clients struct {
	*server
	by map[string]*backend.Client
}

func (c clients) route(r serving.Route) (out gateway.Route, err error) {
	out = gateway.Route{Match: r.Match, Hidden: r.Hidden, Once: r.Again != nil && !*r.Again}
	if out.To, err = c.targets(r.To, r.Policy); err != nil {
		return out, err
	}
	for i, w := range r.Weights {
		out.To[i].Weight = w
	}
	out.Else, err = c.targets(r.Else, r.Policy)
	return out, err
}

func (c clients) targets(specs []string, p serving.Policy) (out []gateway.Target, err error) {
	for _, spec := range specs {
		name, model, _ := strings.Cut(spec, "/")
		client, err := c.client(name, p)
		if err != nil {
			return nil, err
		}
		out = append(out, gateway.Target{Name: name, Backend: client, Model: model})
	}
	return out, nil
}

func (c clients) client(name string, p serving.Policy) (*backend.Client, error) {
	key := fmt.Sprintf("%s %+v", name, p)
	if c.by[key] != nil {
		return c.by[key], nil
	}
	b := c.read.Backends[name]
	secret, err := b.Secret(c.app.env)
	if err != nil {
		return nil, fmt.Errorf("[backends.%s]: %w", name, err)
	}
	first, idle := time.Duration(b.First), time.Duration(b.Idle)
	conf := backend.Config{
		Provider: b.Provider, URL: b.URL, APIKey: secret, NumCtx: b.NumCtx, Retries: b.Retries,
		Timeouts: backend.Timeouts{First: first, Idle: idle}, HTTP: signed(backend.HTTP(c.app.offline, 0), c.id),
		OnlyOffered: true, Literal: true,
	}
	policy(&conf, p)
	client, err := backend.New(conf)
	if err != nil {
		return nil, fmt.Errorf("[backends.%s]: %w", name, err)
	}
	c.by[key] = client
	return client, nil
}

// policy sets how calls are offered and read.
func policy(c *backend.Config, p serving.Policy) {
	c.Parse.Policy = parse.Policy{Quoted: p.Quoted, Unknown: parse.TextUnknown}
	if p.Unknown == "call" {
		c.Parse.Policy.Unknown = parse.KeepUnknown
	}
	c.Parse.Repair = map[string]parse.Repair{"off": parse.Off, "aggressive": parse.Aggressive}[p.Repair]
	tools := map[string]string{"native": "native", "prompted": "text", "none": "none"}[p.Tools]
	c.Formats = []format.Layer{{From: "[routes.policy]", Tools: tools, Text: p.Grammar}}
}

// printRoutes is bx serve --check.
func (s *server) printRoutes(c gateway.Config) error {
	if _, err := gateway.New(c); err != nil {
		return err
	}
	listen, err := s.address()
	if err != nil {
		return err
	}
	fmt.Fprintf(s.app.out, "listen %s, clients %d\n", listen, len(c.Clients))
	for _, r := range c.Routes {
		match := strings.Join(r.Match, ", ")
		fmt.Fprintf(s.app.out, "%s → %s", cmp.Or(match, "*"), words(r.To))
		if len(r.Else) > 0 {
			fmt.Fprintf(s.app.out, ", else %s", words(r.Else))
		}
		fmt.Fprintln(s.app.out)
	}
	return nil
}

func words(targets []gateway.Target) string {
	var out []string
	for _, t := range targets {
		name := cmp.Or(t.Name, t.Backend.API())
		if t.Model != "" {
			name += "/" + t.Model
		}
		if t.Weight > 0 {
			name += fmt.Sprintf(" (%d)", t.Weight)
		}
		out = append(out, name)
	}
	return strings.Join(slices.Clip(out), " or ")
}
