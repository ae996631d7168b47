package main

import (
	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
)

// offer is the tier of the tools that a question is offered. It rises for this
// question alone and lets nothing run: a call of tier RUN still asks.
func (j *job) offer(question string) agent.Offer {
	return j.servers.raise(question, agent.Raise(question, j.set.Tier, j.set.MaxTier, j.intents()), j.set.MaxTier)
}

// intents is the table of words, with those of the configuration in it.
func (j *job) intents() []agent.Intent {
	table := agent.Intents()
	own := map[utp.Tier][]string{utp.TierRun: j.set.RunWords, utp.TierWalk: j.set.WalkWords}
	for i := range table {
		if words := own[table[i].Tier]; len(words) > 0 {
			table[i].Words, table[i].Others = words, false
		}
	}
	return table
}
