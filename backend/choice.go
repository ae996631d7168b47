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
	key := choiceKey{a, asText}
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
}

func (c *Client) decide(model string, a *ability, asText string) format.Choice {
	layers := c.cfg.Formats
	if why := cmp.Or(asText, a.asText); why != "" {
		layers = append([]format.Layer{{Level: format.Call, From: why, Tools: "text", Results: "text"}}, layers...)
	}
	chosen, err := format.Choose(layers, format.Facts{Provider: c.cfg.Provider, Model: model, Native: a.tools, Unsaid: a.unsaid, Own: c.cfg.Parse.Grammars})
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
	for _, name := range chosen.Calls.Prefer {
		if !slices.Contains(p.Prefer, name) && !p.Only {
			p.Prefer = append(slices.Clone(p.Prefer), name)
		}
	}
	p.Only = p.Only || chosen.Calls.Only
	if g := chosen.Tools.Grammar; g != nil && !p.Only {
		p.Grammars = with(p.Grammars, g)
	}
	return p
}

// with is a list of grammars and one more; nil stands for the built-in ones.
func with(list []*grammar.Grammar, g *grammar.Grammar) []*grammar.Grammar {
	has := func(list []*grammar.Grammar) bool {
		return slices.ContainsFunc(list, func(h *grammar.Grammar) bool { return h.Name == g.Name })
	}
	switch {
	case list == nil && has(grammar.All()):
		return nil
	case list == nil:
		list = grammar.All()
	case has(list):
		return list
	}
	return append([]*grammar.Grammar{g}, list...)
}
