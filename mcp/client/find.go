package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// FindTools is the name of the tool that searches the tools of all servers.
const FindTools = "find_mcp_tools"

// findTool is offered where not all is.
func findTool(hidden int, silent []string, tier utp.Tier) utp.Tool {
	text := "Search the tools of the MCP servers by what they do, and get their whole descriptions. Those that are found can be called next."
	if hidden > 0 {
		text += fmt.Sprintf(" %d more are there than you are offered.", hidden)
	}
	if len(silent) > 0 {
		text += " Not asked yet: " + strings.Join(silent, ", ") + "."
	}
	return utp.Tool{Name: FindTools, Tier: tier, Description: text,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"Words for what the tool should do"}},"required":["query"]}`)}
}

const (
	maxFound = 8    // tools that a search names
	maxWhole = 4096 // bytes of a description there
)

// find answers a call of FindTools. It waits for servers that have not listed
// their tools yet.
func (p *Pool) find(ctx context.Context, c utp.Call) utp.Result {
	var args struct{ Query string }
	if err := json.Unmarshal(c.Args, &args); err != nil || strings.TrimSpace(args.Query) == "" {
		return utp.TextResult(c, utp.StatusFailed, "The query is missing: say what the tool should do.")
	}
	failed := p.ask(ctx)
	all, _ := p.choices()
	hits := rank(all, strings.Fields(strings.ToLower(args.Query)))
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d tools match", len(hits), len(all))
	if len(hits) > maxFound {
		fmt.Fprintf(&b, "; the first %d", maxFound)
		hits = hits[:maxFound]
	}
	b.WriteString("\n")
	for _, h := range hits {
		tools := schema.Compile([]utp.Tool{h.as})
		fmt.Fprintf(&b, "\n%s (tier %s)\n  %s\n", tools.Describe(h.as.Name), h.as.Tier, shortened(h.tool.Description, maxWhole))
		p.note(h.as.Name)
	}
	for _, text := range failed {
		b.WriteString("\n" + text)
	}
	return utp.TextResult(c, utp.StatusOK, b.String())
}

// ask starts the servers that have not listed their tools, and says which failed.
func (p *Pool) ask(ctx context.Context) (failed []string) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range p.servers {
		s.mu.Lock()
		knows := !s.known.At.IsZero()
		s.mu.Unlock()
		if knows {
			continue
		}
		wg.Go(func() {
			if _, err := s.get(ctx); err != nil {
				mu.Lock()
				failed = append(failed, fmt.Sprintf("The MCP server %s has no tools: %v", s.Name, err))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(failed)
	return failed
}

// note has a tool offered from now on.
func (p *Pool) note(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = append(slices.DeleteFunc(p.found, func(n string) bool { return n == name }), name)
	p.version++
}

// rank are the tools in which a word of a query stands, the best first.
func rank(all []choice, words []string) (hits []choice) {
	points := map[string]int{}
	for _, c := range all {
		name, text := strings.ToLower(c.as.Name), strings.ToLower(c.tool.Description)
		for _, w := range words {
			if strings.Contains(name, w) {
				points[c.as.Name] += 3
			}
			if strings.Contains(text, w) {
				points[c.as.Name]++
			}
		}
		if points[c.as.Name] > 0 {
			hits = append(hits, c)
		}
	}
	slices.SortStableFunc(hits, func(a, b choice) int { return cmp.Compare(points[b.as.Name], points[a.as.Name]) })
	return hits
}
