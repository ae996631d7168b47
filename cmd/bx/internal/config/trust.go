package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/unifiedtoolprotocol/utp"
)

// maxFaults is how many keys of a repository's file are passed over before the
// rest of it is.
const maxFaults = 20

// tolerate lays a repository's own file over c, without what it may not say and
// what is wrong in it. Each of that is a warning.
func (c *Config) tolerate(d document) {
	if c.users == nil {
		users := c.Agent
		c.users = &users
	}
	var any map[string]any
	if err := toml.Unmarshal(d.text, &any); err != nil {
		c.warn("%v; the file is not read", c.trial().decode(d, false))
		return
	}
	limits := c.limits()
	for range maxFaults {
		err := c.trial().apply(d, limits)
		if err == nil {
			_ = c.apply(d, limits) // as tried
			return
		}
		var e *Error
		if !errors.As(err, &e) || !d.drop(e) {
			c.warn("%v; the file is not read", err)
			return
		}
		c.warn("%v; it is left out", e)
	}
	c.warn("%s: more than %d mistakes; the file is not read", d.name, maxFaults)
}

// trial is a configuration to try a file on: it shares nothing with c that a file
// can change.
func (c *Config) trial() *Config {
	t := Defaults()
	t.Agent, t.Own = c.Agent, c.Own
	return t
}

// drop blanks the key or the table that an error points at, so that the places of
// all others stay. It reports whether there is one.
func (d *document) drop(e *Error) bool {
	keys := keysOf(d.text)
	for i, k := range keys {
		from, to := d.span(k, keys[i+1:])
		first, last := d.at(from, 0, ""), d.at(to, 0, "")
		if e.Line < first.Line || e.Line > last.Line || e.Line == first.Line && e.Column < first.Column || k.header() && e.Line != first.Line {
			continue
		}
		d.blank(from, to)
		return true
	}
	return false
}

// blank makes spaces of a part of the document.
func (d *document) blank(from, to int) {
	d.text = bytes.Clone(d.text)
	for i := from; i < to; i++ {
		if d.text[i] != '\n' {
			d.text[i] = ' '
		}
	}
}

// header reports whether k is a table's own line.
func (k key) header() bool { return k.table && k.value.len == 0 }

// span is where a key with its value, or a table with its keys, begins and ends.
func (d document) span(k key, behind []key) (from, to int) {
	from = k.offset
	if k.header() {
		from = bytes.LastIndexByte(d.text[:k.offset], '\n') + 1
	}
	for _, next := range behind {
		if k.header() && !next.header() || len(next.path) > len(k.path) && slices.Equal(next.path[:len(k.path)], k.path) && !next.header() {
			continue
		}
		return from, max(from, bytes.LastIndexByte(d.text[:next.offset], '\n'))
	}
	return from, len(d.text)
}

// limits are what a repository's own file may do, by what the user's files say.
type limits struct {
	agent    Agent
	profiles []string
	servers  []string // of MCP
}

func (c *Config) limits() *limits {
	l := &limits{agent: *c.users}
	for name := range c.Profiles {
		if !slices.Contains(c.theirs, name) {
			l.profiles = append(l.profiles, name)
		}
	}
	for name := range c.MCP {
		if !slices.Contains(c.theirServers, name) {
			l.servers = append(l.servers, name)
		}
	}
	return l
}

// check refuses a key that a repository's file may not set.
func (l *limits) check(c *Config, d document, k key) error {
	if l == nil {
		return nil
	}
	if why := l.why(c, k); why != "" {
		return d.at(k.offset, k.len, "%s: %s (to have it: put it into your own bx.toml, which bx status names, or trust this file with --config %s)", k, why, d.name)
	}
	return nil
}

const notTheirs = "not for a repository to set"

func (l *limits) why(c *Config, k key) string {
	path := k.path
	if path[0] == "rule" {
		return "" // takeRules looks at what they decide
	}
	if path[0] == "profiles" && len(path) > 1 {
		return l.profile(c, k)
	}
	if path[0] == "mcp_servers" {
		return l.server(k)
	}
	if k.table {
		return ""
	}
	if name, ok := strings.CutPrefix(k.String(), "tool_envelope."); ok {
		return c.Envelope.Unsafe(name)
	}
	switch k.String() {
	case "agent.default_tier":
		return above(c.Agent.DefaultTier, l.agent.DefaultTier)
	case "agent.max_tier":
		return above(c.Agent.MaxTier, l.agent.MaxTier)
	case "ollama.url":
		return elsewhere(c.Ollama.URL)
	case "openai.url":
		return elsewhere(c.OpenAI.URL)
	}
	if slices.Contains(harmless, k.String()) || path[0] == "tools" && harmlessForm(path[1:]) {
		return ""
	}
	return notTheirs
}

// harmless are the keys of LLMC that a repository may set: they send nothing
// elsewhere and let nothing run.
var harmless = strings.Fields(`agent.profile agent.provider agent.model agent.timeout agent.use_xml_tool_format
	ollama.timeout ollama.temperature ollama.num_ctx openai.model openai.timeout openai.temperature
	session.timeout_hours session.max_history_tokens`)

func (l *limits) profile(c *Config, k key) string {
	name := k.path[1]
	switch rest := k.path[2:]; {
	case slices.Contains(l.profiles, name):
		return "your own file has a profile of this name"
	case len(rest) == 0 || k.table:
		return ""
	case rest[0] == "url":
		return elsewhere(c.Profiles[name].URL)
	case rest[0] == "tools" && harmlessForm(rest[1:]):
		return ""
	case slices.Contains([]string{"provider", "model", "temperature", "timeout", "timeout_seconds", "num_ctx", "use_xml_tool_format"}, rest[0]):
		return ""
	}
	return notTheirs
}

// harmlessForm reports whether a key of [tools] is one that says in which form
// tools, calls and results go.
func harmlessForm(path []string) bool {
	return len(path) == 1 && slices.Contains([]string{"tool_format", "definition_format", "call_parser", "result_format"}, path[0])
}

func above(now, was utp.Tier) string {
	if now <= was {
		return ""
	}
	return fmt.Sprintf("%s is above your %s", now, was)
}

func elsewhere(u URL) string {
	if u.Loopback() {
		return ""
	}
	return fmt.Sprintf("%s is not on this machine", u)
}

// distrustChoices takes back what a repository's files chose by themselves and may
// not: a profile that nobody has, and a server on another machine that no file of
// the user's names.
func (c *Config) distrustChoices() {
	if at := c.chosen.at; at != nil && !c.chosen.trusted {
		name := c.Agent.Profile
		p, known := c.Profiles[name]
		switch {
		case !known:
			_, err := c.profile(name, "agent.profile")
			c.takeBack(at, err)
			c.Agent.Profile = c.users.Profile
		case slices.Contains(c.theirs, name) && p.URL == "" && p.Provider.away() && !(p.Provider == OpenAIProvider && c.OpenAI.URL != ""):
			c.takeBack(at, fmt.Errorf("profile %s asks %s, which is not on this machine: choose it yourself with --profile %s", name, p.Provider, name))
			c.Agent.Profile = c.users.Profile
		}
	}
	if at := c.provided.at; at != nil && !c.provided.trusted && c.Agent.Provider.away() && !(c.Agent.Provider == OpenAIProvider && c.OpenAI.URL != "") {
		c.takeBack(at, fmt.Errorf("%s is not on this machine: choose it yourself, in your own bx.toml or with a profile", c.Agent.Provider))
		c.Agent.Provider = c.users.Provider
	}
}

func (c *Config) takeBack(at *Error, why error) {
	at.Message = why.Error()
	if e, ok := errors.AsType[*Error](why); ok {
		at.Message = e.Message
	}
	c.warn("%v; it is left out", at)
}

// llmcs reports whether a key of llmc.toml is one of LLMC's that has no meaning
// here: bx computes what it would set.
func llmcs(path []string) bool {
	switch {
	case len(path) == 2 && path[0] == "agent":
		return path[1] == "context_budget" || path[1] == "response_reserve"
	case len(path) > 2 && path[0] == "profiles":
		return path[2] == "rag"
	}
	return false
}

// namesakes are tables of bx.toml alone: one of that name in llmc.toml is LLMC's.
var namesakes = []string{"telemetry", "stats", "prices"}

// withoutNamesakes leaves them out of an llmc.toml. telemetry = false counts in
// either file.
func (c *Config) withoutNamesakes(d document) document {
	if filepath.Base(d.name) != "llmc.toml" {
		return d
	}
	keys := keysOf(d.text)
	for i, k := range keys {
		if slices.Contains(namesakes, k.path[0]) && (k.header() || len(k.path) > 1) {
			d.blank(d.span(k, keys[i+1:]))
			c.ignore(d.name, k.path[0])
		}
	}
	return d
}

// noteLLMC says which keys of LLMC a document has that mean nothing here.
func (c *Config) noteLLMC(d document) {
	var keys []string
	if filepath.Base(d.name) != "llmc.toml" {
		return
	}
	for _, k := range keysOf(d.text) {
		if llmcs(k.path) && len(k.path) < 4 {
			keys = append(keys, fmt.Sprintf("%s (line %d)", k, d.at(k.offset, k.len, "").Line))
		}
	}
	if len(keys) > 0 {
		c.Ignored = append(c.Ignored, fmt.Sprintf("%s: keys of LLMC: %s", d.name, strings.Join(keys, ", ")))
	}
}
