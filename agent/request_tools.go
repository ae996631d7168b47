package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// requestTools is the name of the tool by which a model asks for a higher tier.
const requestTools = "request_tools"

// RequestTools is a tool by which a model asks the user for the tools of a
// higher tier. A Gate whose Ceiling is above its Tier offers it, where it is one
// of its Tools, and answers its calls itself after a question. It raises what is
// offered; each call of the tools offered then is judged as ever.
func RequestTools() utp.Tool {
	return utp.Tool{Name: requestTools, Tier: utp.TierCrawl, Confirm: true,
		Description: "Ask the user for tools that are not offered now: WALK reads files, RUN changes files and runs commands. Use it only where the question needs them, and say why.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"tier":{"type":"string","description":"The tier of the tools","enum":["WALK","RUN"]},` +
			`"reason":{"type":"string","description":"What they are needed for, for the user"}},` +
			`"required":["tier","reason"]}`)}
}

// RequestAliases are other names of RequestTools.
func RequestAliases() []schema.Alias {
	return []schema.Alias{{From: "request_tier", To: requestTools}}
}

// Wanted is the tier that a call of RequestTools asks for, and why; ok is false
// for every other call.
func Wanted(c utp.Call) (tier utp.Tier, reason string, ok bool) {
	var args struct{ Tier, Reason string }
	if c.Name != requestTools || json.Unmarshal(c.Args, &args) != nil {
		return 0, "", false
	}
	tier, err := utp.ParseTier(args.Tier)
	return tier, args.Reason, err == nil
}

// tooHigh refuses a wish that no yes can fulfil.
func (g *Gate) tooHigh(c utp.Call) *refusal {
	tier, _, ok := Wanted(c)
	if !ok || tier <= g.Ceiling {
		return nil
	}
	return &refusal{AboveTier, utp.StatusDenied, fmt.Sprintf("The tools of tier %s are not available: the user allows those up to %s", tier, g.Ceiling)}
}

// offers reports whether the tools that a call asks for are offered already.
func (g *Gate) offers(c utp.Call) bool {
	tier, _, ok := Wanted(c)
	return ok && tier <= g.Tier
}

// raise answers a call of RequestTools to which the user said yes.
func (g *Gate) raise(c utp.Call) utp.Result {
	tier, _, ok := Wanted(c)
	if !ok {
		return utp.TextResult(c, utp.StatusFailed, "no tier was named: want WALK or RUN")
	}
	had := g.offers(c)
	g.Tier = max(g.Tier, tier)
	var names []string
	for _, t := range g.Offered() {
		names = append(names, t.Name)
	}
	text := fmt.Sprintf("The tools of tier %s are offered now: %s", g.Tier, strings.Join(names, ", "))
	if had {
		text = "They were offered already: " + strings.Join(names, ", ")
	}
	return utp.TextResult(c, utp.StatusOK, text)
}
