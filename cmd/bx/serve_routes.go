package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/build"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// fileName is where the file is, or would be.
func (s *server) fileName() string {
	if s.flags.file != "" {
		return s.flags.file
	}
	return filepath.Join(dirs.User(), "serve.toml")
}

// load reads the file, if there is one, and makes a configuration of it.
func (s *server) load(ctx context.Context) (gateway.Config, error) {
	if err := s.readFile(); err != nil {
		return gateway.Config{}, err
	}
	return s.config(ctx)
}

func (s *server) readFile() error {
	s.read, s.file = new(serving.File), ""
	name := s.fileName()
	if _, err := os.Stat(name); err == nil || s.flags.file != "" {
		f, err := serving.Load(name, s.set.Dialects, dialect.Try)
		if err != nil {
			return err
		}
		j := *s.job
		j.more = f.Own
		s.job, s.read, s.file = &j, f, name
		s.view.Line(view.Verbose, "read %s", name)
	}
	return nil
}

func (s *server) config(ctx context.Context) (c gateway.Config, err error) {
	f := s.read
	c = gateway.Config{
		Hosts: f.Hosts, Origins: f.Origins, Explain: f.Explain || s.flags.explain, Trace: s.trace, Observe: s.observe, Lessons: s.lessons, Content: s.content,
		Limits: gateway.Limits{Body: int64(f.Limits.BodyMB) << 20, Requests: f.Limits.Requests, Schema: schema.Limits{Bytes: f.Limits.SchemaKB << 10, Keys: f.Limits.SchemaKeys, Depth: f.Limits.SchemaDepth}, Kept: f.Limits.KeptMB << 20,
			Output: f.Limits.Output, Heartbeat: time.Duration(f.Limits.Heartbeat), Client: time.Duration(f.Limits.Client), Retries: f.Limits.Retries},
		NewID: newReplyID, Build: build.Version(), Log: s.requestLog(), Compile: s.app.schemas.Compile,
	}
	s.common.into(&c, s.id)
	if err := s.identify(&c); err != nil {
		return c, &config.Error{File: s.file, Message: err.Error(), Err: err}
	}
	c.Away = gateway.Away{Refuse: f.State.Rates == "refuse", Forget: f.State.Previous == "forget"}
	c.Prices = price.List{}
	maps.Copy(c.Prices, s.set.Prices)
	maps.Copy(c.Prices, f.Prices)
	for _, k := range f.Clients {
		sum, err := k.Hash()
		if err != nil {
			return c, err
		}
		c.Clients = append(c.Clients, gateway.Client{Name: k.Name, Key: sum, Requests: k.Requests, Tokens: k.Tokens, Parallel: k.Parallel, Steady: k.Steady, Trusted: k.Trusted, Metrics: k.Metrics, Content: k.Content})
	}
	if len(f.Backends) == 0 {
		c.Routes, c.Absent, err = s.found(ctx)
	} else if c.Routes, err = s.routes(); err != nil {
		err = &config.Error{File: s.file, Message: err.Error(), Err: err}
	}
	for i := range c.Routes {
		c.Routes[i].Content = c.Routes[i].Content || f.Content || s.set.Stats.Content
	}
	return c, err
}

// found is the route to the server that bx uses: its own models lead to
// themselves, and every other name to the model that was chosen, because clients
// ask for the models of their own vendor. absent says why there is no server.
func (s *server) found(ctx context.Context) (routes []gateway.Route, absent string, err error) {
	provider, url, model, why := string(s.set.Provider), s.set.URL, s.set.Model, s.set.Why
	switch {
	case s.set.Provider == config.SearchProvider:
		return nil, "", fail(exitBackend, "there is no model to serve (%s): %s", why, s.toStart())
	case provider == "" && s.flags.check:
		return nil, "what is found on this machine", nil
	case provider == "":
		there, chosen, said := s.find(ctx)
		if there.Kind == "" {
			return nil, fmt.Sprintf("there is no model to serve yet (%s): %s", said, s.toStart()), nil
		}
		provider, url, why = there.Provider(), there.URL, said
		s.view.Line(view.Normal, "model %s (%s)", cmp.Or(chosen, "none yet"), said)
	}
	client, err := s.client(ctx, provider, url, model, why)
	if err != nil {
		return nil, "", err
	}
	if s.set.Provider != "" && !s.flags.check {
		s.announce(ctx, client, model)
	}
	return []gateway.Route{{Learned: s.learns(provider, model), To: []gateway.Target{{Backend: client, Model: model, Own: true}}}}, "", nil
}

func (s *server) toStart() string {
	return "start Ollama, LM Studio, llama.cpp or vLLM on this machine, name a server with OLLAMA_HOST, OPENAI_BASE_URL or a profile, or write " + s.fileName()
}

// announce says which model answers for names that the server does not have. A
// server that does not answer yet is served all the same.
func (s *server) announce(ctx context.Context, client *backend.Client, model string) {
	reason := "set by " + s.set.ModelWhy
	if model == "" {
		models, err := client.Models(ctx)
		if err == nil {
			model, reason, err = best(client, models)
		}
		if err != nil {
			s.view.Warn("%v; serving all the same: it is asked again when it is needed", err)
			return
		}
	}
	s.view.Line(view.Normal, "model %s (%s), %s (%s)", model, reason, client.Server(), s.set.Why)
}

// routes are those of the file. Without any, each backend serves its own models,
// and the first one every other name.
func (s *server) routes() (routes []gateway.Route, err error) {
	made := clients{server: s, by: map[string]*backend.Client{}}
	for _, r := range s.read.Routes {
		way, err := made.route(r)
		if err != nil {
			return nil, err
		}
		routes = append(routes, way)
	}
	if len(routes) > 0 {
		return routes, nil
	}
	names := s.read.Names()
	for _, name := range names {
		c, err := made.client(name, serving.Policy{})
		if err != nil {
			return nil, err
		}
		routes = append(routes, gateway.Route{Listed: true, To: []gateway.Target{made.target(name, c)}})
	}
	first := routes[0].To[0]
	first.Own = true
	return append(routes, gateway.Route{To: []gateway.Target{first}, Hidden: true}), nil
}

// absent says which backends do not answer at the start. They are asked again when
// they are needed.
func (s *server) absent(ctx context.Context, c gateway.Config) {
	asked := map[string]bool{}
	for _, r := range c.Routes {
		for _, t := range slices.Concat(r.To, r.Else) {
			if t.Name == "" || asked[t.Name] {
				continue
			}
			asked[t.Name] = true
			go func() {
				if _, err := t.Backend.Models(ctx); err != nil && ctx.Err() == nil {
					s.view.Warn("[backends.%s]: %v; serving all the same: it is asked again when it is needed", t.Name, err)
				}
			}()
		}
	}
}

// clients are made once for a backend and a policy.
type clients struct {
	*server
	by map[string]*backend.Client
}

func (c clients) route(r serving.Route) (out gateway.Route, err error) {
	out = gateway.Route{Match: r.Match, Learned: r.Format == format.Learned, Hidden: r.Hidden, Content: r.Content, Once: r.Again != nil && !*r.Again}
	if out.To, err = c.targets(r.To, r.Policy); err != nil {
		return out, err
	}
	for i, w := range r.Weights {
		out.To[i].Weight = w
	}
	out.Choose = gateway.Choose(r.Choose)
	out.Else, err = c.targets(r.Else, r.Policy)
	if len(r.Match) == 0 || slices.Equal(r.Match, []string{"*"}) {
		c.standIn(out.To)
		c.standIn(out.Else)
	}
	return out, err
}

// standIn makes the model of a route that takes every name one for the names that
// its server does not have. A hosted service has every name there is: what leads
// all of them to one of its models means that one.
func (c clients) standIn(targets []gateway.Target) {
	for i := range targets {
		t := &targets[i]
		t.Own = t.Model != "" && !strings.HasPrefix(c.read.Backends[t.Name].URL, "https:")
	}
}

func (c clients) targets(specs []string, p serving.Policy) (out []gateway.Target, err error) {
	for _, spec := range specs {
		name, model, _ := strings.Cut(spec, "/")
		client, err := c.client(name, p)
		if err != nil {
			return nil, err
		}
		to := c.target(name, client)
		to.Model = model
		out = append(out, to)
	}
	return out, nil
}

// target is a backend with what the file says of another try.
func (c clients) target(name string, client *backend.Client) gateway.Target {
	b := c.read.Backends[name]
	t := gateway.Target{Name: name, Backend: client, Retries: b.Retries,
		Breaker: gateway.Breaker{Failures: b.Breaker.Failures, Pause: time.Duration(b.Breaker.Pause)}}
	if keys, err := b.Secrets(c.app.env); err == nil && len(keys) > 1 {
		for _, k := range keys {
			t.Keys = append(t.Keys, gateway.Key{Name: k.Name, Backend: client.WithKey(k.Key)})
		}
	}
	return t
}

// keyFrom says where the keys of a backend are.
func keyFrom(name string, b serving.Backend) string {
	switch {
	case b.KeyFile != "":
		return "the file " + b.KeyFile
	case b.KeyEnv != "":
		return "the variable " + b.KeyEnv
	case len(b.KeysEnv) > 0:
		return "one of the variables " + strings.Join(b.KeysEnv, ", ")
	}
	return "[backends." + name + "] has none: key_env, keys_env or key_file"
}

func (c clients) client(name string, p serving.Policy) (*backend.Client, error) {
	key := fmt.Sprintf("%s %+v", name, p)
	if c.by[key] != nil {
		return c.by[key], nil
	}
	b := c.read.Backends[name]
	secrets, err := b.Secrets(c.app.env)
	if err != nil && !c.flags.check {
		return nil, fmt.Errorf("[backends.%s]: %w", name, err)
	}
	first, idle := time.Duration(b.First), time.Duration(b.Idle)
	conf := backend.Config{
		Provider: b.Provider, URL: b.URL, APIKey: secrets[0].Key, NumCtx: b.NumCtx,
		Timeouts: backend.Timeouts{First: first, Idle: idle}, HTTP: signed(backend.HTTP(c.app.offline, 0), c.id),
		OnlyOffered: true, Literal: true, Parse: parse.Config{More: c.dialects()}, Compile: c.app.schemas.Compile,
		URLFrom: "url of [backends." + name + "]", KeyFrom: keyFrom(name, b),
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
	c.Parse.Policy = parse.Policy{Shown: p.Shown == "run", Repeated: p.Repeated == "run", Unknown: parse.TextUnknown}
	if p.Unknown == "call" {
		c.Parse.Policy.Unknown = parse.KeepUnknown
	}
	c.Parse.Repair = map[string]parse.Repair{"off": parse.Off, "aggressive": parse.Aggressive}[p.Repair]
	c.DropEmpty = p.DropEmpty
	tools := map[string]string{"native": "native", "prompted": "text", "none": "none"}[p.Tools]
	c.Formats = []format.Layer{{From: "[routes.policy]", Format: p.Format, Tools: tools, Text: p.Grammar}}
}

// printRoutes is bx serve --check.
func (s *server) printRoutes(c gateway.Config) error {
	if _, err := gateway.New(c); err != nil {
		return err
	}
	at, err := s.places()
	if err != nil {
		return err
	}
	fmt.Fprintf(s.app.out, "listen %s, clients %d\n", at.clients.address, len(c.Clients))
	if at.probes.address != "" {
		fmt.Fprintf(s.app.out, "probes %s\n", at.probes.address)
	}
	if at.ui.address != "" {
		fmt.Fprintf(s.app.out, "ui %s\n", at.ui.address)
	}
	if at.admin.address != "" {
		fmt.Fprintf(s.app.out, "admin %s\n", at.admin.address)
	}
	s.printCommon()
	if of := s.read.OIDC; of.Set() {
		var teams []string
		for _, t := range of.Teams {
			teams = append(teams, fmt.Sprintf("%q is team %s", t.Value, t.Team))
		}
		fmt.Fprintf(s.app.out, "oidc %s, audience %s, claim %s: %s\n", of.Issuer, of.Audience, of.Claim, strings.Join(teams, ", "))
	}
	for _, r := range c.Routes {
		match := cmp.Or(strings.Join(r.Match, ", "), "*")
		if r.Listed {
			match = "what it lists"
		}
		fmt.Fprintf(s.app.out, "%s → %s%s", match, words(r.To), chosen(r))
		if len(r.Else) > 0 {
			fmt.Fprintf(s.app.out, ", else %s", words(r.Else))
		}
		fmt.Fprintln(s.app.out)
	}
	if c.Absent != "" {
		fmt.Fprintf(s.app.out, "* → %s\n", c.Absent)
	}
	for _, name := range s.read.Names() {
		if keys := s.read.Backends[name].KeysEnv; len(keys) > 1 {
			fmt.Fprintf(s.app.out, "[backends.%s] has %d keys (%s); one that is refused or has asked for too much is left alone by itself\n", name, len(keys), strings.Join(keys, ", "))
		}
		if _, err := s.read.Backends[name].Secrets(s.app.env); err != nil { // the keys are where it serves
			s.view.Warn("[backends.%s]: %v: bx serve does not start without it", name, err)
		}
	}
	for _, shadow := range gateway.Shadowed(c.Routes) {
		s.view.Warn("%s", shadow)
	}
	return nil
}

// chosen says how one of a route's targets is chosen.
func chosen(r gateway.Route) string {
	if len(r.To) < 2 {
		return ""
	}
	how := map[gateway.Choose]string{gateway.LeastBusy: "the least busy for its weight", gateway.ByLatency: "the fastest to its first byte"}[r.Choose]
	return ", " + cmp.Or(how, "by weight") + "; a conversation stays with its own"
}

func words(targets []gateway.Target) string {
	var out []string
	for _, t := range targets {
		name := cmp.Or(t.Name, t.Backend.API())
		switch {
		case t.Own:
			name += " (what it lists), " + name + "/" + cmp.Or(t.Model, "its best") + " (other names)"
		case t.Model != "":
			name += "/" + t.Model
		}
		if t.Weight > 0 {
			name += fmt.Sprintf(" (%d)", t.Weight)
		}
		out = append(out, name)
	}
	return strings.Join(slices.Clip(out), " or ")
}
