package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Flags are the choices of the command line; empty means not given.
type Flags struct {
	Profile   string
	Model     string
	Tier      string
	MaxRounds int
	NoModel   bool   // answer by search alone
	Format    Format // of tools, calls and results
}

// Settings are the effective settings of one run.
type Settings struct {
	Profile     string
	ProfileWhy  string   // who chose Profile, for people
	Provider    Provider // what it speaks, a provider of package backend; "": look for a server on this machine
	Kind        Provider // as it was named: "deepseek" speaks what openai does
	URL         string
	Why         string // who chose Provider and URL, for people
	Model       string // "": ask the server
	ModelWhy    string // who chose Model, for people
	APIKey      string
	APIKeyEnv   string // the variable that APIKey comes from, if it does
	Temperature *float64
	Timeout     time.Duration
	NumCtx      int            // 0: the model's own window
	Formats     []format.Layer // how tools are offered, read and answered
	Dialects    Own            // that join the built-in ones
	Tier        utp.Tier       // offered at first
	MaxTier     utp.Tier       // offered at most
	MaxRounds   int
	Guides      *bool             // AGENTS.md and its like go along; nil: they do
	Presearch   *bool             // places for the question go along; nil: they do
	Extra       string            // added to the system prompt
	Templates   map[string]string // how a prompt offers a tool, by its name
	RunWords    []string          // that ask for tools of tier RUN; none: the built-in ones
	WalkWords   []string          // likewise, of tier WALK
	Session     Session
	Envelope    toolenvelope.Table
	Shell       Shell
	Servers     []Server // of MCP
	Rules       rule.Set
	Aliases     []schema.Alias
	Telemetry   bool // figures of what happens are kept on this machine
	Stats       Stats
	Prices      price.List

	habits   []habit
	adapters map[string]format.Adapter
}

// resolver lays the sources of one run over each other.
type resolver struct {
	*Config
	flags   Flags
	env     func(string) string
	profile Profile
	out     Settings
}

// Resolve lays the profile, the environment and the flags over the files.
// Its errors are of type *Error.
func (c *Config) Resolve(f Flags, env func(string) string) (Settings, error) {
	r := c.resolver(f, env)
	if err := r.resolve(); err != nil {
		return Settings{}, err
	}
	return r.out, nil
}

func (c *Config) resolver(f Flags, env func(string) string) *resolver {
	r := &resolver{Config: c, flags: f, env: env}
	r.out = Settings{Extra: string(c.Agent.Instructions), RunWords: c.Agent.RunWords, WalkWords: c.Agent.WalkWords,
		Session: c.Session, Telemetry: c.Telemetry == nil || *c.Telemetry, Stats: c.Stats, Prices: c.Prices, Envelope: c.Envelope, Shell: c.Shell, Servers: c.Servers(), Rules: c.Rules, Dialects: c.Own,
		MaxRounds: first(f.MaxRounds, int(c.Agent.MaxRounds)), Guides: c.Agent.Guides, Presearch: c.Agent.Presearch}
	r.out.Templates = map[string]string{}
	for name, t := range c.Templates {
		r.out.Templates[name] = string(t)
	}
	return r
}

func (r *resolver) resolve() error {
	for _, step := range []func() error{r.findProfile, r.chooseServer, r.chooseTiers, r.layFormats, r.layHabits} {
		if err := step(); err != nil {
			return err
		}
	}
	r.fill()
	return nil
}

func (r *resolver) findProfile() (err error) {
	name, from := r.flags.Profile, "--profile"
	if name == "" {
		name, from = r.env("BX_PROFILE"), "BX_PROFILE"
	}
	if name == "" {
		name, from = r.Agent.Profile, "agent.profile"
	}
	if name == "" {
		return nil
	}
	r.out.Profile, r.out.ProfileWhy = name, from
	r.profile, err = r.Config.profile(name, from)
	return err
}

// chooseServer goes by profile, OLLAMA_HOST or OPENAI_BASE_URL, then files.
func (r *resolver) chooseServer() error {
	p := r.profile
	ollama, openai := r.env("OLLAMA_HOST") != "", r.env("OPENAI_BASE_URL") != ""
	switch {
	case r.flags.NoModel:
		r.choose(SearchProvider, "--no-model")
	case p.Provider != "":
		r.choose(p.Provider, "profile "+r.out.Profile)
	case ollama && (!openai || r.Agent.Provider != OpenAIProvider):
		r.choose(OllamaProvider, "OLLAMA_HOST")
	case openai:
		r.choose(OpenAIProvider, "OPENAI_BASE_URL")
	case r.Agent.Provider != "":
		r.choose(r.Agent.Provider, "agent.provider")
	case r.Ollama.URL != "":
		r.choose(OllamaProvider, "ollama.url")
	case r.OpenAI.URL != "":
		r.choose(OpenAIProvider, "openai.url")
	}
	return r.chooseURL()
}

func (r *resolver) choose(p Provider, why string) {
	r.out.Kind, r.out.Provider, r.out.Why = p, p.API(), why
}

func (r *resolver) chooseURL() error {
	switch r.out.Kind {
	case "":
		if r.profile.URL != "" {
			return &Error{File: "profile " + r.out.Profile, Message: "it has a url but no provider: want provider = \"ollama\", \"openai\" or another"}
		}
		return nil
	case SearchProvider:
		return nil
	}
	err := r.address()
	r.out.URL = URL(r.out.URL).trim()
	return err
}

// ollamaHost reads OLLAMA_HOST as Ollama's own client does: scheme, host and
// port may each be missing, and 0.0.0.0 means this machine.
// Source: github.com/ollama/ollama envconfig.Host.
func ollamaHost(s string) (string, error) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(s), "://")
	if !ok {
		scheme, rest = "http", scheme
	}
	port := map[string]string{"http": "11434", "https": "443"}[scheme]
	rest, path, _ := strings.Cut(rest, "/")
	host, given, err := net.SplitHostPort(rest)
	switch {
	case err != nil:
		host = strings.Trim(rest, "[]")
	case given != "":
		port = given
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	u := URL((&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), Path: path}).String())
	if err := u.check(); err != nil {
		return "", &Error{File: "OLLAMA_HOST", Message: fmt.Sprintf("%q: want host, host:port or http://host:port", s), Err: err}
	}
	return string(u), nil
}

// chooseTiers: an explicit tier is both what is offered at first and the most.
func (r *resolver) chooseTiers() error {
	r.out.MaxTier = r.Agent.MaxTier
	r.out.Tier = min(r.Agent.DefaultTier, r.Agent.MaxTier)
	text, from := r.flags.Tier, "--tier"
	if text == "" {
		text, from = r.env("BX_TIER"), "BX_TIER"
	}
	if text == "" {
		return nil
	}
	tier, err := utp.ParseTier(text)
	if err != nil {
		return &Error{File: from, Message: err.Error(), Err: err}
	}
	r.out.Tier, r.out.MaxTier = tier, tier
	return nil
}

// fill takes each remaining value from the first source that has it.
func (r *resolver) fill() {
	p, model := r.profile, r.Agent.Model
	var file *float64
	var seconds Seconds
	switch r.out.Kind {
	case OpenAIProvider:
		file, seconds = r.OpenAI.Temperature, r.OpenAI.Timeout
		model = first(r.OpenAI.Model, model)
	case OllamaProvider, "":
		file, seconds = r.Ollama.Temperature, r.Ollama.Timeout
	}
	r.chooseModel(model)
	r.out.Temperature = first(p.Temperature, file)
	r.out.Timeout = first(p.Timeout, p.TimeoutSecs, seconds, r.Agent.Timeout).Duration()
	r.out.NumCtx = int(first(p.NumCtx, r.Ollama.NumCtx))
}

// chooseModel takes the model of a flag, the environment, the profile, or files.
func (r *resolver) chooseModel(file string) {
	for _, m := range []struct{ name, why string }{{r.flags.Model, "--model"}, {r.env("BX_MODEL"), "BX_MODEL"},
		{r.profile.Model, "profile " + r.out.Profile}, {file, "the configuration"}} {
		if m.name != "" {
			r.out.Model, r.out.ModelWhy = m.name, m.why
			return
		}
	}
}

// first is the first value that is not zero.
func first[T comparable](values ...T) (zero T) {
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}
