package backend

import (
	"cmp"
	"context"
	"slices"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// Choice is the form in which a model is told of tools, is read and is
// answered, by what is set and by what the server says of it.
func (c *Client) Choice(ctx context.Context, model string) format.Choice {
	return c.choose(model, c.ability(ctx, model), c.heeded(model).asText())
}

// choose takes a model's ability, and why it gets its tools in the prompt whatever
// else is set, if it does. It is the same for every request of a model that the
// client knows.
func (c *Client) choose(model string, a *ability, asText string) format.Choice {
	key := choiceKey{a, asText, c.form}
	c.mu.Lock()
	made, ok := c.choices[key]
	known := c.models[model] == a
	c.mu.Unlock()
	if ok {
		return made
	}
	made = c.decide(model, a, asText)
	if known {
		c.mu.Lock()
		c.choices[key] = made
		c.mu.Unlock()
	}
	return made
}

type choiceKey struct {
	of     *ability
	asText string
	form   string
}

func (c *Client) decide(model string, a *ability, asText string) format.Choice {
	facts := format.Facts{Provider: cmp.Or(c.cfg.Kind, c.cfg.Provider), Model: model, Native: a.tools, Unsaid: a.unsaid, Own: slices.Concat(c.cfg.Parse.More, c.cfg.Parse.Grammars)}
	var forced []format.Layer
	if why := cmp.Or(asText, a.asText); why != "" {
		forced = append(forced, format.Layer{Level: format.Call, From: why, Tools: "text", Results: "text"})
	}
	if c.form != "" {
		own := format.Layer{Level: format.Call, From: format.Learned, Format: c.form}
		if chosen, err := format.Choose(slices.Concat(forced, []format.Layer{own}, c.cfg.Formats), facts); err == nil {
			return chosen // else the form is a dialect that is gone
		}
	}
	layers := slices.Concat(forced, c.cfg.Formats)
	chosen, err := format.Choose(layers, facts)
	if err != nil {
		panic(err) // New has checked the words
	}
	return chosen
}

// caution warns of something once.
func (c *Client) caution(text string) {
	c.mu.Lock()
	known := c.cautioned[text]
	c.cautioned[text] = true
	c.mu.Unlock()
	if !known {
		c.warn("%s", text)
	}
}

// ranked is how text is read by what was chosen.
func ranked(p parse.Config, chosen format.Choice) parse.Config {
	if chosen.Calls.Only {
		p.Grammars, p.More = only(p, chosen.Calls.Prefer), nil
	}
	for _, name := range chosen.Calls.Prefer {
		if !slices.Contains(p.Prefer, name) {
			p.Prefer = append(slices.Clone(p.Prefer), name)
		}
	}
	if g := chosen.Tools.Grammar; g != nil && !chosen.Calls.Only && !reads(p, g) {
		p.More = append(slices.Clone(p.More), g)
	}
	return p
}

// only lists the dialects of p that go by one of the names.
func only(p parse.Config, names []string) []*grammar.Grammar {
	list := p.Grammars
	if list == nil {
		list = grammar.All()
	}
	return slices.DeleteFunc(slices.Concat(p.More, list), func(g *grammar.Grammar) bool { return !slices.ContainsFunc(names, g.GoesBy) })
}

// reads reports whether calls in g are read by p.
func reads(p parse.Config, g *grammar.Grammar) bool {
	list := p.Grammars
	if list == nil {
		list = grammar.All()
	}
	return slices.ContainsFunc(slices.Concat(p.More, list), func(h *grammar.Grammar) bool { return h.Name == g.Name })
}
