package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Adapter is a table [adapters.NAME]: what a family of models needs beside its
// format, as format.Adapter.
type Adapter struct {
	NoSystem bool       `toml:"no_system"`
	Stops    []string   `toml:"stops"`
	Ends     []string   `toml:"ends"`
	Drop     [][]string `toml:"drop"`
	Noise    []string   `toml:"noise"`
	Tight    bool       `toml:"tight"`
}

// Alias is a table [aliases.NAME]: a name that models invent for the tool To.
// The name "*" stands for no name: its Args count for every tool.
type Alias struct {
	To       string            `toml:"to"`
	Defaults map[string]any    `toml:"defaults"`
	Args     map[string]string `toml:"args"`
}

// everyTool is the name of the alias whose arguments count for every tool.
const everyTool = "*"

// assistantPreset is the one preset of aliases there is.
const assistantPreset = "assistant"

// Habits are how a model is treated beside its format: keys of [tools],
// [profiles.NAME.tools] and [models."NAME"].
type Habits struct {
	Adapter   *format.Adapter // nil: the one for its name
	OneCall   bool            // one call in a reply
	Insist    *bool           // remind a model that answers without looking; nil: where the question is about the code
	Suggest   bool            // tell of a tool that an answer announces and does not call
	DropEmpty bool            // leave out optional arguments that are empty texts
	Said      []string        // what was set, and where: "[tools]: insist = true"
}

// habit is a table that says something of the models of a glob.
type habit struct {
	from  string // for people
	glob  string // "": of all
	tools Tools
}

// Habits lists what is set for a model.
func (s Settings) Habits(model string) (h Habits) {
	var adapter string
	var oneCall, suggest, dropEmpty *bool
	for _, l := range s.habits {
		if l.glob != "" && !grammar.Fits([]string{l.glob}, model) {
			continue
		}
		if adapter == "" && l.tools.Adapter != "" {
			adapter = l.tools.Adapter
			h.say(l.from, "adapter", adapter)
		}
		h.settle(l.from, "one_call", &oneCall, l.tools.OneCall)
		h.settle(l.from, "insist", &h.Insist, l.tools.Insist)
		h.settle(l.from, "suggest", &suggest, l.tools.Suggest)
		h.settle(l.from, "drop_empty", &dropEmpty, l.tools.DropEmpty)
	}
	if a, ok := s.adapters[adapter]; ok {
		h.Adapter = &a
	}
	is := func(set *bool) bool { return set != nil && *set }
	h.OneCall, h.Suggest, h.DropEmpty = is(oneCall), is(suggest), is(dropEmpty)
	return h
}

// settle takes a value that nobody has set so far.
func (h *Habits) settle(from, key string, now **bool, value *bool) {
	if *now == nil && value != nil {
		*now = value
		h.say(from, key, *value)
	}
}

func (h *Habits) say(from, key string, value any) {
	h.Said = append(h.Said, fmt.Sprintf("%s: %s = %v", from, key, value))
}

// layHabits collects what is said of habits, and the aliases.
func (r *resolver) layHabits() error {
	r.out.habits = append(r.out.habits, habit{"profile " + r.out.Profile, "", r.profile.Tools}, habit{"[tools]", "", r.Tools})
	for _, name := range slices.Sorted(maps.Keys(r.Models)) {
		r.out.habits = append(r.out.habits, habit{"[models." + name + "]", name, r.Models[name]})
	}
	r.out.adapters = r.adapters()
	var err error
	r.out.Aliases, err = r.aliases()
	return err
}

// adapters are the built-in ones and those of the files, which win.
func (c *Config) adapters() map[string]format.Adapter {
	out := map[string]format.Adapter{}
	for _, a := range format.Adapters() {
		for _, name := range append(a.Aliases, a.Name) {
			out[name] = a
		}
	}
	for name, a := range c.Adapters {
		b := format.Adapter{Name: name, NoSystem: a.NoSystem, Stops: a.Stops, Marks: grammar.Marks{Ends: a.Ends, Noise: a.Noise, Tight: a.Tight}}
		for _, pair := range a.Drop {
			b.Drop = append(b.Drop, grammar.Fence{Open: pair[0], Close: pair[1]})
		}
		out[name] = b
	}
	return out
}

// aliases are those of the files, in the order of their names, then the preset.
func (c *Config) aliases() (out []schema.Alias, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Aliases)) {
		a := c.Aliases[name]
		alias := schema.Alias{From: name, To: a.To, Args: a.Args}
		if name == everyTool {
			alias.From = ""
		}
		if len(a.Defaults) > 0 {
			if alias.Defaults, err = json.Marshal(a.Defaults); err != nil {
				return nil, &Error{File: "aliases." + name + ".defaults", Message: err.Error(), Err: err}
			}
		}
		out = append(out, alias)
	}
	if c.Agent.AliasPreset == assistantPreset {
		out = append(out, schema.Assistant()...)
	}
	return out, nil
}

// checkHabits refuses names that mean nothing.
func (c *Config) checkHabits() error {
	for _, name := range slices.Sorted(maps.Keys(c.Adapters)) {
		for _, pair := range c.Adapters[name].Drop {
			if len(pair) != 2 || pair[0] == "" || pair[1] == "" {
				return &Error{File: "adapters." + name + ".drop", Message: fmt.Sprintf("want pairs of marks, as [[\"[INST]\", \"[/INST]\"]], have %q", pair)}
			}
		}
	}
	known, named := c.adapters(), c.namedAdapters()
	for _, where := range slices.Sorted(maps.Keys(named)) {
		if _, ok := known[named[where]]; named[where] != "" && !ok {
			return &Error{File: where, Message: fmt.Sprintf("unknown adapter %q: want %s", named[where], either(slices.Sorted(maps.Keys(known))))}
		}
	}
	return c.checkAliases()
}

func (c *Config) checkAliases() error {
	for _, name := range slices.Sorted(maps.Keys(c.Aliases)) {
		if c.Aliases[name].To == "" && name != everyTool {
			return &Error{File: "aliases." + name, Message: `"to" is missing: name the tool that is meant`}
		}
	}
	if p := c.Agent.AliasPreset; p != "" && p != assistantPreset {
		return &Error{File: "agent.alias_preset", Message: fmt.Sprintf("unknown preset %q: want %s", p, assistantPreset)}
	}
	return nil
}

// namedAdapters lists the values of all keys adapter.
func (c *Config) namedAdapters() map[string]string {
	out := map[string]string{"tools.adapter": c.Tools.Adapter}
	for name, p := range c.Profiles {
		out["profiles."+name+".tools.adapter"] = p.Tools.Adapter
	}
	for name, t := range c.Models {
		out["models."+name+".adapter"] = t.Adapter
	}
	for name, t := range c.Teams {
		out["teams."+name+".tools.adapter"] = t.Tools.Adapter
	}
	return out
}
