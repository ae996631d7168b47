package client

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// maxOffered is how many tokens the tools of all servers may take of a prompt.
const maxOffered = 8000

// choice is a tool that can be offered.
type choice struct {
	offer
	as     utp.Tool
	tokens int
	cut    bool // a part of the description is left out
}

// Version is another one when what Tools lists may have changed.
func (p *Pool) Version() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

// Tools lists the tools as a model is offered them, by server. Of a long list some
// are left out: these are found through the tool FindTools, and offered from then on.
func (p *Pool) Tools() (tools []utp.Tool) {
	p.mu.Lock()
	found := slices.Clone(p.found)
	p.mu.Unlock()
	all, silent := p.choices()
	kept := fitting(all, found)
	least := p.lowest(all, silent)
	offered := map[string]offer{}
	short := false
	for _, c := range kept {
		offered[c.as.Name] = c.offer
		tools = append(tools, c.as)
		short = short || c.cut
	}
	if hidden := len(all) - len(kept); hidden > 0 || short || len(silent) > 0 {
		tools = append(tools, findTool(hidden, silent, least))
	}
	p.mu.Lock()
	p.offered = offered
	p.mu.Unlock()
	return tools
}

// lowest is the tier of the search: that of a tool that there is or may be, and no
// higher than that of other searches.
func (p *Pool) lowest(all []choice, silent []string) utp.Tier {
	least := utp.TierWalk
	for _, c := range all {
		least = min(least, c.as.Tier)
	}
	for _, s := range p.servers {
		if slices.Contains(silent, s.Name) {
			least = min(least, s.lowest())
		}
	}
	return least
}

// Names lists the tools that are offered.
func (p *Pool) Names() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.offered {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Said is what the servers say of the tools that are offered: a call in it was
// made by nobody.
func (p *Pool) Said() (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.offered {
		var schema any
		said := []string{o.tool.Description}
		if json.Unmarshal(o.tool.Schema, &schema) == nil {
			said = words(said, schema)
		}
		for _, text := range said {
			texts = append(texts, text, clean(text))
		}
	}
	slices.Sort(texts)
	return slices.DeleteFunc(slices.Compact(texts), func(s string) bool { return s == "" })
}

// words adds the texts of a value.
func words(texts []string, v any) []string {
	switch v := v.(type) {
	case string:
		texts = append(texts, v)
	case []any:
		for _, e := range v {
			texts = words(texts, e)
		}
	case map[string]any:
		for key, e := range v {
			texts = words(append(texts, key), e)
		}
	}
	return texts
}

// choices are all tools that can be offered, and the servers that have not listed
// theirs yet. What cannot be offered is told to the user.
func (p *Pool) choices() (all []choice, silent []string) {
	for _, s := range p.servers {
		s.mu.Lock()
		tools, at := s.known.Tools, s.known.At
		s.mu.Unlock()
		if at.IsZero() {
			silent = append(silent, s.Name)
		}
		for _, t := range tools {
			if len(s.Only) > 0 && !slices.Contains(s.Only, t.Name) {
				continue
			}
			c, err := s.choice(t)
			if err != nil {
				p.warn("the tool %q of the MCP server %s is not offered: %v", line(t.Name), s.Name, err)
				continue
			}
			all = append(all, c)
		}
	}
	return p.unlike(all), silent
}

// unlike drops tools of the same name, all of them: none may pass for another.
func (p *Pool) unlike(all []choice) []choice {
	times := map[string]int{}
	for _, c := range all {
		times[c.as.Name]++
	}
	return slices.DeleteFunc(all, func(c choice) bool {
		if times[c.as.Name] == 1 {
			return false
		}
		p.warn("the tool %q of the MCP server %s is not offered: another one would have its name here, %s", line(c.tool.Name), c.server.Name, c.as.Name)
		return true
	})
}

// choice is a tool of the server as a model gets it.
func (s *server) choice(t listed) (choice, error) {
	schema, err := schemaOf(t.Schema)
	if err != nil {
		return choice{}, err
	}
	c := choice{offer: offer{s, t}, as: utp.Tool{Name: ToolName(s.Name, t.Name), Schema: schema, Tier: s.tier(t.Name)}}
	c.as.Description = shortened(t.Description, maxDescription)
	c.cut = len(clean(t.Description)) > maxDescription
	c.tokens = (&utp.Request{Tools: []utp.Tool{c.as}}).Tokens()
	return c, nil
}

// fitting are the tools for which there is room: first those that were found, then
// of each server its share, the rest of which goes to those with more.
func fitting(all []choice, found []string) []choice {
	room := maxOffered
	kept := map[string]bool{}
	take := func(c choice, share *int) {
		if kept[c.as.Name] || c.tokens > room || c.tokens > *share {
			return
		}
		kept[c.as.Name] = true
		room -= c.tokens
		if share != &room {
			*share -= c.tokens
		}
	}
	for _, name := range slices.Backward(found) {
		for _, c := range all {
			if c.as.Name == name {
				take(c, &room)
			}
		}
	}
	servers := byCost(all)
	for i, of := range servers {
		share := room / (len(servers) - i)
		for _, c := range of {
			take(c, &share)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c choice) bool { return !kept[c.as.Name] })
}

// byCost groups tools by server, the cheapest list first.
func byCost(all []choice) (out [][]choice) {
	for _, c := range all {
		i := slices.IndexFunc(out, func(of []choice) bool { return of[0].server == c.server })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], c)
	}
	cost := func(of []choice) (n int) {
		for _, c := range of {
			n += c.tokens
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b []choice) int {
		return cmp.Or(cmp.Compare(cost(a), cost(b)), strings.Compare(a[0].server.Name, b[0].server.Name))
	})
	return out
}
