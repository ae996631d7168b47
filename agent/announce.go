package agent

import "github.com/unifiedtoolprotocol/utp/schema"

// suggest tells of a tool that the answer announces.
func (t *turn) suggest(rep reply) {
	if !t.Suggest || len(rep.calls) > 0 || rep.broken() {
		return
	}
	if tool, sentence, ok := schema.Announces(t.answer.Text, t.Gate.Offered()); ok {
		t.emit(Event{Kind: Suggestion, Tool: &tool, Text: sentence})
	}
}
